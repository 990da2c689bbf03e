#include "verify/driver/core/launches.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "model/machine/limits.h"
#include "model/strict_json/write.h"
#include "verify/driver/core/not_run.h"
#include "verify/driver/core/parameters.h"
#include "verify/driver/core/recorder.h"
#include "verify/driver/core/sanitizer_words.h"
#include "verify/driver/core/sizes.h"
#include "verify/driver/core/state.h"
#include "verify/driver/core/work.h"
#include "verify/findings/baseline.h"
#include "verify/launch/file/names.h"
#include "verify/launch/start.h"
#include "verify/session/fault.h"
#include "verify/session/findings.h"
#include "verify/session/source_lines.h"
#include "verify/session/words.h"

namespace bitwell::driver {
namespace {

using Ordered = nlohmann::ordered_json;

// With the C++ names in it, long ones without their arguments unless all is asked for.
std::string words_of(std::string_view text) {
  return state().asked.verbose ? launch::as_written(text) : launch::shortened(text);
}

// What the device's driver says of it from then on.
CUresult lost_by(const machine::Fault& fault) {
  const FaultKind kind = kind_of(fault);
  if (kind == FaultKind::assertion) return CUDA_ERROR_ASSERT;
  if (kind == FaultKind::misaligned) return CUDA_ERROR_MISALIGNED_ADDRESS;
  if (fault.access && kind == FaultKind::out_of_bounds)
    return fault.access->space == "global" || fault.access->space == "generic" ? CUDA_ERROR_ILLEGAL_ADDRESS
                                                                               : CUDA_ERROR_LAUNCH_FAILED;
  return CUDA_ERROR_LAUNCH_FAILED;
}

// What the command's table has of a launch, by what it came to.
std::string verdict(const session::Answer& answer, const session::Findings& findings, bool failed) {
  if (answer.fault) return "fault";
  if (answer.parting) return "schedules differ";
  if (failed) return fmt::format("{} found by --races", findings.errors + findings.notes);
  const size_t notes = answer.result.notes.size() + findings.notes;
  return notes == 0 ? "held" : fmt::format("held, {} note{}", notes, notes == 1 ? "" : "s");
}

}  // namespace

Launches::Launches(State& state)
    : state_(state),
      recorder_(state.asked.record.empty() ? nullptr : std::make_unique<Recorder>(state.asked)),
      known_(state.asked.baseline.empty() ? findings::Baseline{}
                                          : findings::read_baseline(state.asked.baseline)) {}
Launches::~Launches() = default;

// A launch asks for it first: one of instructions that bitwell has not ends here.
const isa::Program& Launches::program(Kernel& kernel) {
  try {
    return state_.modules.program(kernel);
  } catch (const std::exception&) {
    fail(kernel.name, std::current_exception());
  }
}

std::vector<std::vector<std::byte>> Launches::arguments(Kernel& kernel, void* const* parameters) {
  return parameters_of(program(kernel), kernel.name, parameters);
}

std::vector<std::vector<std::byte>> Launches::arguments(Kernel& kernel, std::span<const std::byte> buffer) {
  return parameters_of(program(kernel), kernel.name, buffer);
}

void Launches::check(const Wanted& w) {
  const std::string kernel = "kernel " + words_of(w.kernel->name);
  if (w.kernel->module == nullptr)
    throw Refused(CUDA_ERROR_INVALID_HANDLE, kernel + " is of a module that was unloaded");
  const run::Shape& s = w.shape;
  check_size(w, CUDA_ERROR_INVALID_VALUE);
  if (s.dynamic_shared > w.kernel->dynamic_shared)
    throw Mistake(CUDA_ERROR_INVALID_VALUE,
                  kernel + " is to have " + std::to_string(s.dynamic_shared) +
                      " bytes of dynamic shared memory, cudaFuncSetAttribute has allowed it " +
                      std::to_string(w.kernel->dynamic_shared));
  const uint32_t most = most_in_cluster(state_, *w.kernel);
  const uint64_t cluster = volume(s.cluster);
  if (s.explicit_cluster && cluster > most)
    throw Mistake(
        CUDA_ERROR_INVALID_CLUSTER_SIZE,
        kernel + " is to have clusters of " + std::to_string(cluster) + " CTAs, it may have " +
            std::to_string(most) +
            (w.kernel->non_portable_cluster ? ""
                                            : " without cudaFuncAttributeNonPortableClusterSizeAllowed"));
  if (s.cooperative) {
    const int each = resident(state_.device(), static_cast<int>(volume(s.block)),
                              s.dynamic_shared + state_.modules.program(*w.kernel).shared_size);
    if (volume(s.grid) > uint64_t{state_.device().size.sms} * static_cast<uint64_t>(each))
      throw Mistake(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                    kernel + " is launched as a cooperative grid of more CTAs than are resident at once");
  }
}

void Launches::check_size(const Wanted& w, CUresult error) {
  const run::Shape& s = w.shape;
  std::string limit;
  if (volume(s.block) > machine::kMaxThreads)
    limit = "a CTA has at most " + std::to_string(machine::kMaxThreads) + " threads";
  for (size_t d = 0; d < 3; ++d) {
    if (s.block[d] > machine::kMaxBlock[d])
      limit = "a CTA has at most " + machine::triple(machine::kMaxBlock) + " threads, " +
              std::to_string(machine::kMaxThreads) + " in all";
    if (s.grid[d] > machine::kMaxGrid[d])
      limit = "a grid has at most " + machine::triple(machine::kMaxGrid) + " CTAs";
  }
  if (volume(s.grid) == 0 || volume(s.block) == 0) limit = "neither may be empty";
  if (!limit.empty())
    throw Mistake(error, "kernel " + words_of(w.kernel->name) + " is launched as a grid of " +
                             machine::triple(s.grid) + " CTAs of " + machine::triple(s.block) +
                             " threads: " + limit);
}

void Launches::mistake(const std::string& call, const Mistake& what) {
  const std::string text = call + ": " + what.what();
  error("bitwell: " + text + "\n", sanitizer_mistake(call, what));
  if (is_judged(state_.asked)) state_.tell(strict_json::dumped(Ordered{{"mistake", text}}));
}

session::Judging Launches::judging(bool judged, const Wanted& wanted) const {
  const Asked& a = state_.asked;
  session::Judging how;
  how.programmatic = wanted.programmatic;
  how.options.print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  if (a.step_limit != 0) how.options.step_limit = a.step_limit;
  if (a.resident != 0) how.options.residents = a.resident;
  // The program's own threads, and its neighbours, have cores too.
  constexpr unsigned most_unasked = 4;
  how.options.threads = a.threads != 0 ? static_cast<unsigned>(a.threads)
                                       : std::clamp(std::thread::hardware_concurrency(), 1u, most_unasked);
  how.options.checked = judged && !a.unchecked;
  if (!judged) return how;
  how.options.strict = a.strict;
  how.options.schedule.seed = a.seed;
  how.schedule = a.schedule;
  how.schedules = a.schedules == 0 ? 1 : a.schedules;
  how.races = a.races;
  how.once = a.once;
  how.explain = a.explain;
  return how;
}

void Launches::put(const std::string& text) {
  if (state_.asked.log.empty()) {
    std::fflush(stdout);
    std::fputs(text.c_str(), stderr);
    return;
  }
  append(state_.asked.log, text);
}

void Launches::error(const std::string& native, const std::string& sanitizer) {
  const uint64_t limit = state_.asked.print_limit;
  ++errors_;
  if (limit != 0 && errors_ > limit) {
    if (errors_ == limit + 1)
      put("bitwell: errors after the first " + std::to_string(limit) +
          " are counted, not told (--print-limit)\n");
    return;
  }
  put(state_.asked.sanitizer_words ? sanitizer : native);
}

void Launches::dump(const Wanted& w, uint64_t number, bool judged) {
  put(fmt::format("bitwell: launch {}: {} grid {} block {}{} shared {} stream {}{}\n", number,
                  words_of(w.kernel->name), machine::triple(w.shape.grid), machine::triple(w.shape.block),
                  w.shape.explicit_cluster ? " cluster " + machine::triple(w.shape.cluster) : "",
                  w.shape.dynamic_shared, state_.streams.find(w.stream).id, judged ? "" : ", not judged"));
}

std::string Launches::record(const isa::KernelLaunch& launch, uint64_t number) {
  if (!recorder_->keeps(number, state_.memory.bytes())) return "";
  std::vector<uint64_t> buffers;
  for (const auto& [address, block] : state_.memory.all()) buffers.push_back(address);
  return recorder_->record(state_.process.context(), buffers, launch, number);
}

bool Launches::waits_for_host(const machine::Fault& fault) const {
  return std::any_of(fault.waiters.begin(), fault.waiters.end(), [&](const machine::Fault::Waiter& w) {
    const Block* const block = w.polled == 0 ? nullptr : state_.memory.find(w.polled);
    return block != nullptr && block->kind != Kind::device;
  });
}

void Launches::launch(const Wanted& w) {
  check(w);
  const uint64_t number = ++count_;
  const bool judged = choice_.takes(state_.asked, w.kernel->name);
  if (state_.asked.dump_launches) dump(w, number, judged);
  Ordered told{
      {"launch", number}, {"kernel", w.kernel->name}, {"grid", w.shape.grid}, {"block", w.shape.block}};
  if (w.shape.explicit_cluster) told["cluster"] = w.shape.cluster;
  told["judged"] = judged;
  const auto begin = std::chrono::steady_clock::now();
  const auto timed = [&] {
    told["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  try {
    isa::KernelLaunch launch{state_.modules.part(*w.kernel), w.kernel->name, w.shape, {}};
    for (const auto& bytes : w.arguments) launch.arguments.push_back({bytes, 0});
    if (recorder_ != nullptr && judged)
      if (const std::string folder = record(launch, number); !folder.empty()) told["folder"] = folder;
    const session::Answer answer = state_.process.launch(std::move(launch), judging(judged, w));
    // A handle that the program has not got is no mistake of the kernel's.
    if (answer.fault && state_.misses_textures() &&
        std::string_view(answer.fault->what()).find("names no texture or surface") != std::string_view::npos)
      throw machine::Unsupported(std::string(answer.fault->what()) +
                                 ", since the call that makes it is not supported");
    if (answer.fault && waits_for_host(*answer.fault))
      throw machine::Unsupported(
          std::string(answer.fault->what()) +
          "\n  the host may write there while the kernel runs: bitwell runs each launch to its "
          "end before the program goes on");
    tell(w, answer, told);
    timed();
  } catch (...) {
    timed();
    fail(std::move(told), std::current_exception());
  }
  state_.tell(strict_json::dumped(told));
}

void Launches::fail(const std::string& kernel, const std::exception_ptr& why) {
  fail({{"launch", ++count_}, {"kernel", kernel}}, why);
}

void Launches::fail(Ordered told, const std::exception_ptr& why) {
  const Ending end = ending_of(why);
  if (end.said)
    state_.cannot_run(end.words);
  else
    put(fmt::format("bitwell: launch {}, kernel {}: {}\n", told["launch"].get<uint64_t>(),
                    words_of(told["kernel"].get<std::string>()), words_of(end.words)));
  told["status"] = static_cast<int>(end.status);
  told["verdict"] = end.verdict;
  told["words"] = end.words;
  state_.tell(strict_json::dumped(told));
  if (end.lost) state_.lost = end.error;
  throw NotRun(end.error);
}

void Launches::end() {
  if (count_ == 0 || state_.lost != CUDA_SUCCESS || !is_judged(state_.asked) || state_.asked.unchecked ||
      state_.asked.sanitizer_words)
    return;
  const std::string left = launch::never_freed(state_.process.context().memory());
  if (!left.empty()) put("bitwell: note: at the program's end, " + words_of(left) + "\n");
}

std::string Launches::text_of(const session::Finding& finding, const Module& module, bool source) const {
  std::string out;
  for (const session::Told& one : finding.pairs) {
    for (const session::Told::Line& line : one.lines) {
      out += words_of(line.text) + "\n";
      if (source && !line.ptx.empty()) out += lines_of(line.cuda, module, "    ");
    }
    if (state_.asked.explain || (one.on_this_run && one.level != one.own)) {
      out += "  " + words_of(one.way_words) + "\n";
      if (one.on_this_run) out += "  " + words_of(one.on_this_run->words) + "\n";
    }
    if (!state_.asked.all) break;
  }
  return out;
}

std::string Launches::lines_of(const machine::CudaPlace& place, const Module& module,
                               const char* indent) const {
  // The program or the library that registered it.
  Dl_info made{};
  const bool known = module.image != nullptr && dladdr(module.image, &made) != 0 && made.dli_fname != nullptr;
  return session::source_lines(place, known ? made.dli_fname : "", indent, "program");
}

// Once: what to do where no CUDA line is known.
void Launches::ask_for_lines(const Wanted& w) {
  const std::string& text = w.kernel->module->texts[w.kernel->module->taken.at(w.kernel->name)];
  if (asked_for_lines_ || state_.asked.sanitizer_words || text.find(".loc") != std::string::npos) return;
  asked_for_lines_ = true;
  put("bitwell: the program names no CUDA lines: build it with nvcc -lineinfo (lineinfo=True for numba and "
      "cuda.core)\n");
}

// What it did wrong, to the user and as the command has it.
void Launches::tell(const Wanted& w, const session::Answer& answer, Ordered& told) {
  const Asked& a = state_.asked;
  const std::string kernel = launch::as_written(w.kernel->name);  // whole, for tools
  const std::string head = fmt::format("bitwell: launch {}, kernel {}: ", told["launch"].get<uint64_t>(),
                                       words_of(w.kernel->name));
  const session::Findings findings = session::findings_of(answer, known_);
  std::string words;
  size_t errors = 0;
  // `shown`: the same with lines of the source, for the user.
  const auto tell_error = [&](const std::string& text, const std::string& shown,
                              const std::string& sanitizer) {
    ++errors;
    words += text;
    error(head + shown, sanitizer);
  };
  const Module& module = *w.kernel->module;
  if (answer.fault) {
    const std::string text = "fault: " + words_of(answer.fault->what()) + "\n";
    told["fault"] = session::fault_facts(*answer.fault);
    const size_t first = text.find('\n') + 1;
    const std::string lines = lines_of(answer.fault->place.cuda, module, "  ");
    tell_error(text, text.substr(0, first) + lines + text.substr(first),
               sanitizer_fault(*answer.fault, kernel, state_.memory));
    state_.lost = lost_by(*answer.fault);
  }
  for (const session::Finding& f : findings.fresh) {
    if (f.level == session::Level::nothing && !a.explain) continue;
    const std::string text = text_of(f, module, false), shown = text_of(f, module, true);
    const bool is_error = f.level == session::Level::error;
    if (is_error ? a.error_on != "none" : f.level == session::Level::note && a.error_on == "note") {
      const session::Told& told_pair = f.pairs.front();
      Ordered one{{"kind", told_pair.kind}, {"text", text}};
      if (told_pair.later.cuda != nullptr) one["source"] = told_pair.later.cuda->chain.front().words();
      told["findings"].push_back(std::move(one));
      tell_error(text, shown, sanitizer_finding(f, kernel));
      continue;
    }
    words += text;
    if (!a.sanitizer_words)
      put(head + shown);
    else if (is_error)
      put(sanitizer_finding(f, kernel));
  }
  if (answer.parting) {
    const std::string text = session::describe(*answer.parting) + "\n";
    tell_error(text, text, sanitizer_text("Schedules differ", text, kernel));
  }
  for (const run::Note& n : answer.result.notes) {
    const std::string text = "note: " + words_of(machine::describe(n.place, n.text)) + "\n";
    words += text;
    if (told["judged"].get<bool>() && !a.sanitizer_words) put(head + text);
  }
  if (errors != 0 &&
      (!answer.fault || (answer.fault->place.ptx_line > 0 && answer.fault->place.cuda == nullptr)))
    ask_for_lines(w);
  for (const session::Told* known : findings.known_pairs()) {
    Ordered& count = told["known"][known->fingerprint.hash];
    count = count.is_null() ? 1 : count.get<uint64_t>() + 1;
  }
  told["lane_instructions"] = answer.result.lane_instructions;
  told["errors"] = errors;
  told["notes"] = answer.result.notes.size() + findings.notes;
  told["status"] = static_cast<int>(errors == 0 ? kHeld : kFailed);
  told["verdict"] = verdict(answer, findings, errors != 0);
  told["words"] = words;
}

}  // namespace bitwell::driver
