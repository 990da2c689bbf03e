#include "model/run/launch.h"

#include <algorithm>

#include "model/isa/form/reserved_shared.h"
#include "model/machine/arch.h"
#include "model/machine/limits.h"
#include "model/run/cta.h"
#include "model/run/turns/residency.h"

namespace bitwell::run {

using machine::InputError;

namespace {

std::string triple(const std::array<uint32_t, 3>& v) {
  return std::to_string(v[0]) + " x " + std::to_string(v[1]) + " x " + std::to_string(v[2]);
}

const std::vector<int64_t>* directive(const isa::Function& f, const char* name) {
  const auto at = f.directives.find(name);
  return at == f.directives.end() ? nullptr : &at->second;
}

// `asked` as the launch has it.
void check_cluster(const isa::Program& program, const std::string& who, const Shape& shape,
                   const Shape& asked) {
  const isa::Function& f = program.functions[static_cast<size_t>(program.entry)];
  const std::array<uint32_t, 3>& cluster = shape.cluster;
  uint64_t ctas = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (cluster[i] == 0) throw InputError(who + "cluster." + "xyz"[i] + " is 0");
    if (shape.grid[i] % cluster[i] != 0)
      throw InputError(who + "grid." + "xyz"[i] + " is " + std::to_string(shape.grid[i]) +
                       ", not a multiple of cluster." + "xyz"[i] + ", which is " +
                       std::to_string(cluster[i]));
    ctas *= cluster[i];
  }
  const bool names_it = asked.explicit_cluster || asked.cluster != std::array<uint32_t, 3>{1, 1, 1};
  if (names_it && asked.cluster != cluster)
    throw InputError(who + "the launch asks for clusters of " + triple(asked.cluster) +
                     ", .reqnctapercluster wants " + triple(cluster));
  if (directive(f, ".explicitcluster") != nullptr && !shape.explicit_cluster)
    throw InputError(who + ".explicitcluster wants the launch to say its \"cluster\", of one CTA too");
  uint64_t most = machine::arch(program.sm).device.cluster;
  if (const auto* rank = directive(f, ".maxclusterrank"); rank != nullptr)
    most = std::min(most, static_cast<uint64_t>(rank->front()));
  const uint64_t limit =
      shape.non_portable_cluster ? most : std::min<uint64_t>(most, machine::kPortableCluster);
  if (ctas <= limit) return;
  throw InputError(who + "a cluster of " + triple(cluster) + " has " + std::to_string(ctas) +
                   " CTAs, the limit is " + std::to_string(limit) +
                   (limit == most ? ""
                                  : "; \"non_portable_cluster\": true makes it " + std::to_string(most) +
                                        ", as cudaFuncAttributeNonPortableClusterSizeAllowed does"));
}

// The first CTA of the cluster that runs after that of `first`; none after the last.
std::optional<std::array<uint32_t, 3>> following(std::array<uint32_t, 3> first,
                                                 const std::array<uint32_t, 3>& grid,
                                                 const std::array<uint32_t, 3>& cluster) {
  for (size_t i = 0; i < 3; ++i) {
    if (cluster[i] < grid[i] - first[i]) {
      first[i] += cluster[i];
      return first;
    }
    first[i] = 0;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::array<uint32_t, 3>> Grid::take_next() {
  const auto taken = next;
  if (taken) next = following(*taken, shape.grid, shape.cluster);
  return taken;
}

Shape full_shape(const isa::Program& program, const Shape& shape) {
  static constexpr std::array<uint32_t, 3> kOne{1, 1, 1};
  const isa::Function& f = program.functions[static_cast<size_t>(program.entry)];
  const auto all_three = [](const std::vector<int64_t>& v) {
    std::array<uint32_t, 3> out = kOne;
    for (size_t i = 0; i < v.size(); ++i) out[i] = static_cast<uint32_t>(v[i]);
    return out;
  };
  Shape out = shape;
  const auto* const wanted = directive(f, ".reqnctapercluster");
  if (wanted != nullptr) out.cluster = all_three(*wanted);
  out.explicit_cluster = shape.explicit_cluster || out.cluster != kOne || wanted != nullptr;
  if (directive(f, ".blocksareclusters") == nullptr) return out;
  for (size_t i = 0; i < 3; ++i)
    out.grid[i] = static_cast<uint32_t>(
        std::min<uint64_t>(uint64_t{shape.grid[i]} * out.cluster[i], UINT32_MAX));  // more than any grid has
  if (shape.block == kOne) out.block = all_three(*directive(f, ".reqntid"));
  return out;
}

void check_launch(const isa::Program& program, const Shape& asked,
                  const std::vector<std::vector<std::byte>>& arguments) {
  const Shape shape = full_shape(program, asked);
  const isa::Function& f = program.functions[static_cast<size_t>(program.entry)];
  const std::string who = "entry '" + f.name + "': ";
  if (arguments.size() != f.params.size())
    throw InputError(who + "takes " + std::to_string(f.params.size()) + " arguments, the launch gives " +
                     std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].size() != f.params[i].size)
      throw InputError(who + "argument " + std::to_string(i) + " ('" + f.params[i].name + "') has " +
                       std::to_string(f.params[i].size) + " bytes, the launch gives " +
                       std::to_string(arguments[i].size()));
  for (size_t i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (shape.block[i] == 0 || shape.block[i] > machine::kMaxBlock[i])
      throw InputError(who + "block." + axis + " is " + std::to_string(shape.block[i]) +
                       ", it must be 1 to " + std::to_string(machine::kMaxBlock[i]));
    if (shape.grid[i] == 0 || shape.grid[i] > machine::kMaxGrid[i])
      throw InputError(who + "grid." + axis + " is " + std::to_string(shape.grid[i]) + ", it must be 1 to " +
                       std::to_string(machine::kMaxGrid[i]));
  }
  const uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (threads > machine::kMaxThreads)
    throw InputError(who + "the block of " + triple(shape.block) + " has " + std::to_string(threads) +
                     " threads, the limit is " + std::to_string(machine::kMaxThreads));
  if (const auto* most = directive(f, ".maxntid"); most != nullptr) {
    uint64_t limit = 1;
    for (const int64_t v : *most)
      limit = std::min<uint64_t>(limit * static_cast<uint64_t>(v), machine::kMaxThreads);  // no overflow
    if (threads > limit)
      throw InputError(who + "the block has " + std::to_string(threads) + " threads, .maxntid allows " +
                       std::to_string(limit));
  }
  if (const auto* exact = directive(f, ".reqntid"); exact != nullptr)
    for (size_t i = 0; i < 3; ++i) {
      const uint64_t want = i < exact->size() ? static_cast<uint64_t>((*exact)[i]) : 1;
      if (shape.block[i] != want)
        throw InputError(who + "block." + "xyz"[i] + " is " + std::to_string(shape.block[i]) +
                         ", .reqntid wants " + std::to_string(want));
    }
  check_cluster(program, who, shape, asked);
  if (shape.registers > machine::kMaxRegisters)
    throw InputError(who + "registers is " + std::to_string(shape.registers) + ", it must be 1 to " +
                     std::to_string(machine::kMaxRegisters));
  if (shape.registers != 0 && ctas_by_registers(static_cast<uint32_t>(threads), shape.registers) == 0)
    throw InputError(who + "the block has " + std::to_string(threads) + " threads of " +
                     std::to_string(shape.registers) + " registers, a multiprocessor has " +
                     std::to_string(machine::kRegisters));
  if (isa::reserved_shared(program) != 0 && shape.ctas_a_cluster() > 1)
    throw machine::Unsupported(who +
                               "%reserved_smem_offset_* in a cluster, where no GPU's values are recorded; "
                               "they are of CTAs without one");
  const uint64_t shared = program.dynamic_shared + shape.dynamic_shared - isa::reserved_shared(program);
  if (shared > machine::arch(program.sm).shared)
    throw InputError(who + std::to_string(shared) + " bytes of shared memory (" +
                     std::to_string(program.shared_size) + " static, " +
                     std::to_string(shape.dynamic_shared) + " dynamic), " + program.target + " has " +
                     std::to_string(machine::arch(program.sm).shared));
}

machine::Region place_variables(const std::vector<isa::GlobalVariable>& variables, uint64_t constants,
                                machine::Memory& memory) {
  uint64_t size = 0;
  for (const isa::GlobalVariable& g : variables)
    if (g.is_const) size = std::max(size, g.address - constants + g.size);
  machine::Region out("constant memory", constants, size, true);
  for (const isa::GlobalVariable& g : variables) {
    std::byte* to = g.is_const ? out.raw_bytes() + (g.address - constants)
                               : memory.place(g.name, g.address, g.size).raw_bytes();
    std::copy(g.bytes.begin(), g.bytes.end(), to);
  }
  out.read_only = true;
  return out;
}

machine::Region place_variables(const isa::Program& program, machine::Memory& memory) {
  machine::Region out = place_variables(program.globals, program.constants, memory);
  memory.end_module();
  return out;
}

RunResult run(const isa::Program& program, const Shape& shape,
              const std::vector<std::vector<std::byte>>& arguments, machine::Memory& memory,
              const Options& options) {
  check_launch(program, shape, arguments);  // before anything is placed
  machine::Region constants = place_variables(program, memory);
  return run(program, constants, shape, arguments, memory, options);
}

}  // namespace bitwell::run
