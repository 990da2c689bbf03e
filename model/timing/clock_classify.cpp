// What an instruction of PTX is for a clock: which part of a multiprocessor does it, for how long, by which
// rows.
#include <algorithm>

#include "model/isa/form/program.h"
#include "model/timing/clock_state.h"

namespace bitwell::timing {

using isa::Unit;

Clock::Info Clock::classify(const isa::Op& op, const isa::Line& line) const {
  Info out;
  const std::string& name = line.text;
  out.kind = kind_of(name, line.unit);
  out.ends_block = op.kind == isa::OpKind::branch || op.kind == isa::OpKind::leave ||
                   op.kind == isa::OpKind::call || op.kind == isa::OpKind::table;
  out.cached = name.find(".cg") == std::string::npos && name.find(".volatile") == std::string::npos &&
               name.find(".relaxed") == std::string::npos && name.find(".acquire") == std::string::npos;
  const auto source = [&](uint32_t row) {
    if (row > isa::kZero) out.sources.push_back(row / machine::kRowBytes);
  };
  for (const uint32_t row : {op.guard, op.a, op.b, op.c, op.e}) source(row);
  if (op.sources != nullptr)
    for (const uint32_t row : *op.sources) source(row);
  const auto result = [&](uint32_t row) {
    if (row > isa::kZero) out.results.push_back(row / machine::kRowBytes);
  };
  result(op.d);
  result(op.d2);
  if (op.results != nullptr)
    for (const uint32_t row : *op.results) result(row);
  if (out.kind == OpKind::multiply_warp) {
    const WarpMmaCost* row = device_.mma(name);
    out.has_row = row != nullptr;
    out.latency = row != nullptr ? row->latency : 33;
    out.interval = row != nullptr ? row->interval : 2;
    out.source = row != nullptr ? Source::device : Source::guess;
    return out;
  }
  if (out.kind == OpKind::memory || out.kind == OpKind::barrier || out.kind == OpKind::copy) {
    out.has_row = true;
    out.source = Source::device;
    return out;
  }
  constexpr double kUnknownInterval = 1, kUnknownLatency = 10;
  const OpCost* row = device_.op(name);
  out.has_row = row != nullptr;
  out.latency = row != nullptr ? row->latency : kUnknownLatency;
  out.interval = kQuarters * (row != nullptr ? row->interval : kUnknownInterval);
  out.source = row != nullptr ? row->source : Source::guess;
  if (line.unit == Unit::fma) out.pipe = Pipe::fma;
  if (name == "shl.b32") out.pipe = Pipe::fma;  // machine code multiplies
  if (line.unit == Unit::fp64) out.pipe = Pipe::fp64;
  constexpr double kSlow = 6;  // conversions that the arithmetic pipe does not do
  if (line.unit == Unit::sfu || (line.unit == Unit::convert && out.interval > kSlow)) out.pipe = Pipe::sfu;
  return out;
}

// Machine code has three operands where PTX has two: of two operations of logic, or a shift and a sum, of
// which the second alone uses the first, it makes one.
void Clock::classify(const isa::Function& f, std::vector<Info>& out) const {
  out.reserve(f.code.size());
  for (const isa::Op& op : f.code) out.push_back(classify(op, f.lines[static_cast<size_t>(op.line)]));
  const auto name = [&](size_t i) -> std::string_view {
    return f.lines[static_cast<size_t>(f.code[i].line)].text;
  };
  const auto logic = [&](size_t i) {
    const std::string_view n = name(i);
    return n == "and.b32" || n == "or.b32" || n == "xor.b32" || n == "not.b32" || n == "and.b16" ||
           n == "or.b16" || n == "xor.b16";
  };
  constexpr size_t kFar = 256;
  std::vector<bool> full(f.code.size());  // has taken one in
  for (size_t i = 0; i < f.code.size(); ++i) {
    const bool first_logic = logic(i), shift = name(i) == "shl.b32";
    if ((!first_logic && !shift) || full[i] || out[i].results.size() != 1) continue;
    const uint32_t row = out[i].results.front();
    size_t uses = 0, user = 0;
    for (size_t j = i + 1; j < std::min(f.code.size(), i + kFar); ++j) {
      const auto n = static_cast<size_t>(std::count(out[j].sources.begin(), out[j].sources.end(), row));
      if (n != 0) user = j;
      uses += n;
      if (std::count(out[j].results.begin(), out[j].results.end(), row) != 0 || out[j].ends_block) break;
    }
    if (uses != 1 || full[user]) continue;
    if (!(first_logic ? logic(user) : name(user) == "add.s32" || name(user) == "or.b32")) continue;
    full[user] = true;
    out[i].interval = 0;
    out[i].latency = 0;
  }
}

const Clock::Info& Clock::info(const run::Executed& e) {
  const auto f = static_cast<size_t>(e.function);
  if (infos_.size() <= f) infos_.resize(f + 1);
  if (infos_[f].empty()) classify(e.cta.grid.program.functions[f], infos_[f]);
  return infos_[f][e.pc];
}

}  // namespace bitwell::timing
