#include "verify/python/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "bitwell/tensor_map.h"
#include "model/layout/expression.h"
#include "model/layout/hardware.h"
#include "model/machine/failure.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/quantise.h"
#include "model/number/round.h"
#include "model/strict_json/write.h"
#include "verify/driver/device_row.h"
#include "verify/mma/mma_dot.h"

namespace bitwell::python {
namespace {

using machine::InputError;
using nlohmann::json;
using number::Exact;
using number::Format;

template <class All, class Name>
std::string listed(const All& all, Name name) {
  std::string out;
  for (const auto& one : all) out += (out.empty() ? "" : ", ") + std::string(name(one));
  return out;
}

const Format& format_of(const std::string& name) {
  const Format* const out = number::find_format(name);
  if (out == nullptr)
    throw InputError("there is no format '" + name + "'; there are " +
                     listed(number::formats, [](const Format* f) { return f->name; }));
  return *out;
}

double value_of(const Exact& v) {
  if (v.is_nan()) return std::nan("");
  const double magnitude =
      v.is_infinity() ? HUGE_VAL
                      : std::ldexp(static_cast<double>(static_cast<uint64_t>(v.significand)), v.exponent);
  return v.negative ? -magnitude : magnitude;
}

void check_container(const Format& f, int bytes) {
  if (f.container > 8 * bytes)
    throw InputError("codes of format '" + std::string(f.name) + "' have " + std::to_string(f.container) +
                     " bits, and the array's elements " + std::to_string(8 * bytes));
}

// `i`: its number in what messages call `what`.
void check_code(const Format& f, uint64_t code, const std::string& what, size_t i) {
  if (f.container < 64 && code >> f.container != 0)
    throw InputError(what + ": element " + std::to_string(i) + " is " + std::to_string(code) +
                     ", and codes of format '" + std::string(f.name) + "' go up to " +
                     std::to_string((uint64_t{1} << f.container) - 1));
}

const number::Recipe& recipe_of(const std::string& name) {
  const number::Recipe* const out = number::find_recipe(name);
  if (out == nullptr)
    throw InputError("there is no recipe '" + name + "'; there are " +
                     listed(number::recipes(), [](const number::Recipe& r) { return r.name; }));
  return *out;
}

void check_count(const std::string& what, size_t got, size_t wanted) {
  if (got != wanted)
    throw InputError(what + ": " + std::to_string(got) + " elements, expected " + std::to_string(wanted));
}

}  // namespace

std::string formats_json() {
  json out = json::array();
  for (const Format* f : number::formats)
    out.push_back({{"name", f->name},
                   {"bits", f->bits},
                   {"container", f->container},
                   {"exponent_bits", f->exponent_bits},
                   {"fraction_bits", f->fraction_bits},
                   {"bias", f->bias},
                   {"signed", f->is_signed},
                   {"infinity", f->has_infinity()},
                   {"nan", f->has_nan()},
                   {"largest", value_of(number::decode(*f, f->max_code() << f->ignored_low))},
                   {"source", f->source}});
  return strict_json::dumped(out);
}

void decode(const std::string& format, std::span<const std::byte> codes, int bytes, std::span<double> to) {
  const Format& f = format_of(format);
  check_container(f, bytes);
  check_count("values", to.size(), codes.size() / static_cast<size_t>(bytes));
  for (size_t i = 0; i < to.size(); ++i) {
    uint64_t code = 0;
    std::memcpy(&code, codes.data() + i * static_cast<size_t>(bytes), static_cast<size_t>(bytes));
    check_code(f, code, format, i);
    to[i] = value_of(number::decode(f, code));
  }
}

void encode(const std::string& format, std::span<const double> values, const std::string& rounding,
            bool saturate, int bytes, std::span<std::byte> codes) {
  constexpr std::string_view kRoundings[] = {"rn", "rna", "rz", "rm", "rp"};  // by number::Rounding
  const auto at = std::find(std::begin(kRoundings), std::end(kRoundings), rounding);
  if (at == std::end(kRoundings))
    throw InputError("there is no rounding '" + rounding + "'; there are rn, rna, rz, rm, rp");
  const auto way = static_cast<number::Rounding>(at - std::begin(kRoundings));
  const Format& f = format_of(format);
  check_container(f, bytes);
  check_count("codes", codes.size() / static_cast<size_t>(bytes), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Exact exact = number::decode(number::f64, std::bit_cast<uint64_t>(values[i]));
    if (!number::has_sign_of(f, exact))
      throw InputError(fmt::format("element {} is {}, and format '{}' has no sign", i, values[i], format));
    const Exact rounded =
        number::round(f, exact, way, saturate ? number::Overflow::saturate : number::Overflow::ieee);
    if (rounded.is_nan() && !f.has_nan())
      throw InputError(
          "element " + std::to_string(i) + " is NaN, and format '" + format + "' has none" +
          (std::isnan(values[i]) ? "" : ": it is too large; saturate=True gives the largest value"));
    const uint64_t code = number::encode(f, rounded);
    std::memcpy(codes.data() + i * static_cast<size_t>(bytes), &code, static_cast<size_t>(bytes));
  }
}

std::string recipes_json() {
  constexpr std::string_view kScales[] = {"e4m3", "e8m0", "f32"};  // by number::ScaleFormat
  json out = json::array();
  for (const number::Recipe& r : number::recipes())
    out.push_back({{"name", r.name},
                   {"block", r.block},
                   {"scale", kScales[static_cast<size_t>(r.scale)]},
                   {"two_level", r.two_level},
                   {"stochastic", r.stochastic},
                   {"hadamard", r.hadamard}});
  return strict_json::dumped(out);
}

std::string device_json(int sm) {
  const driver::DeviceRow& row = driver::device_row(sm);
  const machine::Arch& arch = machine::arch(sm);
  return strict_json::dumped(json{{"name", row.name},
                                  {"sm", sm},
                                  {"processors", row.size.sms},
                                  {"memory", row.size.memory},
                                  {"shared", arch.shared},
                                  {"threads", arch.sm_threads},
                                  {"l2", row.l2},
                                  {"clock", row.clock_mhz},
                                  {"memory_clock", row.memory_mhz},
                                  {"bus", row.bus_bits}});
}

Quantised quantise(const std::string& recipe, std::span<const float> x, uint64_t seed) {
  const number::Recipe& r = recipe_of(recipe);
  if (x.size() % static_cast<size_t>(r.block) != 0)
    throw InputError("recipe '" + recipe + "' takes blocks of " + std::to_string(r.block) +
                     ", and there are " + std::to_string(x.size()) + " values");
  number::Quantised q = number::quantise(r, x, seed);
  std::vector<float> values = number::dequantise(r, q);
  return {std::move(q.codes), std::move(q.scale_codes), std::move(q.scales),
          std::move(values),  q.tensor_scale,           q.clipped};
}

std::string instructions_json() {
  json out = json::array();
  for (const mma::Instruction& i : mma::instructions())
    out.push_back({{"name", i.name},
                   {"a", i.a->name},
                   {"b", i.b->name},
                   {"result", i.rule->output->name},
                   {"products_a_sum", i.rule->length},
                   {"fraction_bits", i.rule->fraction_bits},
                   {"scale", i.rule->scale == nullptr ? json() : json(i.rule->scale->name)},
                   {"scale_vector", i.rule->scale_vector},
                   {"evidence", i.rule->evidence_for(*i.a, *i.b)}});
  return strict_json::dumped(out);
}

void dots(const std::string& instruction, size_t k, std::span<const uint32_t> a, std::span<const uint32_t> b,
          std::span<const uint32_t> c, std::span<const uint8_t> scales_a, std::span<const uint8_t> scales_b,
          std::span<uint32_t> d) {
  const mma::Instruction i = mma::find(instruction);
  const size_t scales = i.rule->scales(k);
  check_count("a", a.size(), d.size() * k);
  check_count("b", b.size(), d.size() * k);
  check_count("c", c.size(), d.size());
  check_count("scales of a", scales_a.size(), d.size() * scales);
  check_count("scales of b", scales_b.size(), d.size() * scales);
  for (size_t n = 0; n < a.size(); ++n) check_code(*i.a, a[n], "a", n);
  for (size_t n = 0; n < b.size(); ++n) check_code(*i.b, b[n], "b", n);
  for (size_t n = 0; n < c.size(); ++n) check_code(*i.rule->output, c[n], "c", n);
  for (size_t n = 0; n < d.size(); ++n) {
    const number::DotOperand row_a{i.a, a.subspan(n * k, k), scales_a.subspan(n * scales, scales)};
    const number::DotOperand row_b{i.b, b.subspan(n * k, k), scales_b.subspan(n * scales, scales)};
    d[n] = number::dot(*i.rule, row_a, row_b, c[n]);
  }
}

Laid lay_out(const std::string& what, const std::string& parameters) {
  Laid out;
  layout::Composed laid;
  json facts = json::object();
  const auto& named = layout::named_layouts();
  if (std::any_of(named.begin(), named.end(), [&](const layout::Named& n) { return what == n.name; })) {
    const layout::Hardware h = layout::named_layout(what, json::parse(parameters).get<layout::Parameters>());
    laid = h.layout;
    json axes = json::array();
    for (const layout::Axis& a : h.axes) axes.push_back(a.name);
    facts = {{"name", h.name},         {"axes", axes},       {"unit_bits", h.unit_bits}, {"region", h.region},
             {"evidence", h.evidence}, {"source", h.source}, {"notes", h.notes}};
  } else {
    layout::Value value = layout::evaluate(what);
    if (const auto* number = std::get_if<int64_t>(&value)) {
      out.text = std::to_string(*number);
      out.facts = "{}";
      return out;
    }
    laid = std::get<layout::Composed>(value);
  }
  out.text = layout::to_string(laid);
  const int64_t count = layout::size(laid.layout);
  facts["size"] = count;
  facts["cosize"] = layout::cosize(laid.layout);
  out.facts = strict_json::dumped(facts);
  if (count > layout::kMostOffsets)
    throw InputError("'" + what + "' has " + std::to_string(count) + " coordinates, more than the " +
                     std::to_string(layout::kMostOffsets) + " that are listed");
  const layout::Tuple& shape = laid.layout.shape();
  for (size_t i = 0; i < layout::rank(shape); ++i)
    out.extents.push_back(layout::product(layout::mode(shape, i)));
  for (int64_t i = 0; i < count; ++i) out.offsets.push_back(laid(i));
  return out;
}

std::string layouts_json() {
  json out = json::array();
  for (const layout::Named& n : layout::named_layouts()) {
    json parameters = json::array();
    for (const layout::ParameterHelp& p : n.parameters)
      parameters.push_back({{"name", p.name}, {"preset", p.preset}, {"what", p.what}});
    out.push_back({{"name", n.name}, {"summary", n.summary}, {"parameters", parameters}});
  }
  return strict_json::dumped(out);
}

std::vector<std::byte> tensor_map(const MapArguments& m) {
  const size_t rank = m.dims.size();
  const auto same = [&](const char* what, size_t got, size_t wanted) {
    if (got != wanted)
      throw InputError("tensor map of " + std::to_string(rank) + " dimensions: " + what + " has " +
                       std::to_string(got) + " entries, expected " + std::to_string(wanted));
  };
  same("global_strides", m.strides.size(), rank == 0 ? 0 : rank - 1);
  same("box_dim", m.box.size(), rank);
  same("element_strides", m.element_strides.size(), rank);
  bitwell_tensor_map map;
  const bitwell_result result = bitwell_tensor_map_encode_tiled(
      &map, static_cast<bitwell_tensor_map_data_type>(m.type), static_cast<uint32_t>(rank),
      reinterpret_cast<void*>(m.address), m.dims.data(), m.strides.data(), m.box.data(),
      m.element_strides.data(), static_cast<bitwell_tensor_map_interleave>(m.interleave),
      static_cast<bitwell_tensor_map_swizzle>(m.swizzle),
      static_cast<bitwell_tensor_map_l2_promotion>(m.promotion),
      static_cast<bitwell_tensor_map_oob_fill>(m.fill));
  if (result != BITWELL_SUCCESS) throw InputError(bitwell_tensor_map_message());
  std::vector<std::byte> out(sizeof map);
  std::memcpy(out.data(), &map, sizeof map);
  return out;
}

}  // namespace bitwell::python
