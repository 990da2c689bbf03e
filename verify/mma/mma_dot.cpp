#include "verify/mma/mma_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>
#include <tuple>

#include "model/machine/failure.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

namespace bitwell::mma {
namespace {

using machine::InputError;
using number::DotRule;
using Words = std::vector<uint32_t>;

std::string name_of(const DotRule& r, const Format& input) {
  if (r.scale == nullptr)
    return fmt::format("{}.{}.{}.{}", r.architecture, r.instruction, r.output->name, input.name);
  return fmt::format("{}.{}.{}", r.architecture, r.instruction, r.mixes() ? input.name : r.scale->name);
}

// Hex words, or decimal values that the format holds exactly.
Words read_words(const std::string& text, const Format& f, bool values, const char* what) {
  std::istringstream in(text);
  Words out;
  for (std::string token; in >> token;) {
    size_t used = 0;
    try {
      if (values) {
        const double v = std::stod(token, &used);
        const number::Exact exact = number::decode(number::f64, std::bit_cast<uint64_t>(v));
        if (!number::has_sign_of(f, exact))
          throw InputError(fmt::format("{}: {} has no value {}", what, f.name, token));
        const number::Exact held =
            number::round(f, exact, number::Rounding::nearest_even,
                          std::isinf(v) ? number::Overflow::ieee : number::Overflow::saturate);
        const auto code = static_cast<uint32_t>(number::encode(f, held));
        const number::Exact back = number::decode(f, code);
        const bool same = exact.is_nan()
                              ? back.is_nan()
                              : back.kind == exact.kind &&
                                    (!std::isfinite(v) ||
                                     std::ldexp(static_cast<double>(static_cast<uint64_t>(back.significand)),
                                                back.exponent) == std::fabs(v));
        if (!same) throw InputError(fmt::format("{}: {} has no value {}", what, f.name, token));
        out.push_back(code);
      } else {
        const unsigned long long v = std::stoull(token, &used, 16);
        if (v >> f.container != 0)
          throw InputError(
              fmt::format("{}: '{}' is wider than the {} bits of {}", what, token, f.container, f.name));
        out.push_back(static_cast<uint32_t>(v));
      }
    } catch (const std::logic_error&) {  // stod, stoull
      used = 0;
    }
    if (used != token.size())
      throw InputError(
          fmt::format("{}: '{}' is not {}", what, token, values ? "a number" : "a hexadecimal word"));
  }
  return out;
}

}  // namespace

std::vector<Instruction> instructions() {
  std::vector<Instruction> out;
  for (const DotRule& r : number::dot_rules())
    for (const Format* f : r.inputs) {
      if (f == nullptr) continue;
      std::string name = name_of(r, *f);
      if (std::any_of(out.begin(), out.end(), [&](const Instruction& i) { return i.name == name; }))
        name += fmt::format(".block{}", r.scale_vector);
      out.push_back({name, &r, f, f});
    }
  return out;
}

Instruction find(const std::string& name) {
  std::string alike, all;
  const std::string architecture = name.substr(0, name.find('.'));
  for (Instruction i : instructions()) {
    if (i.name == name) return i;
    if (i.rule->mixes() && name.starts_with(i.name + "."))
      if (const Format* b = number::find_format(name.substr(i.name.size() + 1));
          b != nullptr && i.rule->takes(*i.a, *b)) {
        i.name = name;
        i.b = b;
        return i;
      }
    all += (all.empty() ? "" : ", ") + i.name;
    if (i.name.starts_with(architecture + ".")) alike += (alike.empty() ? "" : ", ") + i.name;
  }
  throw InputError("no instruction '" + name + "'; " +
                   (alike.empty() ? "there are " + all : architecture + " has " + alike));
}

Operands read_operands(const Instruction& i, const std::string& a, const std::string& b, const std::string& c,
                       const std::string& sa, const std::string& sb, bool values) {
  Operands o;
  const DotRule& r = *i.rule;
  o.a = read_words(a, *i.a, values, "A");
  o.b = read_words(b, *i.b, values, "B");
  const Words addend = read_words(c, *r.output, values, "C");
  if (addend.size() != 1) throw InputError(fmt::format("C has {} words, expected one", addend.size()));
  o.c = addend[0];
  if (o.a.empty() || o.a.size() != o.b.size())
    throw InputError(
        fmt::format("A has {} elements, B {}: expected equally many, at least one", o.a.size(), o.b.size()));
  if (r.scale == nullptr) {
    if (!sa.empty() || !sb.empty()) throw InputError(i.name + " has no scales");
    return o;
  }
  if (o.a.size() % static_cast<size_t>(r.length) != 0)
    throw InputError(fmt::format("{} takes {} elements, A has {} (more: multiples of that)", i.name, r.length,
                                 o.a.size()));
  for (const auto& [text, list, what] :
       {std::tuple{&sa, &o.scale_a, "scales of A"}, std::tuple{&sb, &o.scale_b, "scales of B"}})
    for (const uint32_t w : read_words(*text, *r.scale, values, what))
      list->push_back(static_cast<uint8_t>(w));
  const size_t n = r.scales(o.a.size());
  if (o.scale_a.size() != n || o.scale_b.size() != n)
    throw InputError(fmt::format("{} takes {} scales of each operand, found {} and {}", i.name, n,
                                 o.scale_a.size(), o.scale_b.size()));
  return o;
}

DotLine read_line(const std::string& line, bool values) {
  std::vector<std::string> fields{""};
  for (const char c : line) {
    if (c == '|')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  if (fields.size() != 4 && fields.size() != 6)
    throw InputError(
        "expected INSTRUCTION | A | B | C, with | scales of A | scales of B for block-scaled forms");
  std::string name;
  std::istringstream(fields[0]) >> name;
  fields.resize(6);
  Instruction i = find(name);
  Operands o = read_operands(i, fields[1], fields[2], fields[3], fields[4], fields[5], values);
  return {std::move(i), std::move(o)};
}

uint32_t compute(const Instruction& i, const Operands& o, std::vector<number::DotChunk>* trace) {
  return number::dot(*i.rule, {i.a, o.a, o.scale_a}, {i.b, o.b, o.scale_b}, o.c, trace);
}

}  // namespace bitwell::mma
