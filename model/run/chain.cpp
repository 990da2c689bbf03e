// Launches that run: one, or several of a stream in flight together.
#include <algorithm>
#include <cstring>
#include <deque>

#include "model/run/parallel/side_by_side.h"
#include "model/run/stops.h"
#include "model/run/turns/residency.h"
#include "model/run/turns/residents.h"
#include "model/run/watch/follow.h"

namespace bitwell::run {

using machine::InputError;

namespace {

// Clusters that are resident at once, and what that number rests on. Refuses a cooperative launch that has
// more.
Room room_for(const isa::Program& program, const Shape& shape, const Options& options) {
  const Residency held = residency(program, shape);
  const uint64_t most = options.residents.value_or(std::max<uint64_t>(held.room, 1));
  const std::string rests_on = options.residents ? "as asked for" : "limited by " + held.rests_on;
  if (!shape.cooperative || held.all <= most) return {most, rests_on};
  const uint64_t size = shape.ctas_a_cluster();
  throw InputError("entry '" + program.functions[static_cast<size_t>(program.entry)].name +
                   "': a cooperative launch of " + std::to_string(held.all * size) + " CTAs, of which " +
                   std::to_string(most * size) + " are resident at once" +
                   (options.residents ? "" : " at most") + " (" + rests_on + "): a driver refuses it too");
}

// The parameter block of a launch.
machine::Region parameters_of(const ChainedLaunch& launch) {
  const isa::Program& program = launch.program;
  machine::Region out("the parameter block", 0, program.parameter_size, true);
  out.read_only = true;
  const isa::Function& entry = program.functions[static_cast<size_t>(program.entry)];
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    std::memcpy(out.raw_bytes() + entry.params[i].offset, launch.arguments[i].data(),
                launch.arguments[i].size());
  return out;
}

// What a driver gives a cooperative grid: a size and the barrier of grid.sync(), both words of 4 bytes, at
// the address that %envreg1 and 2 hold (CUDA 13.0, cooperative_groups/details/driver_abi.h).
class Workspace {
 public:
  Workspace(Shape& shape, machine::Memory& memory) : memory_(memory) {
    auto& registers = shape.environment;
    if (!shape.cooperative || registers[1] != 0 || registers[2] != 0) return;
    machine::Region& region = memory.allocate("the cooperative grid's workspace", 8);
    region.mark_all_defined();
    address_ = region.base();
    registers[1] = static_cast<uint32_t>(address_ >> 32);
    registers[2] = static_cast<uint32_t>(address_);
  }
  ~Workspace() {
    if (address_ != 0) memory_.free(address_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

 private:
  machine::Memory& memory_;
  uint64_t address_ = 0;
};

}  // namespace

std::vector<RunResult> run_chain(const std::vector<ChainedLaunch>& launches, machine::Memory& memory,
                                 const Options& options) {
  const auto watches = [](const machine::Observer& o) { return o.accesses; };
  if (launches.size() > 1 && std::any_of(options.observers.begin(), options.observers.end(), watches))
    throw machine::Unsupported("watching the accesses of launches that are in flight together");
  if (launches.size() > 1 && options.chooser != nullptr)
    throw machine::Unsupported("choosing the turns of launches that are in flight together");
  if (launches.size() > 1 && options.follow != nullptr)
    throw machine::Unsupported("following what is read in launches that are in flight together");
  if (options.follow != nullptr) options.follow->begin(memory);
  Flight flight;
  std::deque<Workspace> workspaces;
  std::deque<Grid> grids;
  std::vector<InFlight> in_flight;
  for (const ChainedLaunch& l : launches) {
    check_launch(l.program, l.shape, l.arguments);
    Shape shape = full_shape(l.program, l.shape);
    workspaces.emplace_back(shape, memory);
    const Room room = room_for(l.program, shape, options);
    const size_t number = grids.size();
    grids.push_back({l.program, shape, options, memory, l.constants, parameters_of(l), flight, number,
                     number == 0 ? nullptr : &grids.back(), number + 1 != launches.size(),
                     stops(l.program, options.observers)});
    in_flight.push_back({grids.back(), room, 0});
  }
  Grid& first = grids.front();
  Residents residents(std::move(in_flight));
  // Told apart, clusters are so on one thread too: the same is then found on any number of them.
  const bool apart = options.observers.size() == 1 && apart_of(options.observers.front()) != nullptr;
  if (launches.size() > 1 || (options.threads < 2 && !apart) || first.ctas() == first.shape.ctas_a_cluster())
    return residents.run();
  const Unordered unordered = unordered_atomics(first.program);
  RunResult beside;
  beside.host.why_not_all = why_in_order(first.program, first.shape, options, unordered);
  if (beside.host.why_not_all.empty()) beside = SideBySide(first, options.threads, unordered).run();
  const uint64_t clusters = beside.host.clusters;
  if (options.threads < 2) beside.host = {};
  residents.begin_behind(clusters, std::move(beside));
  return residents.run();
}

RunResult run(const isa::Program& program, machine::Region& constants, const Shape& shape,
              const std::vector<std::vector<std::byte>>& arguments, machine::Memory& memory,
              const Options& options) {
  return std::move(run_chain({{program, constants, shape, arguments}}, memory, options).front());
}

}  // namespace bitwell::run
