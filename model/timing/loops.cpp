#include "model/timing/loops.h"

#include <algorithm>
#include <map>

#include "model/isa/form/next_ops.h"

namespace bitwell::timing {
namespace {

std::string_view name_of(const isa::Function& f, uint32_t pc) {
  return f.lines[static_cast<size_t>(f.code[pc].line)].text;
}

bool names(std::string_view name, std::string_view text) { return name.find(text) != std::string_view::npos; }

std::vector<uint32_t> successors(const isa::Function& f, uint32_t pc) {
  std::vector<uint32_t> out;
  isa::each_next(f, pc, [&](uint32_t next) { out.push_back(next); });
  return out;
}

constexpr size_t kLongestSpin = 16;

bool spins(const isa::Function& f, const Loop& loop) {
  bool waits = false;
  for (const uint32_t pc : loop.ops) {
    const std::string_view name = name_of(f, pc);
    waits |= names(name, "try_wait") || names(name, "test_wait") || names(name, "nanosleep");
    if (does(name) != 0 || names(name, "arrive") || name.starts_with("st")) return false;
  }
  return waits && loop.ops.size() <= kLongestSpin;
}

}  // namespace

uint8_t does(std::string_view name) {
  if (name.starts_with("tcgen05.ld")) return kReads;
  for (const char* product : {"tcgen05.mma", "wgmma.mma_async", "mma.sync", "wmma.mma"})
    if (name.starts_with(product)) return kMultiplies;
  if (!name.starts_with("cp.async") || names(name, "wait") || names(name, "commit") ||
      names(name, "prefetch") || names(name, "mbarrier.arrive"))
    return 0;
  return names(name, ".global.shared") ? 0 : kCopies;
}

std::vector<Loop> loops_of(const isa::Program& program) {
  std::vector<Loop> out;
  for (size_t k = 0; k < program.functions.size(); ++k) {
    const isa::Function& f = program.functions[k];
    const auto n = static_cast<uint32_t>(f.code.size());
    std::vector<std::vector<uint32_t>> before(n);
    // Blocks stand in reverse post-order: what goes back begins a loop.
    std::map<uint32_t, std::vector<uint32_t>> latches;
    for (uint32_t pc = 0; pc < n; ++pc)
      for (const uint32_t to : successors(f, pc)) {
        before[to].push_back(pc);
        if (to <= pc) latches[to].push_back(pc);
      }
    const size_t first = out.size();
    for (const auto& [begin, from] : latches) {
      std::set<uint32_t> body{begin};
      std::vector<uint32_t> open = from;
      while (!open.empty()) {
        const uint32_t pc = open.back();
        open.pop_back();
        if (pc < begin || !body.insert(pc).second) continue;
        open.insert(open.end(), before[pc].begin(), before[pc].end());
      }
      Loop loop;
      loop.function = k;
      loop.ops.assign(body.begin(), body.end());
      loop.first = INT32_MAX;
      for (const uint32_t pc : loop.ops) {
        const int line = f.lines[static_cast<size_t>(f.code[pc].line)].ptx;
        if (line == 0) continue;
        loop.first = std::min(loop.first, line);
        loop.last = std::max(loop.last, line);
      }
      loop.spins = spins(f, loop);
      out.push_back(std::move(loop));
    }
    for (size_t i = first; i < out.size(); ++i) {
      out[i].innermost = !out[i].spins;
      for (size_t j = first; j < out.size(); ++j)
        if (i != j && !out[j].spins &&
            std::binary_search(out[i].ops.begin(), out[i].ops.end(), out[j].ops.front()))
          out[i].innermost = false;
    }
  }
  return out;
}

bool takes_work(const isa::Program& program) {
  const auto counts = [](std::string_view name) {
    return name.starts_with("atom.") && !names(name, ".shared") &&
           (names(name, ".add.u") || names(name, ".add.s") || names(name, ".inc."));
  };
  const auto reads = [](const isa::Op& op, uint32_t row) {
    if (op.sources != nullptr && std::find(op.sources->begin(), op.sources->end(), row) != op.sources->end())
      return true;
    return row == op.guard || row == op.a || row == op.b || row == op.c || row == op.e;
  };
  for (const Loop& loop : loops_of(program)) {
    const isa::Function& f = program.functions[loop.function];
    for (const uint32_t pc : loop.ops) {
      const uint32_t number = f.code[pc].d;
      if (!counts(name_of(f, pc)) || number == 0) continue;
      for (uint32_t k = pc + 1; k < f.code.size() && successors(f, k - 1).size() == 1; ++k) {
        if (reads(f.code[k], number)) return true;
        if (f.code[k].d == number) break;
      }
    }
  }
  return false;
}

std::set<int> epilogue_of(const isa::Program& program) {
  std::vector<std::set<uint32_t>> busy(program.functions.size());  // loops that copy or multiply
  for (const Loop& loop : loops_of(program)) {
    const isa::Function& f = program.functions[loop.function];
    uint8_t all = 0;
    for (const uint32_t pc : loop.ops) all |= does(name_of(f, pc));
    if (loop.innermost && (all & (kCopies | kMultiplies)) != 0)
      busy[loop.function].insert(loop.ops.begin(), loop.ops.end());
  }
  std::set<int> out;
  for (size_t k = 0; k < program.functions.size(); ++k) {
    const isa::Function& f = program.functions[k];
    bool tensor_memory = false;
    for (uint32_t pc = 0; pc < f.code.size(); ++pc) tensor_memory |= does(name_of(f, pc)) == kReads;
    std::set<uint32_t> reached;
    std::vector<uint32_t> open;
    for (uint32_t pc = 0; pc < f.code.size(); ++pc)
      if (does(name_of(f, pc)) == (tensor_memory ? kReads : kMultiplies)) {
        if (tensor_memory) reached.insert(pc);
        for (const uint32_t to : successors(f, pc)) open.push_back(to);
      }
    while (!open.empty()) {
      const uint32_t pc = open.back();
      open.pop_back();
      if (!reached.insert(pc).second) continue;
      for (const uint32_t to : successors(f, pc)) open.push_back(to);
    }
    for (const uint32_t pc : reached) {
      const int line = f.lines[static_cast<size_t>(f.code[pc].line)].ptx;
      if (line != 0 && busy[k].count(pc) == 0 && (does(name_of(f, pc)) & kMultiplies) == 0) out.insert(line);
    }
  }
  return out;
}

}  // namespace bitwell::timing
