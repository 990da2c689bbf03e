// bitwell formats
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/machine/failure.h"
#include "model/number/decode.h"
#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::Column;
using terminal::table;
namespace {

using number::Format;

std::string value_text(const Format& f, uint64_t code) {
  const number::Exact v = number::decode(f, code);
  if (v.is_nan()) return "NaN";
  const std::string sign = v.negative ? "-" : "";
  if (v.is_infinity()) return sign + "Inf";
  return sign +
         fmt::format("{}", std::ldexp(static_cast<double>(static_cast<uint64_t>(v.significand)), v.exponent));
}

std::string special_text(const Format& f) {
  switch (f.special) {
    case number::Special::none: return "none";
    case number::Special::ieee: return "Inf, NaN";
    case number::Special::nan_only: return "NaN only";
    default: return "0xFF is NaN";
  }
}

uint64_t least_code(const Format& f) {
  return (f.special == number::Special::scale ? uint64_t{0} : uint64_t{1}) << f.ignored_low;
}

void limits() {
  std::vector<std::vector<std::string>> rows;
  for (const Format* f : number::formats)
    rows.push_back({std::string(f->name), std::to_string(f->bits),
                    fmt::format("{}/{}/{}", f->is_signed ? 1 : 0, f->exponent_bits, f->fraction_bits),
                    std::to_string(f->bias), value_text(*f, f->max_code() << f->ignored_low),
                    f->special == number::Special::scale
                        ? "-"
                        : value_text(*f, (f->fraction_mask() + 1) << f->ignored_low),
                    value_text(*f, least_code(*f)), special_text(*f), std::string(f->source)});
  fmt::print("{}", table({{"format"},
                          {"bits", true},
                          {"sign/exponent/fraction"},
                          {"bias", true},
                          {"largest", true},
                          {"least normal", true},
                          {"least above 0", true},
                          {"specials"},
                          {"source"}},
                         rows));
  fmt::print("\nbitwell formats NAME lists a format's codes (up to 8 bits).\n");
}

void codes(const Format& f) {
  if (f.bits > 8)
    throw machine::InputError("format '" + std::string(f.name) + "' has 2^" + std::to_string(f.bits) +
                              " codes; only formats of up to 8 bits are listed");
  const int columns = f.bits <= 4 ? 2 : 8;
  const int count = 1 << f.bits;
  std::vector<Column> titles;
  for (int c = 0; c < columns; ++c) {
    titles.push_back({"code", true});
    titles.push_back({"value", true});
  }
  std::vector<std::vector<std::string>> rows(static_cast<size_t>(count / columns));
  for (int r = 0; r < count / columns; ++r)
    for (int c = 0; c < columns; ++c) {
      const auto code = static_cast<uint64_t>(c * (count / columns) + r);
      rows[static_cast<size_t>(r)].push_back(fmt::format("0x{:X}", code));
      rows[static_cast<size_t>(r)].push_back(value_text(f, code));
    }
  fmt::print("{}", table(titles, rows));
}

nlohmann::json as_json(const Format& f) {
  nlohmann::json out{{"name", f.name},
                     {"bits", f.bits},
                     {"exponent_bits", f.exponent_bits},
                     {"fraction_bits", f.fraction_bits},
                     {"bias", f.bias},
                     {"signed", f.is_signed},
                     {"largest", value_text(f, f.max_code() << f.ignored_low)},
                     {"least", value_text(f, least_code(f))},
                     {"specials", special_text(f)},
                     {"source", f.source}};
  if (f.bits <= 8)
    for (uint64_t code = 0; code < uint64_t{1} << f.bits; ++code)
      out["values"].push_back(value_text(f, code));
  return out;
}

const Format& find(const std::string& name) {
  const Format* f = number::find_format(name);
  if (f != nullptr) return *f;
  std::string known;
  for (const Format* k : number::formats) known += (known.empty() ? "" : ", ") + std::string(k->name);
  throw machine::InputError("no format '" + name + "'; there are " + known);
}

void print_json(const std::string& name) {
  nlohmann::json out = nlohmann::json::array();
  if (name.empty())
    for (const Format* f : number::formats) out.push_back(as_json(*f));
  else
    out.push_back(as_json(find(name)));
  fmt::print("{}\n", strict_json::dumped(out, 2));
}

}  // namespace

void add_formats(CLI::App& app, int&) {
  CLI::App* command =
      app.add_subcommand("formats", "Number formats: limits, and the codes of the small ones");
  auto name = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("NAME", *name, "One format: list its codes");
  command->add_flag("--json", *as_json, "Limits and codes as JSON: of this format, or of all");
  command->callback([name, as_json] {
    if (*as_json) return print_json(*name);
    if (name->empty()) return limits();
    codes(find(*name));
  });
}

}  // namespace bitwell::cli
