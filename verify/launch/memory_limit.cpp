#include "verify/launch/memory_limit.h"

#include <algorithm>
#include <string>

#include "model/machine/arch.h"
#include "model/machine/limits.h"
#include "verify/launch/memory_watch.h"

namespace bitwell::launch {

void check_memory(const isa::Program& program, const Launch& launch) {
  const std::optional<uint64_t>& limit = launch.memory_limit;
  const std::string& entry =
      launch.entry.empty() ? program.functions[static_cast<size_t>(program.entry)].name : launch.entry;
  const auto product = [](const std::array<uint32_t, 3>& v, uint64_t most) {
    uint64_t out = 1;
    for (const uint32_t n : v) out = std::min(out * n, most);
    return out;
  };
  const run::Shape shape = run::full_shape(program, launch.shape);
  const uint64_t ctas = product(shape.cluster, machine::arch(program.sm).device.cluster);
  const uint64_t threads = ctas * product(shape.block, machine::kMaxThreads);
  const uint64_t shared = ctas * (program.dynamic_shared + launch.shape.dynamic_shared);
  uint64_t frames = 0;
  for (const isa::Function& f : program.functions)
    frames = std::min(frames + f.local_size, machine::kMaxLocal);
  uint64_t variables = 0;
  uint64_t buffers = 0;
  uint64_t touched = 2 * (frames * threads + shared);  // with a byte each that says what is written
  for (const isa::GlobalVariable& g : program.globals) {
    variables += g.size;
    touched += g.bytes.size();
  }
  for (const Buffer& b : launch.buffers) {
    if (__builtin_add_overflow(buffers, b.size(), &buffers)) buffers = UINT64_MAX >> 1;
    touched += b.output ? b.size() + b.blank : b.bytes.size();
  }
  const auto text = [](uint64_t n) { return std::to_string(n); };
  const std::string parts = "(variables " + text(variables) + ", buffers " + text(buffers) +
                            ", local memory " + text(frames) + " x " + text(threads) +
                            " threads, shared memory " + text(shared) + ")";
  const uint64_t all = variables + buffers + frames * threads + shared;
  const uint64_t most = limit.value_or(machine::arch(program.sm).device.memory);
  if (all > most)
    throw machine::InputError("entry '" + entry + "' needs " + text(all) + " bytes of memory " + parts +
                              ", " + (limit ? "the limit is " : program.target + " devices have ") +
                              text(most) + (limit ? "" : "; bitwell run --memory-limit sets another limit"));
  constexpr uint64_t kAlwaysThere = uint64_t{64} << 20;  // not worth asking the host
  if (touched <= kAlwaysThere) return;
  if (const uint64_t host = memory_left(); touched > host)
    throw machine::InputError("entry '" + entry + "' fills " + text(touched) + " bytes of memory " + parts +
                              ", this machine has " + text(host) + " left");
}

}  // namespace bitwell::launch
