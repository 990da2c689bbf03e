#include "verify/launch/file/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "verify/launch/launch.h"
#include "verify/schema/choices.h"

namespace bitwell::launch {

using machine::InputError;

uint64_t element_size(const std::string& dtype) {
  const auto& known = schema::kElementTypes;
  if (std::find(known.begin(), known.end(), dtype) == known.end()) {
    std::string all;
    for (const std::string_view name : known) all += (all.empty() ? "" : ", ") + std::string(name);
    throw InputError("dtype '" + dtype + "' is not one of " + all);
  }
  return static_cast<uint64_t>(dtype[1] - '0');
}

Array read_npy(const std::string& path) {
  const std::string text = read_file(path, kMostBuffer);
  const auto refuse = [&](const std::string& why) {
    throw InputError("'" + path + "' is not an .npy file that can be used: " + why);
  };
  if (text.size() < 10 || text.compare(0, 6, "\x93NUMPY") != 0) refuse("no NumPy magic at its start");
  const bool long_header = text[6] != 1;
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, long_header ? 4 : 2);
  const size_t start = long_header ? 12 : 10;
  if (text.size() < start) refuse("it is cut off in its header");
  if (text.size() < start + length) refuse("it is cut off in its header");
  const std::string header = text.substr(start, length);
  Array out;
  const size_t descr = header.find("'descr':");
  const size_t quote = header.find('\'', descr == std::string::npos ? descr : descr + 8);
  if (quote == std::string::npos || header.size() < quote + 5) refuse("no 'descr'");
  if (header[quote + 1] == '>') refuse("big endian");
  out.dtype = header.substr(quote + 2, header.find('\'', quote + 1) - quote - 2);
  if (header.find("'fortran_order': False") == std::string::npos) refuse("Fortran order");
  const size_t open = header.find('(');
  const size_t close = header.find(')');
  if (open == std::string::npos || close == std::string::npos) refuse("no 'shape'");
  const std::string shape = header.substr(open + 1, close - open - 1);
  uint64_t bytes = 0;
  try {
    bytes = element_size(out.dtype);
  } catch (const InputError& e) {
    refuse(e.what());
  }
  for (const char* at = shape.data(); at != shape.data() + shape.size();) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    uint64_t n = 0;
    const auto [next, error] = std::from_chars(at, shape.data() + shape.size(), n);
    if (error != std::errc() || (n != 0 && bytes > (uint64_t{1} << 48) / n))
      refuse("its shape (" + shape + ")");
    out.shape.push_back(n);
    bytes *= n;
    at = next;
  }
  if (text.size() - start - length != bytes)
    refuse("its shape wants " + std::to_string(bytes) + " bytes of data, it has " +
           std::to_string(text.size() - start - length));
  out.bytes.resize(bytes);
  if (bytes != 0) std::memcpy(out.bytes.data(), text.data() + start + length, bytes);
  return out;
}

std::string npy_text(const Array& array) {
  std::string shape;
  for (const uint64_t n : array.shape) shape += std::to_string(n) + ",";
  std::string header = "{'descr': '" + std::string(array.dtype[1] == '1' ? "|" : "<") + array.dtype +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return out;
}

}  // namespace bitwell::launch
