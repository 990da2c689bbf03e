#include "verify/launch/file/numbers.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "model/machine/failure.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"
#include "verify/schema/choices.h"

namespace bitwell::launch {
namespace {

using machine::InputError;

double to_double(const number::Format& format, uint64_t code) {
  if (format.bits == 64) return std::bit_cast<double>(code);
  return std::bit_cast<double>(number::encode(number::f64, number::decode(format, code)));
}

uint64_t to_code(const number::Format& format, double value) {
  if (std::isnan(value) && !format.has_nan())
    throw InputError("a NaN, which " + std::string(format.name) + " does not have");
  const number::Exact exact = number::decode(number::f64, std::bit_cast<uint64_t>(value));
  if (!number::has_sign_of(format, exact)) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.9g", value);
    throw InputError("the value " + std::string(text.data()) + ", and " + std::string(format.name) +
                     " has no sign");
  }
  const auto overflow = format.has_infinity() ? number::Overflow::ieee : number::Overflow::saturate;
  return number::encode(format, number::round(format, exact, number::Rounding::nearest_even, overflow));
}

template <class T>
void append(const Array& array, std::vector<long double>& out) {
  for (size_t i = 0; i + sizeof(T) <= array.bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, array.bytes.data() + i, sizeof value);
    out.push_back(static_cast<long double>(value));
  }
}

}  // namespace

const number::Format& packed_format(const std::string& name) {
  std::string known;
  for (const number::Format* f : number::formats) {
    if (!schema::packs(*f)) continue;
    if (f->name == name) return *f;
    known += (known.empty() ? "" : ", ") + std::string(f->name);
  }
  throw InputError("format '" + name + "' is not one of " + known);
}

uint64_t bits_of_packed(const std::string& name) {
  return static_cast<uint64_t>(packed_format(name).container);
}

std::vector<std::byte> packed(const Array& array, const std::string& name) {
  const number::Format& format = packed_format(name);
  const std::vector<long double> values = numbers(array);
  const auto bits = static_cast<size_t>(format.container);
  if (values.size() * bits % 8 != 0)
    throw InputError(std::to_string(values.size()) + " elements of " + name + " fill no whole bytes");
  std::vector<std::byte> out(values.size() * bits / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t code = to_code(format, static_cast<double>(values[i]));
    if (bits == 4)
      out[i / 2] |= static_cast<std::byte>(code << 4 * (i % 2));
    else
      std::memcpy(out.data() + i * bits / 8, &code, bits / 8);
  }
  return out;
}

Array unpacked(const std::vector<std::byte>& codes, const std::string& name, std::vector<uint64_t> shape) {
  const number::Format& format = packed_format(name);
  const auto bits = static_cast<size_t>(format.container);
  const size_t count = codes.size() * 8 / bits;
  if (shape.empty()) shape = {count};
  Array out{bits == 64 ? "f8" : "f4", std::move(shape), {}};
  for (size_t i = 0; i < count; ++i) {
    uint64_t code = 0;
    std::memcpy(&code, codes.data() + i * bits / 8, std::max<size_t>(bits / 8, 1));
    if (bits == 4) code = code >> 4 * (i % 2) & 15;
    const double wide = to_double(format, code);
    const auto narrow = static_cast<float>(wide);
    const auto* bytes =
        bits == 64 ? reinterpret_cast<const std::byte*>(&wide) : reinterpret_cast<const std::byte*>(&narrow);
    out.bytes.insert(out.bytes.end(), bytes, bytes + (bits == 64 ? sizeof wide : sizeof narrow));
  }
  return out;
}

std::vector<long double> numbers(const Array& array) {
  std::vector<long double> out;
  const std::string& t = array.dtype;
  if (t == "f8") append<double>(array, out);
  if (t == "f4") append<float>(array, out);
  if (t == "f2")
    for (size_t i = 0; i + 2 <= array.bytes.size(); i += 2) {
      uint16_t code = 0;
      std::memcpy(&code, array.bytes.data() + i, 2);
      out.push_back(to_double(number::f16, code));
    }
  if (t == "u1" || t == "b1") append<uint8_t>(array, out);
  if (t == "u2") append<uint16_t>(array, out);
  if (t == "u4") append<uint32_t>(array, out);
  if (t == "u8") append<uint64_t>(array, out);
  if (t == "i1") append<int8_t>(array, out);
  if (t == "i2") append<int16_t>(array, out);
  if (t == "i4") append<int32_t>(array, out);
  if (t == "i8") append<int64_t>(array, out);
  return out;
}

}  // namespace bitwell::launch
