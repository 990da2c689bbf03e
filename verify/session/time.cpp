#include "verify/session/time.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "model/timing/loops.h"
#include "verify/contraction/ptxas.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/modules.h"

namespace bitwell::session {

namespace {

const timing::Device& table_of(const std::string& name) {
  if (const timing::Device* const found = timing::device(name); found != nullptr) return *found;
  std::string all;
  for (const timing::Device& d : timing::devices()) all += (all.empty() ? "" : ", ") + std::string(d.name);
  throw machine::InputError("there is no table of costs of '" + name + "'; there is one of " + all);
}

// What ptxas makes of a kernel, or why that is not known.
struct Made {
  std::shared_ptr<const timing::MachineCode> code;
  std::string why_not;
};

// Each is asked for once, for any number of threads: many questions are of one kernel.
Made made_of(const isa::Module& module, const std::string& entry, int sm) {
  static std::mutex mutex;
  static std::map<std::tuple<size_t, size_t, std::string, int>, Made> all;
  const std::string& text = module.text();
  const std::tuple key(text.size(), std::hash<std::string>()(text), launch::entry_of(module, entry), sm);
  {
    const std::lock_guard lock(mutex);
    if (const auto known = all.find(key); known != all.end()) return known->second;
  }
  Made out;
  try {
    contraction::Assembly made = contraction::assembly_by_ptxas(text, std::get<2>(key), sm);
    const auto code = std::make_shared<timing::MachineCode>();
    code->by = "ptxas " + made.version + " for " + made.target;
    for (const auto& [line, opcodes] : made.lines)
      for (const auto& [opcode, count] : opcodes) code->lines[line][opcode] = {count.times, count.stalls};
    code->waits = std::move(made.waits);
    code->registers = made.registers;
    out.code = code;
  } catch (const machine::InputError& e) {
    out.why_not = e.what();
  }
  const std::lock_guard lock(mutex);
  return all.try_emplace(key, out).first->second;
}

struct Timed {
  std::vector<timing::TimedLaunch> launches;
  std::vector<timing::Shares> shares;
  std::vector<std::shared_ptr<const isa::Program>> programs;
  std::string why_no_code;
};

// How it is run: all but `most` of timing::Launches.
struct How {
  std::vector<timing::Shares> shares{};
  bool observed = false, at_neighbours = false;
  std::vector<std::set<int>> shortened{};
};

Timed run_once(const TimeQuestion& question, const timing::Device& device, uint32_t most, const How& how) {
  timing::Launches clocks(device, most, how.shares);
  clocks.shorten(how.shortened);
  if (how.at_neighbours) clocks.look_at_neighbours();
  Timed out;
  run::Options options;
  options.checked = false;
  options.chooser = &clocks;
  if (how.observed && question.observer) options.observers.push_back(question.observer(clocks));
  question.run(options, [&](const std::shared_ptr<const isa::Program>& program, const isa::Module& module,
                            const std::string& entry) {
    if (question.asks_ptxas) {
      Made made = made_of(module, entry, device.sm);
      clocks.set_code(std::move(made.code));
      if (!made.why_not.empty()) out.why_no_code = made.why_not;
    }
    out.programs.push_back(program);
  });
  out.launches = clocks.timed();
  out.shares = clocks.shares();
  return out;
}

// What neighbours read together, where launches of which not all is run wait for L2.
void ask_neighbours(const TimeQuestion& question, const timing::Device& device, uint32_t most,
                    const Timed& first, std::vector<timing::Shares>& shares) {
  constexpr double kBusy = 0.25;
  const bool waits = std::any_of(first.launches.begin(), first.launches.end(),
                                 [](const timing::TimedLaunch& l) { return l.sampled && l.seen.l2 > kBusy; });
  if (!waits || device.values()[static_cast<size_t>(timing::Key::l2_own)] == 0) return;
  std::vector<timing::Shares> together;
  try {
    together = run_once(question, device, most, {.shares = shares, .at_neighbours = true}).shares;
  } catch (const machine::Fault&) {
    return;  // they wait for clusters that have not begun
  }
  for (size_t i = 0; i < std::min(shares.size(), together.size()); ++i)
    for (auto& [base, share] : shares[i])
      if (const auto its = together[i].find(base); its != together[i].end()) share.l2 = its->second.l2;
}

struct Kind {
  std::string_view name, words;
  timing::Part part;
  double factor;
};
constexpr Kind kKinds[] = {
    {"dram_half", "DRAM were twice as fast", timing::Part::dram, 0.5},
    {"l2_half", "L2 were twice as fast", timing::Part::l2, 0.5},
    {"latency_half", "loads and copies took half as long to come", timing::Part::latency, 0.5},
    {"tensor_half", "the tensor cores were twice as fast", timing::Part::tensor, 0.5},
    {"arithmetic_half", "arithmetic took half", timing::Part::arithmetic, 0.5},
    {"beside_free", "products slowed down no arithmetic beside them", timing::Part::beside, 0},
    {"barriers_free", "barriers, fences and waits cost nothing themselves", timing::Part::barriers, 0},
    {"launch_free", "launching cost nothing", timing::Part::launch, 0},
};

// Instructions that all clusters of all launches execute, if the others are like those that were run.
double instructions(const Timed& timed) {
  double out = 0;
  for (const timing::TimedLaunch& l : timed.launches) {
    double issued = 0;
    for (const double cycles : l.seen.issue_by_source) issued += cycles;
    out += issued * static_cast<double>(l.clusters) /
           static_cast<double>(std::max<size_t>(l.seen.ends.size(), 1));
  }
  return out;
}

double sum_of(const timing::Device& device, const Timed& timed) {
  double us = 0;
  for (const timing::TimedLaunch& l : timed.launches) us += timing::estimate(device, l).us;
  return us;
}

std::vector<WhatIf> what_if(const TimeQuestion& question, const timing::Device& device, uint32_t most,
                            const std::vector<timing::Shares>& shares, const TimeAnswer& so_far) {
  std::vector<WhatIf> out;
  bool multiplies = false, has_epilogue = false;
  std::vector<std::set<int>> epilogue;
  for (const LaunchTime& l : so_far.launches) {
    multiplies = multiplies || l.launch.seen.tensor > 0;
    has_epilogue = has_epilogue || !l.epilogue.empty();
    epilogue.push_back(l.epilogue);
  }
  for (const Kind& k : kKinds) {
    if ((k.part == timing::Part::tensor || k.part == timing::Part::beside) && !multiplies) continue;
    if (k.part == timing::Part::beside && !timing::is_of(timing::Key::wgmma_beside, device.sm)) continue;
    const timing::Changed changed(device, k.part, k.factor);
    out.push_back({k.name, k.words,
                   sum_of(changed.device(), run_once(question, changed.device(), most, {.shares = shares}))});
  }
  if (has_epilogue)
    out.push_back(
        {"epilogue_half", "the instructions of the epilogue took half",
         sum_of(device, run_once(question, device, most, {.shares = shares, .shortened = epilogue}))});
  std::stable_sort(out.begin(), out.end(), [](const WhatIf& a, const WhatIf& b) { return a.us < b.us; });
  return out;
}

}  // namespace

void check_device(const std::string& name) { table_of(name); }

TimeQuestion time_question(const launch::Launch& launch) {
  TimeQuestion out;
  if (launch.module != nullptr) out.device = timing::device_for(launch.module->heads().target).name;
  const auto modules = std::make_shared<launch::Modules>();
  out.run = [&launch, modules](const run::Options& options, const TimeQuestion::Begins& begins) {
    launch::simulate(launch, options, false,
                     [&](const std::shared_ptr<const isa::Program>& program, const launch::Step* step,
                         const machine::Memory*) {
                       if (step == nullptr)
                         begins(program, *(*modules)(launch), launch.entry);
                       else
                         begins(program, step->module != nullptr ? *step->module : *modules->of(step->ptx),
                                step->entry);
                     });
  };
  return out;
}

TimeAnswer time_of(const TimeQuestion& question) {
  const timing::Device& device = question.costs ? question.costs->device() : table_of(question.device);
  TimeAnswer out;
  out.device = &device;
  // First what is asked of memory, then when it comes.
  std::vector<timing::Shares> shares;
  uint32_t most = question.most;
  const auto twice = [&] {
    Timed first = run_once(question, device, most, {});
    shares = std::move(first.shares);
    // Where all of one launch is run, it is seen who is the first to ask for a line.
    if (most == 0 && first.launches.size() == 1 && !question.observer) return first;
    if (instructions(first) <= question.whole_up_to) most = 0;
    if (most != 0) ask_neighbours(question, device, most, first, shares);
    return run_once(question, device, most, {.shares = shares, .observed = true});
  };
  Timed timed;
  try {
    timed = twice();
  } catch (const machine::Fault&) {
    // Clusters that wait for others come to no end without them.
    if (most == 0) throw;
    most = 0;
    timed = twice();
    out.whole = true;
  }
  for (size_t i = 0; i < timed.launches.size(); ++i) {
    const timing::Estimate e = timing::estimate(device, timed.launches[i]);
    if (const std::string& target = timed.programs.at(i)->target; !timing::runs(device, target))
      out.foreign.insert(target);
    out.us += e.us;
    out.low += e.low;
    out.high += e.high;
    out.launches.push_back(
        {std::move(timed.launches[i]), e, timed.programs.at(i), timing::epilogue_of(*timed.programs.at(i))});
  }
  out.why_no_code = std::move(timed.why_no_code);
  if (question.what_if) out.what_if = what_if(question, device, most, shares, out);
  return out;
}

}  // namespace bitwell::session
