#include "model/hazard/flow/objects.h"

#include <algorithm>
#include <utility>

#include "model/hazard/flow/local_pointers.h"
#include "model/hazard/flow/object_flow.h"
#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

namespace {

// The value of the one address at which it reads, or writes, memory that holds data; none: there are several,
// or it is not an operand.
std::optional<size_t> address_of(const ObjectFlow::Use& use, bool isa::Touch::*does) {
  std::optional<size_t> out;
  size_t count = 0;
  for (const isa::Touch& t : use.what.touches) {
    if (t.barrier || !(t.*does)) continue;
    ++count;
    if (t.address != isa::Touch::kNoAddress) out = use.values[t.address];
  }
  return count == 1 ? out : std::nullopt;
}

}  // namespace

bool Object::holds(uint64_t at, uint64_t bytes) const {
  const auto in = [&](uint64_t first) { return at >= first && (size == 0 || at + bytes <= first + size); };
  return in(offset) || std::any_of(elsewhere.begin(), elsewhere.end(), in);
}

ObjectPlace object_place(uint64_t generic) {
  if (const uint64_t at = generic - machine::kSharedWindow; at < machine::kWindowSize)
    return {Object::Space::shared, at & ((uint64_t{1} << machine::kRankShift) - 1)};
  if (const uint64_t at = generic - machine::kLocalWindow; at < machine::kWindowSize)
    return {Object::Space::local, at};
  const bool constant = generic - machine::kConstWindow < machine::kWindowSize;
  return {constant ? Object::Space::constant : Object::Space::global, generic};
}

void Objects::find_heap_calls(const isa::Program& program) {
  for (const isa::Function& f : program.functions)
    for (size_t i = 0; i < f.uses.size(); ++i) {
      const isa::Act act = f.uses.at(i).act;
      if (act != isa::Act::allocates && act != isa::Act::frees) continue;
      const auto line = static_cast<size_t>(f.lines[i].ptx);
      if (heap_.size() <= line) heap_.resize(line + 1);
      heap_[line] = act == isa::Act::frees ? Heap::free : Heap::malloc;
    }
}

Objects::Objects(const isa::Program& program, std::vector<Object> places) : places_(std::move(places)) {
  find_heap_calls(program);
  std::vector<std::string> names;
  for (const Object& o : places_) names.push_back(o.name);
  const ObjectFlow flow(program, names);
  local_pointers_ = std::make_shared<const LocalPointers>(flow, places_);
  const auto put = [](ByLine& lines, int line, std::optional<size_t> object) {
    if (lines.size() <= static_cast<size_t>(line)) lines.resize(static_cast<size_t>(line) + 1);
    lines[static_cast<size_t>(line)] = object;
  };
  int last = 0;
  for (const ObjectFlow::Use& use : flow.uses()) {
    const auto read = address_of(use, &isa::Touch::reads), written = address_of(use, &isa::Touch::writes);
    if (!read && !written) continue;
    const bool again = use.line == std::exchange(last, use.line);  // two instructions of a line
    put(reads_, use.line, read && !again ? flow.object_of(*read) : std::nullopt);
    put(writes_, use.line, written && !again ? flow.object_of(*written) : std::nullopt);
  }
  none_elsewhere_ = local_pointers_->none();
  nothing_.resize(std::max({reads_.size(), writes_.size(), heap_.size()}));
  const auto asks = [](const Object* object) { return object != nullptr && !object->holds_everything(); };
  for (size_t i = 0; i < nothing_.size(); ++i) {
    const int line = static_cast<int>(i);
    nothing_[i] = static_cast<uint8_t>(none_elsewhere_ && !asks(read_at(line)) && !asks(written_at(line)) &&
                                       heap_at(line) == Heap::none);
  }
}

}  // namespace bitwell::hazard
