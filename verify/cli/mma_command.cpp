// bitwell mma
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/machine/failure.h"
#include "model/number/decode.h"
#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/mma/mma_dot.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::table;
namespace {

using machine::InputError;
using mma::Instruction;
using mma::Operands;
using number::DotChunk;
using number::DotTerm;
using number::Format;

struct MmaOptions {
  std::string instruction = "hopper.wgmma.f32.f16";
  std::string a, b, c = "0", scale_a, scale_b;
  std::string batch;
  bool values = false;
  bool list = false;
  bool json = false;
};

std::string value_text(const Format& f, uint32_t code) {
  const number::Exact v = number::decode(f, code);
  if (v.is_nan()) return "NaN";
  const std::string sign = v.negative ? "-" : "";
  if (v.is_infinity()) return sign + "Inf";
  return sign + fmt::format("{:g}", std::ldexp(static_cast<double>(static_cast<uint64_t>(v.significand)),
                                               v.exponent));
}

// The product's bits where they stand below the largest exponent; what '|' cuts off is lost.
std::string aligned_bits(const DotTerm& t, const DotChunk& chunk, int kept_bits) {
  constexpr int above = 8;   // positions before the point: significands of groups are wide
  constexpr int below = 10;  // positions shown after the cut
  std::string out;
  const int top = 63 - (t.significand == 0 ? 63 : __builtin_clzll(t.significand));
  for (int position = above; position >= -kept_bits - below; --position) {
    if (position == -1) out += '.';
    if (position == -kept_bits - 1) out += '|';
    // The bit of the significand with this weight, relative to 2^largest.
    const int bit = position + chunk.largest - t.exponent + t.fraction;
    if (t.significand == 0 || bit > top || bit < 0)
      out += position >= -kept_bits && t.significand != 0 && bit < 0 ? '0' : ' ';
    else
      out += (t.significand >> bit & 1) != 0 ? '1' : '0';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  const int last = -kept_bits - below + chunk.largest - t.exponent + t.fraction;
  return out + (t.cut && last > 0 ? "..." : "");
}

double scaled(int64_t units, int exponent) { return std::ldexp(static_cast<double>(units), exponent); }

void show_chunk(const Instruction& i, const Operands& o, const DotChunk& chunk, size_t first,
                bool with_operands) {
  const int kept_bits = i.rule->fraction_bits;
  const Format& d = *i.rule->output;
  if (!chunk.special.empty()) {
    fmt::print("  {}: {} = 0x{:x}\n", chunk.special, value_text(d, chunk.result), chunk.result);
    return;
  }
  const int unit = chunk.largest - kept_bits;
  std::vector<std::vector<std::string>> rows;
  for (size_t n = 0; n < chunk.terms.size(); ++n) {
    const DotTerm& t = chunk.terms[n];
    const bool addend = n + 1 == chunk.terms.size();
    std::string what = addend ? "C" : fmt::format("k {}", first + n);
    std::string operands;
    const auto group = static_cast<size_t>(i.rule->group);
    if (group > 1 && !addend)
      what = fmt::format("k {} to {}", first + group * n, first + group * (n + 1) - 1);
    else if (!addend && with_operands)
      operands = value_text(*i.a, o.a[first + n]) + " * " + value_text(*i.b, o.b[first + n]);
    const double exact = std::ldexp(static_cast<double>(t.significand), t.exponent - t.fraction);
    rows.push_back(
        {what, operands,
         (t.negative && t.significand != 0 ? "-" : "") + fmt::format("{:g}", t.significand == 0 ? 0 : exact),
         std::to_string(t.exponent), t.negative && t.significand != 0 ? "-" : "",
         aligned_bits(t, chunk, kept_bits), std::to_string(t.kept), t.cut ? "cut" : ""});
  }
  fmt::print("largest exponent {}, {} fraction bits kept below it: one unit is 2^{}\n\n{}", chunk.largest,
             kept_bits, unit,
             table({{"term"},
                    {"operands"},
                    {"exact", true},
                    {"exponent", true},
                    {""},
                    {"bits below 2^largest | lost"},
                    {"units", true},
                    {""}},
                   rows));
  fmt::print("\nsum {} units = {:.10g}, rounded: {} = 0x{:x}\n", chunk.sum, scaled(chunk.sum, unit),
             value_text(d, chunk.result), chunk.result);
}

void explain(const Instruction& i, const Operands& o) {
  std::vector<DotChunk> trace;
  const uint32_t d = mma::compute(i, o, &trace);
  const Format& f = *i.rule->output;
  fmt::print("{}, {} products, C = {}\n", i.name, o.a.size(), value_text(f, o.c));
  const bool emulated = i.rule->emulated;
  size_t first = 0;
  for (size_t n = 0; n < trace.size(); ++n) {
    if (trace.size() > 1)
      fmt::print("\nchunk {} of {}{}: ", n + 1, trace.size(),
                 emulated ? (n < trace.size() / 2 ? " (k % 4 in {0, 1})" : " (k % 4 in {2, 3})") : "");
    else
      fmt::print("\n");
    show_chunk(i, o, trace[n], first, !emulated);
    first += trace[n].terms.empty() ? static_cast<size_t>(i.rule->length)
                                    : (trace[n].terms.size() - 1) * static_cast<size_t>(i.rule->group);
  }
  if (emulated) fmt::print("\nC = {} is added last, with one rounding\n", value_text(f, o.c));
  fmt::print("\nD = {} = 0x{:0{}x}\n", value_text(f, d), d, f.container / 4);
  std::vector<std::vector<std::string>> rows;
  if (i.rule->scale == nullptr)
    for (Instruction other : mma::instructions()) {
      if (other.a != i.a || other.rule->scale != nullptr || other.rule->output != i.rule->output) continue;
      if (other.b != i.b) {
        other.b = i.b;
        other.name += "." + std::string(i.b->name);
      }
      if (!other.rule->takes(*other.a, *other.b)) continue;
      const uint32_t there = mma::compute(other, o, nullptr);
      rows.push_back({other.name, std::to_string(other.rule->length),
                      std::to_string(other.rule->fraction_bits), value_text(f, there),
                      fmt::format("0x{:0{}x}", there, f.container / 4), there == d ? "" : "differs",
                      std::string(other.rule->evidence_for(*other.a, *other.b))});
    }
  if (!rows.empty())
    fmt::print("\nThe same operands elsewhere:\n{}", table({{"instruction"},
                                                            {"length", true},
                                                            {"fraction bits", true},
                                                            {"D", true},
                                                            {"word"},
                                                            {""},
                                                            {"evidence"}},
                                                           rows));
}

nlohmann::json parameters(const Instruction& i) {
  const char* rounding = i.rule->rounding == number::DotRounding::rz_f32 ? "to f32, towards zero"
                         : i.rule->rounding == number::DotRounding::rz_e8m13
                             ? "to 13 fraction bits, towards zero"
                             : "to f16, nearest even";
  return {{"instruction", i.name},         {"products_a_sum", i.rule->length},
          {"by_halves", i.rule->emulated}, {"fraction_bits", i.rule->fraction_bits},
          {"rounding", rounding},          {"exponent_of_zero", i.rule->zero_exponent},
          {"mixes", i.rule->mixes()},      {"evidence", i.rule->evidence_for(*i.a, *i.b)}};
}

void list_instructions(bool json) {
  nlohmann::json all = nlohmann::json::array();
  for (const Instruction& i : mma::instructions()) all.push_back(parameters(i));
  if (json) {
    fmt::print("{}\n", strict_json::dumped(all, 2));
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const nlohmann::json& i : all)
    rows.push_back({i["instruction"],
                    strict_json::dumped(i["products_a_sum"]) + (i["by_halves"] ? " (twice, by halves)" : ""),
                    strict_json::dumped(i["fraction_bits"]), i["rounding"],
                    strict_json::dumped(i["exponent_of_zero"]), i["evidence"]});
  fmt::print("{}", table({{"instruction"},
                          {"products a sum", true},
                          {"fraction bits", true},
                          {"rounding"},
                          {"exponent of zero", true},
                          {"evidence"}},
                         rows));
}

constexpr size_t kMostLine = 1 << 20;  // more than a dot product of the longest k takes

// The next line, or no more of it than tells that it is longer than kMostLine.
bool next_line(std::istream& in, std::string& line) {
  line.clear();
  for (int c = in.get(); c != '\n'; c = in.get()) {
    if (c == std::istream::traits_type::eof()) return !line.empty();
    line += static_cast<char>(c);
    if (line.size() > kMostLine) break;
  }
  return true;
}

// One dot product a line.
void run_batch(const std::string& path, bool values) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file || file.peek() == std::ifstream::traits_type::eof())
      throw InputError("cannot read '" + path + "', or nothing is in it");
  }
  std::istream& in = path == "-" ? std::cin : file;
  size_t line_number = 0;
  for (std::string line; next_line(in, line);) {
    ++line_number;
    if (line.size() > kMostLine)
      throw InputError(fmt::format("'{}', line {}: longer than {} characters", path, line_number, kMostLine));
    if (line.empty() || line[0] == '#') continue;
    const std::string where = "'" + path + "', line " + std::to_string(line_number) + ": ";
    try {
      const auto [i, o] = mma::read_line(line, values);
      fmt::print("{:0{}x}\n", mma::compute(i, o, nullptr), i.rule->output->container / 4);
    } catch (const InputError& e) {
      throw InputError(where + e.what());
    }
  }
  if (in.bad()) throw InputError("cannot read '" + path + "'");
}

void run(const MmaOptions& o) {
  if (o.list) return list_instructions(o.json);
  if (!o.batch.empty()) return run_batch(o.batch, o.values);
  const Instruction i = mma::find(o.instruction);
  Operands operands;
  if (o.a.empty() && o.b.empty()) {
    if (i.a != &number::f16)
      throw InputError(
          "--a and --b: the elements of one dot product (without them an example of f16 is shown)");
    // 2^23 - 2^23 - 0.875, which few tensor cores get right.
    operands = mma::read_operands(i, "4096 -0.5 -0.25 -0.125", "-2048 1 1 1",
                                  i.rule->output == &number::f32 ? "8388608" : "0", "", "", true);
  } else {
    operands = mma::read_operands(i, o.a, o.b, o.c, o.scale_a, o.scale_b, o.values);
  }
  if (!o.json) return explain(i, operands);
  std::vector<DotChunk> trace;
  const uint32_t d = mma::compute(i, operands, &trace);
  nlohmann::json j{{"instruction", i.name}, {"d", fmt::format("{:0{}x}", d, i.rule->output->container / 4)}};
  for (const DotChunk& c : trace) {
    nlohmann::json chunk{{"largest_exponent", c.largest},
                         {"sum_units", c.sum},
                         {"unit_exponent", c.largest - i.rule->fraction_bits},
                         {"result", fmt::format("{:x}", c.result)},
                         {"special", c.special}};
    for (const DotTerm& t : c.terms)
      chunk["terms"].push_back({{"negative", t.negative},
                                {"significand", t.significand},
                                {"fraction_bits", t.fraction},
                                {"exponent", t.exponent},
                                {"kept_units", t.kept},
                                {"cut", t.cut}});
    j["chunks"].push_back(std::move(chunk));
  }
  fmt::print("{}\n", strict_json::dumped(j, 2));
}

}  // namespace

void add_mma(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("mma", "One tensor-core dot product, bit by bit, or a file of them");
  auto o = std::make_shared<MmaOptions>();
  command
      ->add_option("INSTRUCTION", o->instruction,
                   "ARCHITECTURE.INSTRUCTION.RESULT.INPUT, or a block-scaled form")
      ->capture_default_str();
  const std::array operands{
      command->add_option("--a", o->a, "Elements of A, hexadecimal words in one argument"),
      command->add_option("--b", o->b, "Elements of B"),
      command->add_option("--c", o->c, "The addend")->capture_default_str(),
      command->add_option("--scale-a", o->scale_a, "Scales of A (block-scaled forms)"),
      command->add_option("--scale-b", o->scale_b, "Scales of B")};
  command->add_flag("--values", o->values, "Operands are decimal values, which their formats must hold");
  CLI::Option* batch = command->add_option(
      "--batch", o->batch,
      "One dot product a line from this file, or - for standard input: prints the D words");
  CLI::Option* list =
      command->add_flag("--list", o->list, "Every instruction, its parameters and their evidence")
          ->excludes(batch);
  command->add_flag("--json", o->json, "The terms, or the list, as JSON")->excludes(batch);
  for (CLI::Option* operand : operands) operand->excludes(batch)->excludes(list);
  command->footer(
      "Examples:\n"
      "  bitwell mma                                     a sum that few tensor cores get right, shown bit by "
      "bit\n"
      "  bitwell mma hopper.wgmma.f32.e4m3 --values --a '1 0.5 448' --b '1 1 -448' --c 3\n"
      "  bitwell mma blackwell.tcgen05.f32.bf16 --a '3f80 4000' --b '3f80 c000' --c 3f800000\n"
      "  bitwell mma --batch words.txt\n"
      "A line of a batch: INSTRUCTION | A | B | C, and | scales of A | scales of B for block-scaled forms.\n"
      "K longer than an instruction's is summed chunk by chunk, as the hardware does. Formats of 8 bits and "
      "fewer "
      "mix:\nB's stands after A's, as in hopper.wgmma.f32.e4m3.e5m2.");
  command->callback([o] { run(*o); });
}

}  // namespace bitwell::cli
