// What an argument, or a part of a structure or of a buffer, may be.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <span>

#include "model/machine/tensor_map_bytes.h"
#include "model/number/arithmetic.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "verify/launch/launch_reader.h"

namespace bitwell::verify {
namespace {

constexpr uint64_t kMostStructure = uint64_t{1} << 16;  // bytes: parameters have fewer

std::vector<std::byte> bytes_of(uint64_t value, size_t size) {
  std::vector<std::byte> out(size);
  std::memcpy(out.data(), &value, size);
  return out;
}

}  // namespace

void LaunchReader::argument(const json& j, const std::string& where, std::vector<Argument>& to) {
  if (!j.is_object()) refuse(where + " must be an object");
  for (const char* key : {"tensor_map", "texture", "surface", "pointer", "type", "bytes", "struct"})
    if (j.contains(key)) {
      Bytes b = piece(j, where);
      to.push_back({std::move(b.bytes), 0, {}, std::move(b.pointers)});
      return;
    }
  to.push_back({{}, buffer(j, where)});
}

LaunchReader::Bytes LaunchReader::piece(const json& j, const std::string& where) {
  if (!j.is_object()) refuse(where + " must be an object");
  if (j.contains("tensor_map")) {
    const size_t over = known_buffer(text(j, "tensor_map", where), where);
    return {std::vector<std::byte>(sizeof(machine::TensorMapBytes)),
            {{0, over, 0, tensor_map(j, over, where)}}};
  }
  if (j.contains("texture") || j.contains("surface")) return image(j, where);
  if (j.contains("pointer")) {
    allow(j, {"pointer", "offset"}, where);
    const size_t to = known_buffer(text(j, "pointer", where), where);
    const uint64_t offset = j.contains("offset") ? whole_below(j.at("offset"), where + ": 'offset'", 46) : 0;
    return {std::vector<std::byte>(8), {{0, to, offset}}};
  }
  if (j.contains("type")) return {scalar(j, where), {}};
  if (j.contains("bytes")) {
    allow(j, {"bytes"}, where);
    return {raw(j, where), {}};
  }
  if (j.contains("struct")) return structure(j, where);
  refuse(where + " needs one of type, pointer, tensor_map, texture, surface, bytes, struct");
}

LaunchReader::Bytes LaunchReader::structure(const json& j, const std::string& where) {
  allow(j, {"struct", "size"}, where);
  Bytes out;
  if (j.contains("size")) {
    const uint64_t size = whole_below(j.at("size"), where + ": 'size'", 32);
    if (size > kMostStructure)
      refuse(where + ": 'size' is " + std::to_string(size) + ", the most is " +
             std::to_string(kMostStructure));
    out.bytes.resize(size);
  }
  fields(list(j, "struct"), where, !j.contains("size"), out);
  if (out.bytes.empty()) refuse(where + ": the struct is empty");
  return out;
}

void LaunchReader::fields(const json& pieces, const std::string& where, bool may_grow, Bytes& to) {
  std::map<uint64_t, std::pair<uint64_t, size_t>>
      taken;  // bytes by their end: their begin, and whose they are
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string part = where + ", field " + std::to_string(i);
    json one = pieces[i];
    if (!one.is_object() || !one.contains("at")) refuse(part + " has no 'at', its offset in bytes");
    const uint64_t at = whole_below(one.at("at"), part + ": 'at'", 46);
    one.erase("at");
    Bytes b = piece(one, part);
    const uint64_t end = at + b.bytes.size();
    if (may_grow && end > to.bytes.size() && end <= kMostStructure) to.bytes.resize(end);
    if (end > to.bytes.size())
      refuse(part + ": bytes " + std::to_string(at) + " to " + std::to_string(end - 1) + " are beyond the " +
             std::to_string(may_grow ? kMostStructure : to.bytes.size()) + " that there are");
    if (const auto next = taken.upper_bound(at); next != taken.end() && next->second.first < end)
      refuse(part + ": its bytes " + std::to_string(at) + " to " + std::to_string(end - 1) +
             " overlap those of field " + std::to_string(next->second.second));
    taken.emplace(end, std::pair{at, i});
    std::copy(b.bytes.begin(), b.bytes.end(), to.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    for (Pointer& p : b.pointers) {
      p.at += at;
      to.pointers.push_back(std::move(p));
    }
  }
}

std::vector<std::byte> LaunchReader::raw(const json& j, const std::string& where) const {
  const std::string digits = text(j, "bytes", where);
  std::vector<std::byte> out;
  const auto digit = [&](char c) {
    constexpr std::string_view all = "0123456789abcdef";
    const size_t at = all.find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
    if (at == std::string_view::npos)
      refuse(where + ": 'bytes' must be pairs of hexadecimal digits, the byte at the lowest address first");
    return at;
  };
  if (digits.empty() || digits.size() % 2 != 0) digit('?');
  for (size_t i = 0; i < digits.size(); i += 2)
    out.push_back(static_cast<std::byte>(digit(digits[i]) << 4 | digit(digits[i + 1])));
  return out;
}

// The buffer that an earlier argument or 'buffers' names.
size_t LaunchReader::known_buffer(const std::string& name, const std::string& where) const {
  size_t at = 0;
  while (at < file_.launch.buffers.size() && file_.launch.buffers[at].name != name) ++at;
  if (at == file_.launch.buffers.size())
    refuse(where + ": no buffer '" + name +
           "' stands before it; buffers that are no arguments go into 'buffers'");
  return at;
}

// The 128 bytes that a driver made, or verify/driver/bitwell/tensor_map.h. Their address is the program's
// that asked for them: here the map starts at the buffer.
machine::TensorMap LaunchReader::encoded_map(const json& j, const std::string& where) {
  allow(j, {"tensor_map", "offset", "encoded", "bytes"}, where);
  if (j.contains("encoded") && j.contains("bytes")) refuse(where + " has both 'encoded' and 'bytes'");
  const std::string from = j.contains("bytes") ? "bytes" : input(text(j, "encoded", where));
  std::vector<std::byte> bytes;
  if (j.contains("bytes")) {
    bytes = raw(j, where);
  } else {
    const std::string content = placed(where, [&] { return read_file(from); });
    const auto view = std::as_bytes(std::span(content));
    bytes.assign(view.begin(), view.end());
  }
  constexpr size_t kSize = sizeof(machine::TensorMapBytes);
  if (bytes.size() != kSize)
    refuse(where + ": '" + from + "' has " + std::to_string(bytes.size()) +
           " bytes, a tensor map has 128, as cuTensorMapEncodeTiled writes them");
  return placed(where + ": '" + from + "'",
                [&] { return machine::decode_tensor_map(std::span(bytes).first<kSize>()); });
}

machine::TensorMap LaunchReader::tensor_map(const json& j, size_t over, const std::string& where) {
  if (j.contains("encoded") || j.contains("bytes")) {
    machine::TensorMap m = encoded_map(j, where);
    m.address = j.contains("offset") ? whole_below(j.at("offset"), where + ": 'offset'", 64) : 0;
    placed(where + ", over '" + file_.launch.buffers[over].name + "'", [&] { machine::check(m); });
    return m;
  }
  allow(j,
        {"tensor_map", "offset", "type", "dims", "strides", "box", "element_strides", "swizzle", "fill",
         "l2_promotion"},
        where);
  machine::TensorMap m;
  if (j.contains("offset")) m.address = whole_below(j.at("offset"), where + ": 'offset'", 64);
  m.type = static_cast<machine::TensorType>(named(machine::kTensorTypes, text(j, "type", where), where));
  m.swizzle = static_cast<machine::TensorSwizzle>(
      named(machine::kTensorSwizzles, text(j, "swizzle", where, "none"), where));
  const std::string fill = text(j, "fill", where, "zero");
  if (fill != "zero" && fill != "nan") refuse(where + ": fill '" + fill + "' is not one of zero, nan");
  m.fill_nan = fill == "nan";
  m.promotion = static_cast<machine::L2Promotion>(
      named(machine::kL2Promotions, text(j, "l2_promotion", where, "256b"), where));
  const auto numbers = [&](const char* key, size_t count) {
    if (!j.contains(key)) refuse(where + " has no '" + std::string(key) + "'");
    if (!j.at(key).is_array()) refuse(where + ": '" + std::string(key) + "' must be a list of whole numbers");
    std::vector<uint64_t> values;
    for (const json& v : j.at(key)) values.push_back(whole_below(v, where + ": '" + key + "'", 64));
    if (values.size() != count)
      refuse(where + ": '" + key + "' has " + std::to_string(values.size()) + " values, " +
             std::to_string(count) + " are needed");
    return values;
  };
  if (!j.contains("dims") || !j.at("dims").is_array() || j.at("dims").empty() || j.at("dims").size() > 5)
    refuse(where + ": 'dims' must be one to five whole numbers, innermost first");
  m.rank = static_cast<uint32_t>(j.at("dims").size());
  const auto dims = numbers("dims", m.rank);
  const auto box = numbers("box", m.rank);
  const auto strides = m.rank > 1 ? numbers("strides", m.rank - 1) : std::vector<uint64_t>{};
  const auto steps =
      j.contains("element_strides") ? numbers("element_strides", m.rank) : std::vector<uint64_t>(m.rank, 1);
  for (size_t d = 0; d < m.rank; ++d) {
    m.dims[d] = dims[d];
    m.box[d] = static_cast<uint32_t>(std::min<uint64_t>(box[d], UINT32_MAX));
    m.element_strides[d] = static_cast<uint32_t>(std::min<uint64_t>(steps[d], UINT32_MAX));
    if (d > 0) m.strides[d] = strides[d - 1];
  }
  placed(where + ", over '" + file_.launch.buffers[over].name + "'", [&] { machine::check(m); });
  return m;
}

std::vector<std::byte> LaunchReader::scalar(const json& j, const std::string& where) const {
  allow(j, {"type", "value"}, where);
  const std::string type = text(j, "type", where);
  if (!j.contains("value")) refuse(where + " has no 'value'");
  const json& v = j.at("value");
  const bool whole = v.is_number_integer() || v.is_number_unsigned();
  const number::Format* format = number::find_format(type);
  if (format != nullptr && (type == "f16" || type == "bf16" || type == "f32" || type == "f64")) {
    if (!v.is_number()) refuse(where + ": " + shown(v) + " is no value of type " + type);
    const auto bits = std::bit_cast<uint64_t>(v.get<double>());
    const uint64_t code =
        number::encode(*format, number::round(*format, number::decode(number::f64, bits),
                                              number::Rounding::nearest_even, number::Overflow::ieee));
    return bytes_of(code, static_cast<size_t>(format->bits) / 8);
  }
  for (const int bits : {8, 16, 32, 64})
    for (const char kind : {'u', 's', 'b'})
      if (type == kind + std::to_string(bits)) {
        if (!whole) refuse(where + ": a value of type " + type + " must be a whole number");
        const int below = kind == 's' ? bits - 1 : bits;
        const bool fits = v.is_number_unsigned() ? below == 64 || v.get<uint64_t>() >> below == 0
                                                 : kind == 's' && v.get<int64_t>() >> below == -1;
        if (!fits) refuse(where + ": " + shown(v) + " does not fit " + type);
        return bytes_of(v.is_number_unsigned() ? v.get<uint64_t>() : static_cast<uint64_t>(v.get<int64_t>()),
                        static_cast<size_t>(bits) / 8);
      }
  refuse(where + ": type '" + type + "' is not one of u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32, f64");
}

}  // namespace bitwell::verify
