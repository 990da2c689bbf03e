#include "verify/launch/steps.h"

#include <deque>
#include <map>
#include <utility>

#include "verify/launch/names.h"

namespace bitwell::verify {
namespace {

using Arguments = std::vector<std::vector<std::byte>>;

// The modules of a launch and its steps, each at a place of its own.
class Modules {
 public:
  Modules(const Launch& launch, machine::Region& constants, machine::Memory& memory)
      : memory_(memory), approximate_(launch.approximate) {
    places_[launch.ptx] = {};
    constants_[launch.ptx] = &constants;
  }
  // The entry of a step's launch, its module in memory.
  std::shared_ptr<const isa::Program> program(const Step& s, const Arguments& arguments) {
    const bool fresh = places_.try_emplace(s.ptx, memory_.next_module()).second;
    auto program =
        std::make_shared<const isa::Program>(load_program(s.ptx, s.entry, approximate_, places_[s.ptx]));
    isa::check_launch(*program, s.shape, arguments);
    if (fresh)
      constants_[s.ptx] = &own_.emplace(s.ptx, isa::place_variables(*program, memory_)).first->second;
    return program;
  }
  machine::Region& constants(const Step& s) { return *constants_[s.ptx]; }

 private:
  machine::Memory& memory_;
  isa::Approximate approximate_;
  std::map<std::string, machine::ModulePlace> places_;  // by path
  std::map<std::string, machine::Region*> constants_;
  std::map<std::string, machine::Region> own_;
};

void copy(const Step::Copy& c, const Launch& launch, const Placed& placed, machine::Memory& memory) {
  std::vector<std::byte> bytes(c.bytes);
  const uint64_t from = placed.addresses()[c.from] + c.from_offset;
  const machine::Region* region = memory.find(from, c.bytes);
  if (region == nullptr || !region->is_defined(from - region->base(), c.bytes))
    throw machine::Fault("a copy of " + std::to_string(c.bytes) + " bytes from '" +
                         launch.buffers[c.from].name + "' + " + std::to_string(c.from_offset) +
                         ", of which some were never written");
  memory.read(from, bytes);
  memory.write(placed.addresses()[c.to] + c.to_offset, bytes);
}

// Launches in flight together, with what they refer to.
class Flight {
 public:
  explicit Flight(const Launch& launch) : first_ptx_(launch.ptx), of_list_(count_launches(launch)) {}
  void add(std::shared_ptr<const isa::Program> program, machine::Region& constants, const isa::Shape& shape,
           Arguments arguments, const Step* step) {
    arguments_.push_back(std::move(arguments));
    chain_.push_back({*program, constants, shape, arguments_.back()});
    of_.emplace_back(std::move(program), step);
  }
  // Together, or one by one where each is told of. Leaves none. Of a list, a Fault and a note say which it
  // was.
  std::vector<isa::RunResult> run(machine::Memory& memory, const isa::Options& options,
                                  const Beginning& beginning) {
    std::vector<isa::RunResult> out;
    if (beginning == nullptr) out = run(0, chain_.size(), memory, options);
    for (size_t i = 0; beginning != nullptr && i < chain_.size(); ++i) {
      beginning(of_[i].first, of_[i].second);
      out.push_back(std::move(run(i, i + 1, memory, options).front()));
    }
    ended_ += chain_.size();
    chain_.clear();
    of_.clear();
    arguments_.clear();
    return out;
  }

 private:
  // Those from `begin` to `end`, together.
  std::vector<isa::RunResult> run(size_t begin, size_t end, machine::Memory& memory,
                                  const isa::Options& options) const {
    if (begin == end) return {};
    try {
      const auto at = [&](size_t i) { return chain_.begin() + static_cast<std::ptrdiff_t>(i); };
      std::vector<isa::RunResult> out = isa::run_chain({at(begin), at(end)}, memory, options);
      for (size_t i = begin; i < end && of_list_ != 1; ++i)
        for (isa::Note& note : out[i - begin].notes) note.text += ", in launch " + named(i);
      return out;
    } catch (const machine::Fault& fault) {
      if (of_list_ == 1) throw;
      std::string names;
      for (size_t i = begin; i < end; ++i) names += (i == begin ? "\n  in launch " : ", or ") + named(i);
      throw machine::Fault(fault, fault.what() + names);
    }
  }
  // "2 of 3, 'add' of add.ptx"
  std::string named(size_t i) const {
    const auto& [program, step] = of_[i];
    return std::to_string(ended_ + i + 1) + " of " + std::to_string(of_list_) + ", '" +
           program->functions[static_cast<size_t>(program->entry)].name + "' of " +
           (step == nullptr ? first_ptx_ : step->ptx);
  }
  std::string first_ptx_;
  size_t of_list_;    // launches in all
  size_t ended_ = 0;  // of them
  std::deque<Arguments> arguments_;
  std::vector<isa::ChainedLaunch> chain_;
  std::vector<std::pair<std::shared_ptr<const isa::Program>, const Step*>> of_;
};

void add(const std::vector<isa::RunResult>& from, isa::RunResult& result) {
  for (const isa::RunResult& one : from) {
    result.lane_instructions += one.lane_instructions;
    result.warp_instructions += one.warp_instructions;
    result.notes.insert(result.notes.end(), one.notes.begin(), one.notes.end());
  }
}

}  // namespace

std::vector<isa::Program> load_steps(Launch& launch) {
  std::vector<isa::Program> out;
  for (Step& s : launch.then) {
    if (s.copy || s.fill) continue;
    out.push_back(load_program(s.ptx, s.entry, launch.approximate));
    s.entry = out.back().functions[static_cast<size_t>(out.back().entry)].name;
  }
  return out;
}

isa::RunResult run_steps(const isa::Program& program, const Launch& launch, const Placed& placed,
                         machine::Memory& memory, machine::Region& constants, const isa::Options& options,
                         const Beginning& beginning) {
  Modules modules(launch, constants, memory);
  const std::vector<Step>& steps = launch.then;
  isa::RunResult result;
  bool is_first = true;
  Flight flight(launch);
  const std::shared_ptr<const isa::Program> first(std::shared_ptr<const void>(), &program);  // the caller's
  flight.add(first, constants, launch.shape, placed.arguments(launch.arguments), nullptr);
  const auto chained = [&](const Step& s) {
    Arguments arguments = placed.arguments(s.arguments);
    std::shared_ptr<const isa::Program> of_step = modules.program(s, arguments);
    flight.add(std::move(of_step), modules.constants(s), s.shape, std::move(arguments), &s);
  };
  for (size_t i = 0;; ++i) {
    for (; i < steps.size() && steps[i].programmatic; ++i) chained(steps[i]);
    const std::vector<isa::RunResult> ran = flight.run(memory, options, beginning);
    if (std::exchange(is_first, false)) result.footprint = ran.front().footprint;
    add(ran, result);
    if (i == steps.size()) return result;
    if (steps[i].copy)
      copy(*steps[i].copy, launch, placed, memory);
    else if (const auto& fill = steps[i].fill; fill)
      memory.write(placed.addresses()[fill->buffer] + fill->offset,
                   std::vector<std::byte>(fill->bytes, fill->value));
    else
      chained(steps[i]);
  }
}

}  // namespace bitwell::verify
