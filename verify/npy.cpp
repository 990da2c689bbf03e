#include "verify/npy.h"

#include <cstring>

#include "verify/launch.h"

namespace bitwell::verify {

using machine::InputError;

uint64_t element_size(const std::string& dtype) {
  const bool known = dtype.size() == 2 && std::string_view("biuf").find(dtype[0]) != std::string_view::npos &&
                     std::string_view("1248").find(dtype[1]) != std::string_view::npos;
  if (!known)
    throw InputError("dtype '" + dtype + "' is not one of b1, u1, i1, u2, i2, f2, u4, i4, f4, u8, i8, f8");
  return static_cast<uint64_t>(dtype[1] - '0');
}

Array read_npy(const std::string& path) {
  const std::string text = read_file(path);
  const auto refuse = [&](const std::string& why) {
    throw InputError("'" + path + "' is not an .npy file that can be used: " + why);
  };
  if (text.size() < 10 || text.compare(0, 6, "\x93NUMPY") != 0) refuse("no NumPy magic at its start");
  const bool long_header = text[6] != 1;
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, long_header ? 4 : 2);
  const size_t start = long_header ? 12 : 10;
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
  uint64_t count = 1;
  for (size_t at = open + 1; at < close;) {
    if (header[at] < '0' || header[at] > '9') {
      ++at;
      continue;
    }
    uint64_t n = 0;
    while (header[at] >= '0' && header[at] <= '9') n = 10 * n + static_cast<uint64_t>(header[at++] - '0');
    out.shape.push_back(n);
    count *= n;
  }
  const uint64_t bytes = count * element_size(out.dtype);
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

}  // namespace bitwell::verify
