// Any text -> a run of one of its entries on small buffers: every shape, schedule and mode that the first
// line asks for. A first line "//" and hexadecimal digits chooses them; without one all digits are 0.
#include <algorithm>
#include <cstring>
#include <optional>

#include "model/isa/compile/compile.h"
#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map_bytes.h"
#include "model/ptx/parse.h"
#include "model/run/launch.h"
#include "model/run/watch/follow.h"
#include "verify/fuzz/outcome.h"
#include "verify/fuzz/ptx_module.h"

namespace fuzz = bitwell::fuzz;
namespace isa = bitwell::isa;
namespace run = bitwell::run;
namespace machine = bitwell::machine;
namespace ptx = bitwell::ptx;

namespace {

constexpr size_t kMostArguments = 16;
constexpr uint64_t kSteps = 2000;   // warp instructions of a CTA: enough for loops, far below a second
constexpr uint64_t kBytes = 20480;  // of a buffer: what the probes' kernels move

// The digits, one a choice.
class Choices {
 public:
  explicit Choices(std::string_view text) {
    if (!text.starts_with("//")) return;
    for (const char c : text.substr(2, text.find('\n') - 2)) {
      if (!std::isxdigit(static_cast<unsigned char>(c))) return;
      digits_.push_back(static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10));
    }
  }
  uint32_t next() { return at_ < digits_.size() ? digits_[at_++] : 0; }

 private:
  std::vector<uint32_t> digits_;
  size_t at_ = 0;
};

// A parameter as what its size suggests: a tensor map, the address of a buffer, or a small number.
std::vector<std::byte> argument(const isa::Parameter& parameter, uint64_t address, uint32_t choice) {
  std::vector<std::byte> out(parameter.size);
  if (parameter.size == sizeof(machine::TensorMapBytes)) {
    machine::TensorMap map;
    map.type = static_cast<machine::TensorType>(choice);
    map.address = address;
    map.rank = 1 + choice % 5;
    map.dims = {64, 4, 2, 2, 2};
    map.strides = {0, 512, 2048, 4096, 8192};
    map.box = {64 / std::max(1u, static_cast<uint32_t>(map.bits()) / 8), 2, 1, 1, 1};
    map.swizzle = static_cast<machine::TensorSwizzle>(choice % machine::kTensorSwizzles.size());
    const machine::TensorMapBytes bytes = machine::encode(map);
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
  }
  const uint64_t value = parameter.size == 8 ? address + choice / 4 % 4 * 4 : choice * 16;
  std::memcpy(out.data(), &value, std::min<size_t>(out.size(), sizeof value));
  return out;
}

// What a run leaves.
struct Left {
  struct Done {
    std::vector<std::byte> memory;  // of all buffers
    std::string printed;
    uint64_t warp_instructions = 0;
    bool operator==(const Done&) const = default;
  } done;
  uint64_t lane_instructions = 0;
  bool passed_branches = false;  // those that hang on a value that was never written: there is a note of it
  bool operator==(const Left& other) const {
    return done == other.done && lane_instructions == other.lane_instructions;
  }
};

// `choices`: those that are left for the buffers.
Left run_once(const isa::Program& program, const run::Shape& shape, run::Options options, Choices choices) {
  Left out;
  options.print = [&](std::string_view part) { out.done.printed += part; };
  const isa::Function& entry = program.functions[static_cast<size_t>(program.entry)];
  machine::Memory memory;
  std::vector<machine::Region*> buffers;
  std::vector<std::vector<std::byte>> arguments;
  for (size_t i = 0; i < std::min(entry.params.size(), kMostArguments); ++i) {
    const uint32_t choice = choices.next();
    machine::Region& buffer = memory.allocate("b" + std::to_string(i), choice % 4 == 3 ? 64 : kBytes);
    for (uint64_t at = 0; at < buffer.size(); ++at)
      buffer.raw_bytes()[at] = static_cast<std::byte>(at % 64 < 16 ? 0 : at * 37 >> 3);
    if (choice % 2 == 0) buffer.mark_all_defined();
    buffer.read_only = choice == 15;
    buffers.push_back(&buffer);
    arguments.push_back(argument(entry.params[i], buffer.base(), choice));
  }
  const run::RunResult result = run::run(program, shape, arguments, memory, options);
  out.done.warp_instructions = result.warp_instructions;
  out.lane_instructions = result.lane_instructions;
  out.passed_branches = std::any_of(result.notes.begin(), result.notes.end(), [](const run::Note& note) {
    return note.text.starts_with("a branch hangs on a value that was never written");
  });
  std::vector<std::byte>& all = out.done.memory;
  for (machine::Region* buffer : buffers)
    all.insert(all.end(), buffer->raw_bytes(), buffer->raw_bytes() + buffer->size());
  return out;
}

run::Shape shape_of(const isa::Function& entry, Choices& choices) {
  run::Shape shape;
  constexpr std::array<uint32_t, 8> blocks{128, 32, 64, 1, 33, 256, 16, 96};
  shape.block = {blocks[choices.next() % blocks.size()], 1 + choices.next() % 4 / 3, 1};
  shape.cluster = {1 + choices.next() % 2, 1, 1};
  shape.grid = {shape.cluster[0] * (1 + choices.next() % 2), 1 + choices.next() % 4 / 3, 1};
  shape.dynamic_shared = choices.next() * 4096;
  // What an entry insists on is given to it, so that it runs.
  if (const auto at = entry.directives.find(".reqntid"); at != entry.directives.end())
    for (size_t i = 0; i < 3; ++i)
      shape.block[i] = i < at->second.size() ? static_cast<uint32_t>(at->second[i]) : 1;
  if (const auto at = entry.directives.find(".maxntid"); at != entry.directives.end())
    shape.block = {std::min(shape.block[0], static_cast<uint32_t>(at->second[0])), 1, 1};
  if (const auto at = entry.directives.find(".reqnctapercluster"); at != entry.directives.end())
    for (size_t i = 0; i < 3; ++i) {
      shape.cluster[i] = i < at->second.size() ? static_cast<uint32_t>(at->second[i]) : 1;
      shape.grid[i] = shape.cluster[i];
    }
  return shape;
}

void run_text(const std::string& text) {
  Choices choices(text);
  const ptx::Module module = ptx::parse(text);
  if (!bitwell::fuzz::small(module)) return;
  const std::vector<std::string> entries = isa::entries(module);
  if (entries.empty()) return;
  const auto approximate = static_cast<isa::Approximate>(1 + choices.next() % 2);
  const isa::Program program = isa::compile(module, entries[choices.next() % entries.size()], approximate);

  run::Options options;
  options.step_limit = kSteps;
  options.schedule.policy = run::kPolicies[choices.next() % run::kPolicies.size()].policy;
  options.schedule.seed = choices.next();
  const bool both = choices.next() % 4 != 3;
  size_t events = 0;
  if (choices.next() % 4 == 3) options.observers.push_back({[&](const machine::Event&) { ++events; }, true});
  const run::Shape shape = shape_of(program.functions[static_cast<size_t>(program.entry)], choices);

  std::optional<Left> checked;
  if (both) checked = run_once(program, shape, options, choices);
  std::string why = "other memory, text or instructions";
  const auto again = [&](bool checks, run::Follow* follow) -> std::optional<Left> {
    options.checked = checks;
    options.follow = follow;
    try {
      return run_once(program, shape, options, choices);
    } catch (const machine::Fault& fault) {
      if (!checked) throw;
      why = fault.what();
      return std::nullopt;
    }
  };
  const std::optional<Left> unchecked = again(false, nullptr);
  if (!checked || checked == unchecked) return;
  // A guard that hangs on a value that was never written lets no lane through, and none of a branch's ways is
  // gone (unsure.h); without checks the bit that is there decides. It does so where values are followed, too,
  // and such guards are told there: they alone may make the difference.
  run::Follow follow({});
  const std::optional<Left> followed = again(true, &follow);
  const bool unknown_guards =
      std::any_of(follow.uses().begin(), follow.uses().end(),
                  [](const run::Follow::Use& use) { return use.as == "a guard predicate"; });
  bitwell::fuzz::require(unknown_guards, "a run that holds is the same without checks: " + why);
  bitwell::fuzz::require(followed == unchecked,
                         "a run that goes by guards as they are is the same without checks: " + why);
  // Of what writes registers alone, such a guard changes nothing but how many lanes have executed it.
  bitwell::fuzz::require(
      checked->passed_branches || (unchecked && unchecked->done == checked->done),
      "a guard that was never written changes no memory, text or count of warp instructions: " + why);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = bitwell::fuzz::text_of(data, size);
  bitwell::fuzz::outcome<ptx::SyntaxError, machine::InputError, machine::Unsupported, machine::Fault>(
      [&] { run_text(text); });
  return 0;
}
