#include "model/hazard/local_pointers.h"

#include <algorithm>
#include <set>

namespace bitwell::hazard {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

bool of_pointers(const Instruction& i) { return has(i, ".b64") || has(i, ".u64") || has(i, ".s64"); }

size_t words_of(const Operand& o) { return o.kind == OperandKind::vector ? o.elements.size() : 1; }

// Whether it loads words that are followed, each into a register.
bool loads(const ObjectFlow::Use& use) {
  const Instruction& i = *use.instruction;
  return (i.opcode == "ld" || i.opcode == "atom") && of_pointers(i) && use.addresses.size() == 1 &&
         use.results.size() == words_of(i.operands[0]);
}
// Whether what it writes are its sources; of atomics an exchange alone.
bool stores(const ObjectFlow::Use& use) {
  const Instruction& i = *use.instruction;
  return (i.opcode == "st" || (i.opcode == "atom" && has(i, ".exch"))) && of_pointers(i) &&
         use.addresses.size() == 1;
}

}  // namespace

// Goes back from a value along all that may hand an address on.
class LocalPointers::Search {
 public:
  Search(const ObjectFlow& flow, const std::vector<Object>& places)
      : before_(flow.value_count()),
        local_(flow.value_count()),
        received_(flow.value_count()),
        constant_(flow.value_count()),
        made_(flow.value_count()),
        may_be_own_(flow.value_count()) {
    std::vector<std::vector<size_t>> behind(flow.value_count());
    flow.each_address_flow([&](size_t from, size_t to) {
      before_[to].push_back(from);
      behind[from].push_back(to);
    });
    for (size_t i = 0; i < places.size(); ++i)
      if (const auto value = flow.value_of_object(i); value && places[i].space == Object::Space::local)
        local_[*value] = i;
    for (const ObjectFlow::Use& use : flow.uses()) {
      const Instruction& i = *use.instruction;
      for (const size_t made : use.results) made_[made] = true;
      if (i.opcode == "mov" && !use.guard && use.results.size() == 1 &&
          i.operands[1].kind == OperandKind::integer)
        constant_[use.results[0]] = static_cast<uint32_t>(i.operands[1].integer);
    }
    for (const ObjectFlow::Use& use : flow.uses()) {
      if (shuffle_of(use)) received_[use.results[0]] = true;
      if (loads(use))
        for (const size_t word : use.results) received_[word] = true;
    }
    std::vector<size_t> work;
    for (size_t v = 0; v < local_.size(); ++v)
      if (local_[v]) work.push_back(v);
    while (!work.empty()) {
      const size_t v = work.back();
      work.pop_back();
      if (may_be_own_[v]) continue;
      may_be_own_[v] = true;
      work.insert(work.end(), behind[v].begin(), behind[v].end());
    }
  }
  // Whether a value may have to do with the address of a local variable: quickly told.
  bool may_be_own(size_t value) const { return may_be_own_[value]; }
  // Of a shfl that has both as numbers in the PTX.
  std::optional<Lanes> shuffle_of(const ObjectFlow::Use& use) const {
    const Instruction& i = *use.instruction;
    if (i.opcode != "shfl" || use.sources.size() != 4 || use.results.empty()) return std::nullopt;
    const auto lane = number(i.operands[2], use.sources[1]), clamp = number(i.operands[3], use.sources[2]);
    return lane && clamp ? std::optional(Lanes{*lane, *clamp}) : std::nullopt;
  }
  Source of(size_t value) const {
    Source out;
    std::set<size_t> seen{value};
    for (std::vector<size_t> work{value}; !work.empty();) {
      const size_t v = work.back();
      work.pop_back();
      if (received_[v]) {
        out.received.push_back(v);
        continue;
      }
      if (local_[v]) {
        out.object = out.own ? std::nullopt : local_[v];
        out.own = true;
      }
      for (const size_t from : before_[v])
        if (seen.insert(from).second) work.push_back(from);
    }
    return out;
  }

 private:
  // What stands there as that source: a number, or a register into which a number was put, just before or
  // by the one instruction that ever assigns to it.
  std::optional<uint32_t> number(const Operand& operand, size_t value) const {
    if (operand.kind == OperandKind::integer) return static_cast<uint32_t>(operand.integer);
    if (!made_[value] && before_[value].size() == 1) value = before_[value][0];
    return constant_[value];
  }

  std::vector<std::vector<size_t>> before_;
  std::vector<std::optional<size_t>> local_;  // the variable whose address the value is
  std::vector<bool> received_;
  std::vector<std::optional<uint32_t>> constant_;  // the number that a mov puts there
  std::vector<bool> made_;                         // by an instruction; else all that a register ever holds
  std::vector<bool> may_be_own_;
};

LocalPointers::LocalPointers(const ObjectFlow& flow, const std::vector<Object>& places) {
  const bool locals = std::any_of(places.begin(), places.end(),
                                  [](const Object& o) { return o.space == Object::Space::local; });
  if (!locals) return;
  const Search search(flow, places);
  const bool leaves = std::any_of(flow.uses().begin(), flow.uses().end(), [&](const ObjectFlow::Use& use) {
    return (stores(use) || search.shuffle_of(use)) &&
           std::any_of(use.sources.begin(), use.sources.end(),
                       [&](size_t value) { return search.may_be_own(value); });
  });
  if (!leaves) return;
  for (const ObjectFlow::Use& use : flow.uses()) {
    if (const auto lanes = search.shuffle_of(use)) add_shuffle(use, *lanes, search);
    add_access(use, search);
  }
  std::erase_if(accesses_, [](const auto& a) {
    const Access& access = a.second;
    return access.address.received.empty() && access.stored.empty() && access.loaded.empty();
  });
}

void LocalPointers::add_shuffle(const ObjectFlow::Use& use, const Lanes& lanes, const Search& search) {
  const Instruction& i = *use.instruction;
  const auto mode = std::find_if(i.modifiers.begin(), i.modifiers.end(), [](const std::string& m) {
    return m == ".up" || m == ".down" || m == ".bfly" || m == ".idx";
  });
  if (mode == i.modifiers.end()) return;
  shuffles_[use.results[0]] = {i.at.line, (*mode)[1], lanes.lane, lanes.clamp, search.of(use.sources[0])};
}

void LocalPointers::add_access(const ObjectFlow::Use& use, const Search& search) {
  const Instruction& i = *use.instruction;
  if (use.addresses.size() != 1) return;
  const auto [at, fresh] = accesses_.try_emplace(i.at.line);
  if (!fresh) {
    at->second = {};
    return;
  }
  at->second.address = search.of(use.addresses[0]);
  if (loads(use)) at->second.loaded = use.results;
  if (stores(use))
    for (const size_t value : use.sources) at->second.stored.push_back(search.of(value));
}

uint32_t LocalPointers::Shuffle::from(uint32_t to) const {
  const uint32_t value = lane & 31, end = clamp & 31, segment = clamp >> 8 & 31;
  const uint32_t last = (to & segment) | (end & ~segment), first = to & segment;
  switch (mode) {
    case 'u': return to >= value && to - value >= last ? to - value : to;
    case 'd': return to + value <= last ? to + value : to;
    case 'b': return (to ^ value) <= last ? to ^ value : to;
    default: break;
  }
  const uint32_t at = first | (value & ~segment);
  return at <= last ? at : to;
}

}  // namespace bitwell::hazard
