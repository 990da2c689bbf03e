#include "model/hazard/flow/local_pointers.h"

#include <algorithm>
#include <set>

namespace bitwell::hazard {

using Take = isa::Use::Take;

namespace {

constexpr uint8_t kPointerBytes = 8;

// The memory of one that reaches it at one address, or nullptr.
const isa::Touch* touched_by(const ObjectFlow::Use& use) {
  if (use.what.touches.size() != 1) return nullptr;
  const isa::Touch& t = use.what.touches[0];
  return t.address == isa::Touch::kNoAddress || t.space == isa::Space::param ? nullptr : &t;
}

// Whether it loads words that are followed, each into a register.
bool loads(const ObjectFlow::Use& use) {
  const isa::Touch* t = touched_by(use);
  const auto written = std::count_if(use.what.operands.begin(), use.what.operands.end(),
                                     [](const isa::Use& operand) { return operand.written(); });
  return t != nullptr && t->gives && t->element == kPointerBytes &&
         use.results.size() == static_cast<size_t>(written);
}
// Whether what it writes are its sources; of atomics an exchange alone.
bool stores(const ObjectFlow::Use& use) {
  const isa::Touch* t = touched_by(use);
  return t != nullptr && t->takes && t->element == kPointerBytes;
}

bool guarded(const ObjectFlow::Use& use) {
  return std::any_of(use.what.operands.begin(), use.what.operands.end(),
                     [](const isa::Use& operand) { return operand.take == Take::guard; });
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
      for (const size_t made : use.results) made_[made] = true;
      if (use.what.carry != isa::Carry::copy || guarded(use) || use.results.size() != 1) continue;
      use.each_data([&](const isa::Use& operand, size_t) {
        if (operand.of == isa::Use::Of::constant)
          constant_[use.results[0]] = static_cast<uint32_t>(use.of->constant(operand));
      });
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
  // Of a shfl that has both as numbers.
  std::optional<Lanes> shuffle_of(const ObjectFlow::Use& use) const {
    if (!isa::shuffles(use.what.carry) || use.results.empty()) return std::nullopt;
    std::vector<std::optional<uint32_t>> numbers;
    use.each_data(
        [&](const isa::Use& operand, size_t value) { numbers.push_back(number(use, operand, value)); });
    return numbers[1] && numbers[2] ? std::optional(Lanes{*numbers[1], *numbers[2]}) : std::nullopt;
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
  std::optional<uint32_t> number(const ObjectFlow::Use& use, const isa::Use& operand, size_t value) const {
    if (operand.of == isa::Use::Of::constant) return static_cast<uint32_t>(use.of->constant(operand));
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
    if (!stores(use) && !search.shuffle_of(use)) return false;
    bool own = false;
    use.each_data([&](const isa::Use&, size_t value) { own = own || search.may_be_own(value); });
    return own;
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
  const char mode = use.what.carry == isa::Carry::up          ? 'u'
                    : use.what.carry == isa::Carry::down      ? 'd'
                    : use.what.carry == isa::Carry::butterfly ? 'b'
                                                              : 'i';
  shuffles_[use.results[0]] = {use.line, mode, lanes.lane, lanes.clamp, search.of(use.data()[0])};
}

void LocalPointers::add_access(const ObjectFlow::Use& use, const Search& search) {
  const isa::Touch* t = touched_by(use);
  if (t == nullptr) return;
  const auto [at, fresh] = accesses_.try_emplace(use.line);
  if (!fresh) {
    at->second = {};
    return;
  }
  at->second.address = search.of(use.values[t->address]);
  if (loads(use)) at->second.loaded.assign(use.results.begin(), use.results.end());
  if (stores(use))
    for (const size_t value : use.data()) at->second.stored.push_back(search.of(value));
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
