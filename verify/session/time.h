// How long a launch would take on a device, by the model of time.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/timing/change.h"
#include "model/timing/launches.h"
#include "verify/launch/launch.h"

namespace bitwell::session {

struct TimeQuestion {
  // Runs what is timed from its beginning, as often as it is called, and tells of each program that begins,
  // with the module and the entry that it is of.
  using Begins = std::function<void(const std::shared_ptr<const isa::Program>& program,
                                    const isa::Module& module, const std::string& entry)>;
  std::function<void(const run::Options&, const Begins&)> run;
  std::string device = "h200";
  // Clusters on a multiprocessor, one after the other, that are run; 0: all of the launch.
  uint32_t most = 8;
  // Launches of which that sample says that they execute no more instructions, all warps together, are run
  // whole: a sample does not see clusters that have more to do than others.
  double whole_up_to = 1e6;
  // Of the run that is timed; may be empty.
  std::function<machine::Observer(const timing::Launches&)> observer{};
  // Whether what would change it most is asked too: a run of the model for each kind of cost.
  bool what_if = false;
  // Whether ptxas is asked what it makes of each kernel, where there is one. Else PTX is all that is known.
  bool asks_ptxas = true;
  // Other costs than the device's table has.
  std::shared_ptr<const timing::Changed> costs{};
};

struct LaunchTime {
  timing::TimedLaunch launch;
  timing::Estimate estimate;
  std::shared_ptr<const isa::Program> program;
  std::set<int> epilogue{};  // PTX lines behind the products
};

// The model's figure where one kind of cost is another.
struct WhatIf {
  std::string_view name;   // "dram_half", for data
  std::string_view words;  // "DRAM were twice as fast"
  double us = 0;           // of all launches
};

struct TimeAnswer {
  const timing::Device* device = nullptr;
  std::vector<LaunchTime> launches;  // in order
  double us = 0, low = 0, high = 0;  // of all
  bool whole = false;                // clusters wait for one another, so that all were run
  // Why one was timed by its PTX alone though ptxas was asked; empty: none was.
  std::string why_no_code;
  // Targets of launches whose code that device does not run; what would it cost if it did is then the answer.
  std::set<std::string> foreign;
  // The one that spares most comes first.
  std::vector<WhatIf> what_if{};
};

// Throws InputError of a device without a table, naming those that have one.
void check_device(const std::string& name);
// Throws what `run` does, and InputError of a device without a table.
TimeAnswer time_of(const TimeQuestion& question);
// Of a launch, with all that follows it; where its module is there, on a device that runs its code.
TimeQuestion time_question(const launch::Launch& launch);

}  // namespace bitwell::session
