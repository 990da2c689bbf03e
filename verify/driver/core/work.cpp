#include "verify/driver/core/work.h"

#include <algorithm>
#include <cstring>

#include "model/machine/limits.h"
#include "verify/driver/core/parameters.h"
#include "verify/driver/core/sizes.h"

namespace bitwell::driver {
namespace {

const std::vector<int64_t>* directive(State& s, Kernel& kernel, const char* name) {
  const isa::Program& program = s.modules.program(kernel);
  const auto& all = program.functions[static_cast<size_t>(program.entry)].directives;
  const auto at = all.find(name);
  return at == all.end() ? nullptr : &at->second;
}

template <class T>
bool put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return true;
}

}  // namespace

Kernel& kernel_of(State& s, const void* key, CUresult none) {
  Kernel* const kernel = key == nullptr ? nullptr : s.modules.by_key(key, s.device());
  if (kernel == nullptr)
    throw Refused(none, key == nullptr ? "" : "this is no kernel of a module that is loaded");
  return *kernel;
}

void give_parameters(State& s, Wanted& w, void** parameters, void** extra) {
  if (parameters != nullptr && extra != nullptr)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "kernelParams and extra are both given");
  w.arguments = extra != nullptr ? s.launches.arguments(*w.kernel, buffer_of(extra))
                                 : s.launches.arguments(*w.kernel, parameters);
}

// Rows of one copy, of which a host's reader is told once. The copy is made all the same.
static void copy_now(State& s, uint64_t to, uint64_t from, const Rows& rows) {
  std::string unwritten;
  for (uint64_t r = 0; r < rows.height; ++r) {
    const uint64_t its_to = to + r * rows.to_pitch, its_from = from + r * rows.from_pitch;
    s.memory.copy(its_to, its_from, rows.width);
    if (s.asked.host_reads && unwritten.empty()) unwritten = s.memory.unwritten(its_to, its_from, rows.width);
  }
  if (!unwritten.empty()) s.launches.mistake("a copy to the host", Mistake(CUDA_SUCCESS, unwritten));
}

void copy(State& s, uint64_t to, uint64_t from, uint64_t bytes, const void* stream) {
  s.streams.enqueue(s, stream, CU_GRAPH_NODE_TYPE_MEMCPY, [=](State& at) {
    copy_now(at, to, from, {bytes, 1, 0, 0});
  });
}

void copy_rows(State& s, uint64_t to, uint64_t from, const Rows& rows, const void* stream) {
  if (extent(rows.width, rows.height, rows.to_pitch) == 0) return;
  extent(rows.width, rows.height, rows.from_pitch);
  s.streams.enqueue(s, stream, CU_GRAPH_NODE_TYPE_MEMCPY, [=](State& at) { copy_now(at, to, from, rows); });
}

void fill(State& s, uint64_t to, uint32_t value, unsigned size, uint64_t count, const void* stream) {
  s.streams.enqueue(s, stream, CU_GRAPH_NODE_TYPE_MEMSET,
                    [=](State& at) { at.memory.fill(to, value, size, count); });
}

void check_fill(unsigned size, const Rows& rows) {
  extent(times(rows.width, size), rows.height, rows.to_pitch);
}

void fill_now(State& s, uint64_t to, uint32_t value, unsigned size, const Rows& rows) {
  for (uint64_t r = 0; r < (rows.width == 0 ? 0 : rows.height); ++r)
    s.memory.fill(to + r * rows.to_pitch, value, size, rows.width);
}

void fill_rows(State& s, uint64_t to, uint32_t value, unsigned size, const Rows& rows, const void* stream) {
  check_fill(size, rows);
  s.streams.enqueue(s, stream, CU_GRAPH_NODE_TYPE_MEMSET,
                    [=](State& at) { fill_now(at, to, value, size, rows); });
}

void launch(State& s, Wanted wanted) {
  s.launches.check(wanted);
  const void* const stream = wanted.stream;
  s.streams.enqueue(s, stream, CU_GRAPH_NODE_TYPE_KERNEL,
                    [w = std::move(wanted)](State& at) { at.launches.launch(w); });
}

void call_host(State& s, void (*function)(void*), void* data, const void* stream) {
  if (function == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
  s.streams.enqueue(s, stream, CU_GRAPH_NODE_TYPE_HOST, [=](State&) { function(data); });
}

void synchronize(State& s, const void* stream) { s.streams.not_while_captured(stream); }

run::Shape shape_of(const Kernel& kernel, const unsigned* grid, const unsigned* block,
                    unsigned dynamic_shared) {
  run::Shape out;
  for (size_t d = 0; d < 3; ++d) out.grid[d] = grid[d], out.block[d] = block[d];
  out.dynamic_shared = dynamic_shared;
  out.non_portable_cluster = kernel.non_portable_cluster;
  return out;
}

void take_attribute(State& s, const CUlaunchAttribute& a, Wanted& to) {
  switch (a.id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      const auto& c = a.value.clusterDim;
      if (c.x == 0 || c.y == 0 || c.z == 0)
        throw Refused(CUDA_ERROR_INVALID_VALUE, "a cluster's dimension is 0");
      to.shape.cluster = {c.x, c.y, c.z};
      to.shape.explicit_cluster = true;
      return;
    }
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: to.shape.cooperative = a.value.cooperative != 0; return;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      to.programmatic = a.value.programmaticStreamSerializationAllowed != 0;
      return;
    // What changes no result here: bitwell runs one launch after the other.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: return;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      s.streams.record(s, a.value.launchCompletionEvent.event, to.stream);
      return;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      s.streams.record(s, a.value.programmaticEvent.event, to.stream);
      return;
    default: s.missing("launch attribute " + std::to_string(a.id)); throw Refused(CUDA_ERROR_NOT_SUPPORTED);
  }
}

uint64_t most_threads(State& s, Kernel& kernel) {
  for (const char* name : {".reqntid", ".maxntid"})
    if (const auto* d = directive(s, kernel, name); d != nullptr) {
      uint64_t out = 1;
      for (const int64_t n : *d) out *= static_cast<uint64_t>(n);
      return out;
    }
  return machine::kMaxThreads;
}

uint32_t most_in_cluster(State& s, const Kernel& kernel) {
  const uint32_t most = s.device().size.cluster;
  return kernel.non_portable_cluster ? most : std::min<uint32_t>(most, machine::kPortableCluster);
}

int get_attribute(State& s, Kernel& kernel, CUfunction_attribute which) {
  const isa::Program& program = s.modules.program(kernel);
  const auto& entry = program.functions[static_cast<size_t>(program.entry)];
  const auto cluster = [&](size_t d) {
    const auto* const have = directive(s, kernel, ".reqnctapercluster");
    return have == nullptr ? 0 : d < have->size() ? static_cast<int>((*have)[d]) : 1;
  };
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return static_cast<int>(most_threads(s, kernel));
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(program.shared_size);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return 0;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(entry.local_size);
    // What ptxas would take is not in PTX: what a kernel of so many threads may have.
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(std::min<uint64_t>(255, 65536 / most_threads(s, kernel) / 8 * 8));
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return s.device().sm;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(kernel.dynamic_shared -
                              std::min<uint64_t>(kernel.dynamic_shared, kernel.dynamic_shared == 48 << 10
                                                                            ? program.shared_size
                                                                            : 0));
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return kernel.carveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: return cluster(0) == 0 ? 0 : 1;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return cluster(0);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return cluster(1);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return cluster(2);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return kernel.non_portable_cluster ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return 0;
    default: throw Refused(CUDA_ERROR_INVALID_VALUE);
  }
}

void set_attribute(State& s, Kernel& kernel, CUfunction_attribute which, int value) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      const uint64_t most = machine::arch(s.device().sm).shared,
                     fixed = s.modules.program(kernel).shared_size;
      if (value < 0 || static_cast<uint64_t>(value) + fixed > most)
        throw Refused(CUDA_ERROR_INVALID_VALUE,
                      std::to_string(value) + " bytes of dynamic shared memory are asked for, beside " +
                          std::to_string(fixed) + " of the kernel's own; the device has " +
                          std::to_string(most));
      kernel.dynamic_shared = static_cast<uint32_t>(value);
      return;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      if (value != 0 && value != 1) throw Refused(CUDA_ERROR_INVALID_VALUE);
      kernel.non_portable_cluster = value != 0;
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) throw Refused(CUDA_ERROR_INVALID_VALUE);
      kernel.carveout = value;
      return;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      s.missing("function attribute " + std::to_string(which));
      throw Refused(CUDA_ERROR_NOT_SUPPORTED);
    default: throw Refused(CUDA_ERROR_INVALID_VALUE);
  }
}

int active_blocks(State& s, Kernel& kernel, int threads, uint64_t dynamic_shared) {
  if (threads <= 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
  return resident(s.device(), threads, dynamic_shared + s.modules.program(kernel).shared_size);
}

int active_clusters(State& s, const Wanted& w) {
  const uint64_t cluster = std::max<uint64_t>(volume(w.shape.cluster), 1), threads = volume(w.shape.block);
  if (cluster > most_in_cluster(s, *w.kernel)) throw Refused(CUDA_ERROR_INVALID_CLUSTER_SIZE);
  const int ctas =
      active_blocks(s, *w.kernel, static_cast<int>(std::min<uint64_t>(threads, machine::kMaxThreads + 1)),
                    w.shape.dynamic_shared);
  return ctas * static_cast<int>(s.device().size.sms / cluster);
}

bool pointer_attribute(State& s, CUpointer_attribute which, uint64_t address, void* out) {
  const std::optional<Block> b = s.memory.seen(address);
  if (!b) return false;
  const bool host = b->kind == Kind::host || b->kind == Kind::registered;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return put(out, b->owner != nullptr ? b->owner : s.current());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(out, static_cast<unsigned>(host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(out, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (b->kind == Kind::device) return false;
      return put(out, address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return put(out, unsigned{b->synchronous});
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put(out, b->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put(out, static_cast<unsigned>(b->kind == Kind::managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(out, 0);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return put(out, false);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put(out, b->address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(out, static_cast<size_t>(b->bytes));
    case CU_POINTER_ATTRIBUTE_MAPPED: return put(out, true);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return put(out, uint64_t{0});
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return put(out, static_cast<void*>(nullptr));
    default: throw Refused(CUDA_ERROR_NOT_SUPPORTED);
  }
}

}  // namespace bitwell::driver
