// What an argument, or a part of a structure or of a buffer, may be.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <span>

#include "model/machine/tensor/tensor_map_bytes.h"
#include "model/number/arithmetic.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "verify/launch/file/launch_reader.h"

namespace bitwell::launch {
namespace {

constexpr uint64_t kMostStructure = uint64_t{1} << 16;  // bytes: parameters have fewer

std::vector<std::byte> bytes_of(uint64_t value, size_t size) {
  std::vector<std::byte> out(size);
  std::memcpy(out.data(), &value, size);
  return out;
}

std::vector<std::byte> from_digits(const std::string& digits) {
  std::vector<std::byte> out;
  for (size_t i = 0; i < digits.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  return out;
}

std::vector<std::byte> scalar(const Fields<Of::scalar>& f) {
  const std::string type = f.text("type");
  const json& v = f.raw("value");
  const number::Format* format = number::find_format(type);
  if (format != nullptr) {
    const auto bits = std::bit_cast<uint64_t>(v.get<double>());
    const uint64_t code =
        number::encode(*format, number::round(*format, number::decode(number::f64, bits),
                                              number::Rounding::nearest_even, number::Overflow::ieee));
    return bytes_of(code, static_cast<size_t>(format->bits) / 8);
  }
  if (!v.is_number_integer()) f.refuse("a value of type " + type + " must be a whole number");
  const int bits = std::stoi(type.substr(1));
  const int below = type[0] == 's' ? bits - 1 : bits;
  const bool fits = v.is_number_unsigned() ? below == 64 || v.get<uint64_t>() >> below == 0
                                           : type[0] == 's' && v.get<int64_t>() >> below == -1;
  if (!fits) f.refuse(schema::shown(v) + " does not fit " + type);
  return bytes_of(v.is_number_unsigned() ? v.get<uint64_t>() : static_cast<uint64_t>(v.get<int64_t>()),
                  static_cast<size_t>(bits) / 8);
}

}  // namespace

void LaunchReader::argument(const json& j, const std::string& where, std::vector<Argument>& to) {
  const Of what = schema::which(j, Of::argument, where);
  if (what == Of::buffer) {
    to.push_back({{}, buffer(j, where)});
    return;
  }
  Bytes b = piece(j, what, where);
  to.push_back({std::move(b.bytes), 0, {}, std::move(b.pointers)});
}

LaunchReader::Bytes LaunchReader::piece(const json& j, Of what, const std::string& where) {
  switch (what) {
    case Of::tensor_map: {
      const Fields<Of::tensor_map> f(j, where);
      return with_map(f.text("tensor_map"), tensor_map(f), where);
    }
    case Of::encoded_map: {
      const Fields<Of::encoded_map> f(j, where);
      return with_map(f.text("tensor_map"), encoded_map(f), where);
    }
    case Of::texture_handle: return image(Fields<Of::texture_handle>(j, where).text("texture"), false, where);
    case Of::surface_handle: return image(Fields<Of::surface_handle>(j, where).text("surface"), true, where);
    case Of::pointer: {
      const Fields<Of::pointer> f(j, where);
      return {std::vector<std::byte>(8), {{0, known_buffer(f.text("pointer"), where), f.whole("offset")}}};
    }
    case Of::scalar: return {scalar(Fields<Of::scalar>(j, where)), {}};
    case Of::raw: return {from_digits(Fields<Of::raw>(j, where).text("bytes")), {}};
    default: return structure(Fields<Of::structure>(j, where));
  }
}

LaunchReader::Bytes LaunchReader::structure(const Fields<Of::structure>& f) {
  Bytes out;
  if (f.has("size")) {
    const uint64_t size = f.whole("size");
    if (size > kMostStructure)
      f.refuse("'size' is " + std::to_string(size) + ", the most is " + std::to_string(kMostStructure));
    out.bytes.resize(size);
  }
  fields(f.objects("struct"), f.where(), !f.has("size"), out);
  if (out.bytes.empty()) f.refuse("the struct is empty");
  return out;
}

void LaunchReader::fields(const std::vector<json>& pieces, const std::string& where, bool may_grow,
                          Bytes& to) {
  std::map<uint64_t, std::pair<uint64_t, size_t>>
      taken;  // bytes by their end: their begin, and whose they are
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string part = where + ", field " + std::to_string(i);
    const uint64_t at = Fields<Of::field>(pieces[i], part).whole("at");
    json value = pieces[i];
    value.erase(std::string(schema::table(Of::field).keys.front().name));
    Bytes b = piece(value, schema::which(value, Of::field, part), part);
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

// The buffer that an earlier argument or 'buffers' names.
size_t LaunchReader::known_buffer(const std::string& name, const std::string& where) const {
  size_t at = 0;
  while (at < file_.launch.buffers.size() && file_.launch.buffers[at].name != name) ++at;
  if (at == file_.launch.buffers.size())
    refuse(where + ": no buffer '" + name +
           "' stands before it; buffers that are no arguments go into 'buffers'");
  return at;
}

// A map over a buffer, which it has to suit.
LaunchReader::Bytes LaunchReader::with_map(const std::string& buffer, const machine::TensorMap& map,
                                           const std::string& where) const {
  const size_t over = known_buffer(buffer, where);
  placed(where + ", over '" + buffer + "'", [&] { machine::check(map); });
  return {std::vector<std::byte>(sizeof(machine::TensorMapBytes)), {{0, over, 0, map}}};
}

// The 128 bytes that a driver made, or verify/driver/bitwell/tensor_map.h. Their address is the program's
// that asked for them: here the map starts at the buffer.
machine::TensorMap LaunchReader::encoded_map(const Fields<Of::encoded_map>& f) {
  const std::string from = f.has("bytes") ? "bytes" : input(f.text("encoded"));
  std::vector<std::byte> bytes;
  if (f.has("bytes")) {
    bytes = from_digits(f.text("bytes"));
  } else {
    const std::string content = placed(f.where(), [&] { return read_file(from); });
    const auto view = std::as_bytes(std::span(content));
    bytes.assign(view.begin(), view.end());
  }
  constexpr size_t kSize = sizeof(machine::TensorMapBytes);
  if (bytes.size() != kSize)
    f.refuse("'" + from + "' has " + std::to_string(bytes.size()) +
             " bytes, a tensor map has 128, as cuTensorMapEncodeTiled writes them");
  machine::TensorMap m = placed(f.where() + ": '" + from + "'",
                                [&] { return machine::decode_tensor_map(std::span(bytes).first<kSize>()); });
  m.address = f.whole("offset");
  return m;
}

machine::TensorMap LaunchReader::tensor_map(const Fields<Of::tensor_map>& f) const {
  machine::TensorMap m;
  m.address = f.whole("offset");
  m.type = static_cast<machine::TensorType>(named(machine::kTensorTypes, f.text("type"), f.where()));
  m.swizzle =
      static_cast<machine::TensorSwizzle>(named(machine::kTensorSwizzles, f.text("swizzle"), f.where()));
  m.fill_nan = f.text("fill") == "nan";
  m.promotion =
      static_cast<machine::L2Promotion>(named(machine::kL2Promotions, f.text("l2_promotion"), f.where()));
  const std::vector<uint64_t> dims = f.wholes("dims");
  if (dims.empty() || dims.size() > 5) f.refuse("'dims' must be one to five whole numbers, innermost first");
  m.rank = static_cast<uint32_t>(dims.size());
  const auto as_many = [&](const std::vector<uint64_t>& values, size_t count, const std::string& key) {
    if (values.size() != count)
      f.refuse("'" + key + "' has " + std::to_string(values.size()) + " values, " + std::to_string(count) +
               " are needed");
    return values;
  };
  if (m.rank > 1 && !f.has("strides")) f.refuse("it has no 'strides'");
  const auto box = as_many(f.wholes("box"), m.rank, "box");
  const auto strides =
      m.rank > 1 ? as_many(f.wholes("strides"), m.rank - 1, "strides") : std::vector<uint64_t>{};
  const auto steps = f.has("element_strides")
                         ? as_many(f.wholes("element_strides"), m.rank, "element_strides")
                         : std::vector<uint64_t>(m.rank, 1);
  for (size_t d = 0; d < m.rank; ++d) {
    m.dims[d] = dims[d];
    m.box[d] = static_cast<uint32_t>(std::min<uint64_t>(box[d], UINT32_MAX));
    m.element_strides[d] = static_cast<uint32_t>(std::min<uint64_t>(steps[d], UINT32_MAX));
    if (d > 0) m.strides[d] = strides[d - 1];
  }
  return m;
}

}  // namespace bitwell::launch
