#include "verify/mma/mma_dot.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <sstream>
#include <tuple>

#include "model/machine/failure.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

namespace bitwell::verify::mma {
namespace {

using machine::InputError;
using number::DotRule;
using Words = std::vector<uint32_t>;

std::string name_of(const DotRule& r, const Format& input) {
  return fmt::format("{}.{}.{}.{}", r.architecture, r.instruction, r.output->name, input.name);
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
    for (const Format* f : r.inputs)
      if (f != nullptr) out.push_back({name_of(r, *f), &r, f, nullptr, 0});
  for (const Format* f : {&number::e4m3, &number::e5m2, &number::e2m3, &number::e3m2, &number::e2m1})
    out.push_back({fmt::format("blackwell.mxf8f6f4.{}", f->name), nullptr, f, &number::ue8m0, 32});
  for (const Format* s : {&number::ue4m3, &number::ue8m0})
    out.push_back({fmt::format("blackwell.mxf4nvf4.{}", s->name), nullptr, &number::e2m1, s, 64});
  return out;
}

Instruction find(const std::string& name) {
  std::string alike, all;
  const std::string architecture = name.substr(0, name.find('.'));
  for (const Instruction& i : instructions()) {
    if (i.name == name) return i;
    all += (all.empty() ? "" : ", ") + i.name;
    if (i.name.starts_with(architecture + ".")) alike += (alike.empty() ? "" : ", ") + i.name;
  }
  throw InputError("no instruction '" + name + "'; " +
                   (alike.empty() ? "there are " + all : architecture + " has " + alike));
}

const Format& result_of(const Instruction& i) { return i.rule != nullptr ? *i.rule->output : number::f32; }

int fraction_bits(const Instruction& i) {
  return i.rule != nullptr ? i.rule->fraction_bits
         : i.k == 64       ? number::kBlockFractionBits
                           : number::kMxFractionBits;
}

Operands read_operands(const Instruction& i, const std::string& a, const std::string& b, const std::string& c,
                       const std::string& sa, const std::string& sb, bool values) {
  Operands o;
  o.a = read_words(a, *i.input, values, "A");
  o.b = read_words(b, *i.input, values, "B");
  const Words addend = read_words(c, result_of(i), values, "C");
  if (addend.size() != 1) throw InputError(fmt::format("C has {} words, expected one", addend.size()));
  o.c = addend[0];
  if (o.a.empty() || o.a.size() != o.b.size())
    throw InputError(
        fmt::format("A has {} elements, B {}: expected equally many, at least one", o.a.size(), o.b.size()));
  if (i.scale == nullptr) {
    if (!sa.empty() || !sb.empty()) throw InputError(i.name + " has no scales");
    return o;
  }
  if (o.a.size() != i.k)
    throw InputError(fmt::format("{} takes {} elements, A has {}", i.name, i.k, o.a.size()));
  for (const auto& [text, list, what] :
       {std::tuple{&sa, &o.scale_a, "scales of A"}, std::tuple{&sb, &o.scale_b, "scales of B"}})
    for (const uint32_t w : read_words(*text, *i.scale, values, what))
      list->push_back(static_cast<uint8_t>(w));
  const size_t n = o.scale_a.size();
  const bool right = i.k == 32 ? n == 1 : n == 4 || (n == 2 && i.scale == &number::ue8m0);
  if (!right || o.scale_b.size() != n)
    throw InputError(fmt::format("{} takes {} scales of each operand, found {} and {}", i.name,
                                 i.k == 32                   ? "1"
                                 : i.scale == &number::ue8m0 ? "2 or 4"
                                                             : "4",
                                 n, o.scale_b.size()));
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
  if (i.rule != nullptr) return number::dot(*i.rule, *i.input, o.a, o.b, o.c, trace);
  if (i.k == 32) return number::mxf8f6f4_dot(*i.input, o.a, o.b, o.c, o.scale_a[0], o.scale_b[0], trace);
  return number::mxf4nvf4_dot(o.a, o.b, o.c, *i.scale, o.scale_a, o.scale_b, trace);
}

}  // namespace bitwell::verify::mma
