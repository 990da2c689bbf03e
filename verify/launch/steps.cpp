#include "verify/launch/steps.h"

#include <map>
#include <span>
#include <utility>

#include "verify/launch/entry_text.h"

namespace bitwell::launch {
namespace {

// The modules of a launch and its steps, each loaded once.
class Handles {
 public:
  Handles(const Launch& launch, isa::ModuleHandle first, isa::Context& context, Modules& files)
      : context_(context),
        files_(files),
        approximate_(launch.approximate),
        first_path_(launch.ptx),
        first_(context.module(first)) {
    handles_[first_->own()] = first;
  }
  // The entry of a step's launch.
  EntryOf of(const Step& s) {
    std::shared_ptr<const isa::Module> module = s.module;
    if (module == nullptr) module = s.ptx == first_path_ ? first_ : files_.of(s.ptx);
    std::string entry = entry_of(*module, s.entry);
    const auto at = handles_.find(module->own());
    if (at != handles_.end()) return {at->second, std::move(entry)};
    return {handles_[module->own()] = context_.load(module, approximate_), std::move(entry)};
  }

 private:
  isa::Context& context_;
  Modules& files_;
  isa::Approximate approximate_;
  std::string first_path_;
  std::shared_ptr<const isa::Module> first_;
  std::map<const isa::Module*, isa::ModuleHandle> handles_;
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
  Flight(const Launch& launch, isa::Context& context)
      : context_(context), first_ptx_(launch.ptx), of_list_(count_launches(launch)) {}
  // Refuses what run::check_launch does.
  void add(const EntryOf& entry, const run::Shape& shape, std::vector<std::vector<std::byte>> arguments,
           const Step* step) {
    run::check_launch(*context_.program(entry.module, entry.entry), shape, arguments);
    chain_.push_back({entry.module, entry.entry, shape, as_given(std::move(arguments))});
    of_.push_back(step);
  }
  // Together, or one by one where each is told of. Leaves none. Of a list, a Fault and a note say which it
  // was.
  std::vector<run::RunResult> run(const run::Options& options, const Beginning& beginning) {
    std::vector<run::RunResult> out;
    if (beginning == nullptr) out = run(0, chain_.size(), options);
    for (size_t i = 0; beginning != nullptr && i < chain_.size(); ++i) {
      beginning(context_.program(chain_[i].module, chain_[i].entry), of_[i], &context_.memory());
      out.push_back(std::move(run(i, i + 1, options).front()));
    }
    ended_ += chain_.size();
    chain_.clear();
    of_.clear();
    return out;
  }

 private:
  // Those from `begin` to `end`, together.
  std::vector<run::RunResult> run(size_t begin, size_t end, const run::Options& options) const {
    if (begin == end) return {};
    try {
      std::vector<run::RunResult> out =
          context_.launch(std::span(chain_).subspan(begin, end - begin), options);
      for (size_t i = begin; i < end && of_list_ != 1; ++i)
        for (run::Note& note : out[i - begin].notes) note.text += ", in launch " + named(i);
      return out;
    } catch (const isa::CallbackError& e) {
      std::rethrow_exception(e.cause);  // as it is: callbacks are the caller's
    } catch (const machine::Fault& fault) {
      if (of_list_ == 1) throw;
      std::string names;
      for (size_t i = begin; i < end; ++i) names += (i == begin ? "\n  in launch " : ", or ") + named(i);
      throw machine::Fault(fault, fault.what() + names);
    }
  }
  // "2 of 3, 'add' of add.ptx"
  std::string named(size_t i) const {
    return std::to_string(ended_ + i + 1) + " of " + std::to_string(of_list_) + ", '" + chain_[i].entry +
           "' of " + (of_[i] == nullptr ? first_ptx_ : of_[i]->ptx);
  }
  isa::Context& context_;
  std::string first_ptx_;
  size_t of_list_;    // launches in all
  size_t ended_ = 0;  // of them
  std::vector<isa::KernelLaunch> chain_;
  std::vector<const Step*> of_;  // by launch
};

void add(const std::vector<run::RunResult>& from, run::RunResult& result) {
  for (const run::RunResult& one : from) {
    result.lane_instructions += one.lane_instructions;
    result.warp_instructions += one.warp_instructions;
    result.notes.insert(result.notes.end(), one.notes.begin(), one.notes.end());
  }
}

}  // namespace

std::vector<std::shared_ptr<const isa::Program>> load_steps(Launch& launch) {
  std::vector<std::shared_ptr<const isa::Program>> out;
  for (Step& s : launch.then) {
    if (s.copy || s.fill) continue;
    const std::shared_ptr<const isa::Module> module =
        s.module != nullptr ? s.module : load_module(s.ptx, s.entry);
    s.entry = entry_of(*module, s.entry);
    out.push_back(module->program(s.entry, launch.approximate));
  }
  return out;
}

run::RunResult run_steps(const EntryOf& first, const Launch& launch, const Placed& placed,
                         isa::Context& context, Modules& files, const run::Options& options,
                         const Beginning& beginning) {
  Handles handles(launch, first.module, context, files);
  const std::vector<Step>& steps = launch.then;
  run::RunResult result;
  bool is_first = true;
  Flight flight(launch, context);
  flight.add(first, launch.shape, placed.arguments(launch.arguments), nullptr);
  const auto chained = [&](const Step& s) {
    flight.add(handles.of(s), s.shape, placed.arguments(s.arguments), &s);
  };
  for (size_t i = 0;; ++i) {
    for (; i < steps.size() && steps[i].programmatic; ++i) chained(steps[i]);
    const std::vector<run::RunResult> ran = flight.run(options, beginning);
    if (std::exchange(is_first, false)) {
      result.footprint = ran.front().footprint;
      result.host = ran.front().host;
    }
    add(ran, result);
    if (i == steps.size()) return result;
    if (steps[i].copy)
      copy(*steps[i].copy, launch, placed, context.memory());
    else if (const auto& fill = steps[i].fill; fill)
      context.write({placed.addresses()[fill->buffer], 0, 0},
                    std::vector<std::byte>(fill->bytes, fill->value), fill->offset);
    else
      chained(steps[i]);
  }
}

}  // namespace bitwell::launch
