#include "verify/cli/run/run_arguments.h"

#include <map>

#include "verify/cli/command.h"
#include "verify/cli/report/short_names.h"
#include "verify/schedules/given.h"

namespace bitwell::cli {
namespace {

const std::map<std::string, isa::Approximate> kApproximate{{"captured", isa::Approximate::captured},
                                                           {"h200", isa::Approximate::h200},
                                                           {"nearest", isa::Approximate::nearest}};

// What is looked for, and what it comes to.
void add_checks(CLI::App& command, RunOptions& options) {
  command.add_flag("--unchecked", options.unchecked, "No definedness or alignment checks: faster");
  add_fmad(command, options);
  command.add_flag(
      "--races", options.races,
      "Follow which access orders which, by thread, and report what nothing orders: races in shared, global "
      "and "
      "tensor memory, missing proxy fences (of tensor maps too), ld.global.nc of what the launch writes, "
      "copies "
      "that were not waited for, scopes too narrow, indices that leave their shared array. Of a list "
      "(\"then\") every launch is judged, and run when the one before has ended: "
      "launches that may overlap are ordered by griddepcontrol.wait alone all the same. Several times "
      "slower");
  command
      .add_flag(
          "--once", options.once,
          "With --races: a byte of global memory that two threads of a launch write is an error, though "
          "they are ordered; atomics and reductions may")
      ->needs("--races");
  command
      .add_flag("--explain", options.explain,
                "With --races: of each finding, notes and silent ones too, what comes of what was read: on "
                "this run, by making "
                "the launch again and following those bytes, and over all paths, by the PTX alone. Without "
                "it that is done "
                "for the first 8 errors about something read: those of which nothing comes on this run are "
                "notes, and "
                "silent where by the PTX nothing can")
      ->needs("--races");
  command
      .add_flag("--all", options.all,
                "With --races: every pair of instructions. Without it those of one kind between the same two "
                "CUDA lines are one finding, told by the first of them")
      ->needs("--races");
  command
      .add_option("--error-on", options.error_on,
                  "What makes the exit status 1 of what --races finds: error, note (notes too) or none")
      ->check(CLI::IsMember({"error", "note", "none"}))
      ->capture_default_str()
      ->needs("--races");
  command
      .add_option("--sarif", options.sarif,
                  "Write what --races finds, and the fault that a run ends in, to this file in SARIF 2.1.0, "
                  "which code review shows "
                  "on its lines")
      ->needs("--races");
  command.add_option("--junit", options.junit,
                     "Write this file for CI servers, in JUnit's XML: whether the launch ended, each output "
                     "that has an \"expected\", and each finding of --races");
  command
      .add_option("--baseline", options.baseline,
                  "Findings of --races that this file has are known: they are counted, not told, and fail "
                  "nothing; what the file has and is not found is said to be stale. A finding is known by "
                  "its kind, entry, functions, source files and instructions with their neighbours, and not "
                  "by its lines")
      ->needs("--races");
  command
      .add_option("--write-baseline", options.write_baseline,
                  "Write all that --races finds to this file, for --baseline; what it has of other entries "
                  "stays")
      ->needs("--races");
  command
      .add_option(
          "--approximate", options.approximate,
          "rcp.approx and friends: an H200's bits for every target, though they are recorded of sm_90 alone "
          "(h200, the default); for sm_90, and of others refused (captured, with --strict the default); or "
          "the "
          "nearest value, which no device vouches for (nearest). In launches under \"then\" too")
      ->check(CLI::IsMember(kApproximate));
  command.add_flag(
      "--strict", options.run.strict,
      "What devices take without harm, though the manual does not promise it, is a fault and not "
      "a note: a CTA that ends with copies under way, mbarrier.init by several threads, ...; a note of "
      "--races is an error; approximate instructions without recorded bits are unsupported; random schedules "
      "try all that the manual lets them, else what devices do");
}

// What 16-bit arithmetic loses.
void add_numeric(CLI::App& command, RunOptions& options) {
  command.add_flag(
      "--numeric", options.numeric,
      "By instruction: how many results of fp16 and bf16 arithmetic (add, sub, mul, fma, cvt from "
      "fp32) and of matrix products with results in fp16 (mma.sync, wmma, wgmma, tcgen05.mma) are infinite "
      "though their operands are finite, and how many sums are what their larger term alone gives: of a "
      "matrix product, the accumulator though the products' exact sum is not 0, or what comes of an "
      "accumulator of 0 though it is not; the first of each, with its operands, of a matrix product with the "
      "row and column of D. Not of launches under \"then\"");
  command
      .add_option(
          "--numeric-bound", options.numeric_bound,
          "With --numeric: also how many of those sums lose more than this many bits of their smaller "
          "term, the most that one loses, and the first. A bit is lost where it stands below the last "
          "place of the sum; bits count down to the term's last 1, as fp16 or bf16 holds it: in fp16 "
          "1024 + 0.75 loses 2, 1024 + 1 none. 0: every sum that its smaller term does not fit; fp16 "
          "has 11 bits, bf16 8")
      ->type_name("BITS")
      ->check(whole(0, 10))
      ->needs("--numeric");
}

// What a launch may take.
void add_limits(CLI::App& command, RunOptions& options) {
  command
      .add_option(
          "--resident", options.run.residents,
          "Clusters that are resident at once, and may wait for each other; without it as many as the "
          "target's largest device holds by threads, shared memory and CTAs: registers, which PTX does "
          "not tell, may allow fewer")
      ->type_name("CLUSTERS")
      ->check(whole(1, UINT32_MAX));
  command
      .add_option(
          "--threads", options.threads,
          "Host threads on which clusters of a launch run side by side, as long as they do not depend on "
          "each other: outputs, notes and faults are the same for any number. Not of --dump nor the "
          "schedules random, pct, order and timed. With --schedules and --exhaust each runs schedules of its "
          "own. Default: one for each core")
      ->type_name("N")
      ->check(whole(1, 4096));
  command
      .add_option("--step-limit", options.run.step_limit,
                  "Warp instructions of one CTA before it counts as hung")
      ->check(whole(1, UINT64_MAX))
      ->capture_default_str();
  command
      .add_option(
          "--memory-limit", options.memory_limit,
          "Bytes, or with K, M or G (1024 of the one before), that variables, buffers, local and shared "
          "memory may take together; without it what the target's device has. Memory that nothing touches "
          "costs nothing")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false))
      ->transform(number_of_bytes());
}

// The name of a policy, or what schedules::Given reads.
CLI::Validator schedule_name() {
  return CLI::Validator(
      [](const std::string& text) {
        std::string names;
        for (const run::PolicyName& p : run::kPolicies) {
          if (p.name == text) return std::string();
          names += std::string(p.name) + ", ";
        }
        return schedules::is_given(text)
                   ? std::string()
                   : "'" + text + "' is none of " + names + "timed, pct, pct:DEPTH, order:TURNS";
      },
      "SCHEDULE");
}

// Needs --schedule, --seed, --schedules, --trace, --dump, --numeric, --races and --device to be there.
void add_exhaust(CLI::App& command, RunOptions& options) {
  CLI::Option* exhaust = command.add_flag(
      "--exhaust", options.exhaust,
      "For small launches: run every schedule that can end otherwise than another, and compare every byte of "
      "the outputs (of all buffers, where none is an output). Two orders count as one where they differ only "
      "in turns that touch nothing in common (source-DPOR with sleep sets). Says whether that was all, and "
      "with which --schedule each end comes again. A turn is an instruction of a warp that does more than "
      "compute, or an operation as a whole; divergent threads of a warp, pieces of a copy, and orders of "
      "memory weaker than one act after the other are not tried: --races sees those");
  for (const char* other : {"--schedule", "--seed", "--schedules", "--trace", "--dump", "--numeric",
                            "--races", "--junit", "--device", "--unchecked"})
    exhaust->excludes(command.get_option(other));
  command.add_option("--most", options.most, "Runs after which --exhaust stops, and says so")
      ->check(whole(1, UINT64_MAX))
      ->capture_default_str()
      ->needs(exhaust);
}

// Needs --races, --trace, --dump and --numeric to be there.
void add_schedules(CLI::App& command, RunOptions& options) {
  command
      .add_option(
          "--schedule", options.policy,
          "The order in which warps and asynchronous operations take turns: lazy, eager, random, "
          "starve-producer, starve-consumer or starve-stores; a correct kernel gives the same bits "
          "under each. pct[:DEPTH]: by random priorities that change at DEPTH - 1 turns (3 where none "
          "is given), which show a bug of that depth with a chance of at least "
          "1 / (n k^(DEPTH - 1)) a seed, n warps and operations, k turns: the report has the numbers. "
          "order:TURNS: just so, as --exhaust prints it. timed: in the order of time on an H200, as bitwell "
          "time has it")
      ->check(schedule_name())
      ->capture_default_str();
  command
      .add_option("--seed", options.run.schedule.seed,
                  "Of the schedules random and pct: the same seed, the same run")
      ->capture_default_str();
  command
      .add_option(
          "--schedules", options.schedules,
          "Run under this many schedules (lazy, eager, the three starve, then random with seeds 1, 2, "
          "...; with --strict these keep no order but what the manual promises) and compare every byte of "
          "the outputs, which are written only if all agree")
      ->check(whole(1, 1000000))
      ->excludes("--schedule")
      ->excludes("--seed")
      ->excludes("--trace")
      ->excludes("--dump")
      ->excludes("--numeric")
      ->excludes("--races")
      ->excludes("--junit");
}

// What is to be seen of a run.
void add_observation(CLI::App& command, RunOptions& options) {
  command.add_option(
      "--trace", options.trace,
      "Write what happened to this file, for chrome://tracing or ui.perfetto.dev: turns of warps, "
      "operations from issue to end by kind (copies, tcgen05.mma, cp, commit, ld), ends of mbarrier phases; "
      "time is logical");
  CLI::Option* dump =
      command
          .add_option(
              "--dump", options.dump.wanted,
              "What stands in tensor memory (tmem@LINE) or shared memory (shared@LINE) when a warp comes to "
              "this line, before it executes it: of the PTX, or a CUDA line as faults show it "
              "(tile.cu:60). With =FILE.npy as an array, -1 where nothing was written and -2 where "
              "no column is allocated; with =FILE as text. Of a list (\"then\"), lines of its first launch. "
              "May be given again")
          ->type_name("WHAT@LINE[=FILE]")
          ->allow_extra_args(false)
          ->excludes("--unchecked");
  command.add_option("--dump-cta", options.dump.cta, "Of this CTA; without it the first that comes there")
      ->type_name("X,Y,Z")
      ->needs(dump);
  command
      .add_option("--dump-as", options.dump.as,
                  "What text shows of it: hex, or numbers of a format of 8, 16 or 32 bits (f32, f16, e4m3; "
                  "bitwell formats)")
      ->type_name("FORMAT")
      ->capture_default_str()
      ->needs(dump);
  command.add_option("--dump-visit", options.dump.visit, "When a warp comes there for so many times")
      ->check(whole(1, UINT64_MAX))
      ->capture_default_str()
      ->needs(dump);
}

// Needs --schedules to be there.
void add_device(CLI::App& command, RunOptions& options) {
  CLI::Option* device =
      command
          .add_flag("--device", options.device,
                    "Make the same launch, and what follows it under \"then\", on one "
                    "stream of the GPU that is there, and compare every byte of the outputs "
                    "when all has ended")
          ->excludes("--schedules");
  command.add_option("--device-seconds", options.device_seconds, "How long its kernels may run there")
      ->check(whole(1, 86400))
      ->capture_default_str()
      ->needs(device);
}

constexpr const char* kFooter =
    "A launch:\n"
    "  {\"ptx\": \"saxpy.ptx\", \"entry\": \"saxpy\", \"grid\": [8], \"block\": [128],\n"
    "   \"arguments\": [{\"type\": \"f32\", \"value\": 2.0},\n"
    "                 {\"buffer\": \"x\", \"npy\": \"x.npy\", \"read_only\": true},\n"
    "                 {\"buffer\": \"y\", \"npy\": \"y.npy\", \"output\": \"out.npy\"},\n"
    "                 {\"type\": \"s32\", \"value\": 1024}]}\n"
    "A tensor map over a buffer that an earlier argument or \"buffers\": [...] names, innermost dimension "
    "first:\n"
    "  {\"tensor_map\": \"x\", \"type\": \"f16\", \"dims\": [256, 64], \"strides\": [512], \"box\": [64, "
    "8],\n"
    "   \"swizzle\": \"128b\"}\n"
    "or {\"tensor_map\": \"x\", \"encoded\": FILE}, the 128 bytes that cuTensorMapEncodeTiled or\n"
    "bitwell/tensor_map.h makes (or \"bytes\": their hexadecimal digits).\n"
    "Buffers come from \"npy\": FILE, \"bin\": FILE, \"values\": NUMBERS, \"zeros\": BYTES, \"unwritten\": "
    "BYTES or\n"
    "\"generate\": {\"kind\": \"uniform_bits\" | \"iota_u32\" | \"uniform_f32\", \"bytes\": N, \"seed\": "
    "S};\n"
    "\"format\": NAME (e2m1, e4m3, bf16, ...) says what numbers become. Other arguments:\n"
    "  {\"pointer\": \"x\", \"offset\": 16}, {\"bytes\": \"00ff\"}, {\"struct\": [{\"at\": 8, ARGUMENT}, "
    "...], \"size\": 24}\n"
    "  {\"texture\": NAME} or {\"surface\": NAME} of \"textures\": [{\"texture\": NAME, \"over\": BUFFER, "
    "\"format\": \"u8\",\n"
    "   \"channels\": 4, \"width\": W, \"height\": H, \"depth\": D or \"layers\": L, \"address\": "
    "\"border\"}, ...]\n"
    "Beside them: \"variables\": [{\"variable\": NAME, CONTENTS, \"output\": FILE}], \"cooperative\": "
    "true,\n"
    "\"registers\": N (of a thread, as ptxas -v prints them: how many CTAs are resident), \"heap\": BYTES of "
    "malloc,\n"
    "\"then\": launches, copies and fills; \"programmatic_stream_serialization\": true in one lets it "
    "overlap.\n"
    "\"expected\": FILE.npy and \"tolerance\": {\"ulp\": N} or {\"rtol\": X, \"atol\": Y} judge a buffer\n"
    "(\"nan\": \"bits\" in it: NaNs by their bits).\n"
    "\"output\": FILE.npy or .bin keeps a buffer; \"dtype\" (f2, u1, ...) and \"shape\" describe it.";

}  // namespace

void add_fmad(CLI::App& command, RunOptions& options) {
  command.add_flag(
      "--fmad", options.fmad,
      "Fuse products and sums where ptxas does, for the bits that its machine code gives: ptxas is run, "
      "and its line tables say which. Without it they stay apart, as nvcc -fmad=false keeps them");
}

bool seeded(const RunOptions& options) {
  return options.policy == "random" || options.policy.starts_with("pct");
}

std::string replay_options(const RunOptions& options) {
  if (options.policy == "lazy") return "";
  return " --schedule " + options.policy +
         (seeded(options) ? " --seed " + std::to_string(options.run.schedule.seed) : "") +
         (options.policy == "random" && options.run.strict ? " --strict" : "");
}

isa::Approximate approximate_of(const RunOptions& options) {
  if (!options.approximate.empty()) return kApproximate.at(options.approximate);
  return options.run.strict ? isa::Approximate::captured : isa::Approximate::h200;
}

CLI::Validator number_of_bytes() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.find_first_of("0123456789") == 0 ? std::string() : "'" + text + "' is no number of bytes";
      },
      "");
}

void add_arguments(CLI::App& command, RunOptions& options) {
  command.add_option("LAUNCH.json", options.path, "The launch: ptx, entry, grid, block, arguments")
      ->required();
  add_checks(command, options);
  add_numeric(command, options);
  add_limits(command, options);
  add_observation(command, options);
  add_schedules(command, options);
  add_device(command, options);
  add_exhaust(command, options);
  command.add_flag("--json", options.json, "The summary as JSON");
  command.add_flag("-v,--verbose", options.verbose,
                   std::string(kVerboseHelp) +
                       "; how many CTAs a device holds, and all memory that was reserved and never touched");
  command.footer(kFooter);
}

}  // namespace bitwell::cli
