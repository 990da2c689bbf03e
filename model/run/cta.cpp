#include "model/run/cta.h"

#include <algorithm>

#include "model/isa/form/frame.h"
#include "model/isa/form/reserved_shared.h"
#include "model/machine/arch.h"
#include "model/machine/limits.h"
#include "model/run/cluster.h"
#include "model/run/turns/residency.h"
#include "model/run/wait.h"

namespace bitwell::run {

using machine::Activation;
using machine::Fault;
using machine::kLanes;
using machine::Split;
using machine::Warp;

namespace {

// Whether threads of one warp have different values of it.
bool differs_by_lane(isa::Special s) {
  return s <= isa::Special::tid_z || s == isa::Special::laneid ||
         (s >= isa::Special::lanemask_eq && s <= isa::Special::lanemask_gt);
}

// A value of so many bits as a row holds it, in every lane.
template <class T>
void fill(std::byte* row, uint64_t value) {
  std::fill_n(reinterpret_cast<T*>(row), kLanes, static_cast<T>(value));
}
void fill(std::byte* row, int bits, uint64_t value) {
  if (bits <= 16) return fill<uint16_t>(row, value);
  if (bits <= 32) return fill<uint32_t>(row, value);
  if (bits <= 64) return fill<uint64_t>(row, value);
  for (int lane = 0; lane < kLanes; ++lane) std::memcpy(row + 16 * lane, &value, sizeof value);
}

// Bytes of shared memory that are not the system's.
uint64_t own_shared(const Cta& cta) { return cta.shared.size() - isa::reserved_shared(cta.grid.program); }

}  // namespace

Cta::Cta(Cluster& of, std::array<uint32_t, 3> at, uint32_t number)
    : cluster(of),
      grid(of.grid),
      index(at),
      rank(number),
      shared("shared memory", uint64_t{number} << machine::kRankShift,
             grid.program.dynamic_shared + grid.shape.dynamic_shared, !grid.options.checked) {
  if (grid.options.checked) shared.remember_touched();
  if (isa::reserved_shared(grid.program) != 0) shared.mark_defined(0, isa::kReservedForCode);
  const auto& b = grid.shape.block;
  const uint32_t threads = b[0] * b[1] * b[2];
  warps.resize((threads + kLanes - 1) / kLanes);
  for (size_t w = 0; w < warps.size(); ++w) {
    warps[w].index = static_cast<int>(w);
    const uint32_t lanes = std::min<uint32_t>(threads - static_cast<uint32_t>(w) * kLanes, kLanes);
    warps[w].exists = lanes == kLanes ? ~0u : (1u << lanes) - 1;
    Split& all = warps[w].splits.emplace_back();
    all.mask = warps[w].exists;
  }
}

std::array<uint32_t, 3> Cta::thread_index(const Warp& warp, int lane) const {
  const auto& b = grid.shape.block;
  const uint32_t linear = static_cast<uint32_t>(warp.index * kLanes + lane);
  return {linear % b[0], linear / b[0] % b[1], linear / (b[0] * b[1])};
}

uint64_t Cta::special(isa::Special s, const Warp& warp, int lane, const Activation& activation) const {
  const auto& shape = grid.shape;
  const auto at = [&](const std::array<uint32_t, 3>& v, isa::Special first) {
    return v[static_cast<size_t>(s) - static_cast<size_t>(first)];
  };
  if (s <= isa::Special::tid_z) return at(thread_index(warp, lane), isa::Special::tid_x);
  if (s <= isa::Special::ntid_z) return at(shape.block, isa::Special::ntid_x);
  if (s <= isa::Special::ctaid_z) return at(index, isa::Special::ctaid_x);
  if (s <= isa::Special::nctaid_z) return at(shape.grid, isa::Special::nctaid_x);
  if (s >= isa::Special::envreg_0 && s <= isa::Special::envreg_31)
    return shape.environment[static_cast<size_t>(s) - static_cast<size_t>(isa::Special::envreg_0)];
  const uint32_t bit = 1u << lane;
  switch (s) {
    case isa::Special::laneid: return static_cast<uint32_t>(lane);
    case isa::Special::warpid: return static_cast<uint32_t>(warp.index);
    case isa::Special::nwarpid: return 64;
    case isa::Special::smid:
    case isa::Special::gridid: return 0;
    case isa::Special::nsmid: return 1;
    case isa::Special::lanemask_eq: return bit;
    case isa::Special::lanemask_le: return bit | (bit - 1);
    case isa::Special::lanemask_lt: return bit - 1;
    case isa::Special::lanemask_ge: return ~(bit - 1);
    case isa::Special::lanemask_gt: return ~(bit | (bit - 1));
    case isa::Special::clusterid_x:
    case isa::Special::clusterid_y:
    case isa::Special::clusterid_z:
      return at(index, isa::Special::clusterid_x) / at(shape.cluster, isa::Special::clusterid_x);
    case isa::Special::nclusterid_x:
    case isa::Special::nclusterid_y:
    case isa::Special::nclusterid_z:
      return at(shape.grid, isa::Special::nclusterid_x) / at(shape.cluster, isa::Special::nclusterid_x);
    case isa::Special::cluster_ctaid_x:
    case isa::Special::cluster_ctaid_y:
    case isa::Special::cluster_ctaid_z:
      return at(index, isa::Special::cluster_ctaid_x) % at(shape.cluster, isa::Special::cluster_ctaid_x);
    case isa::Special::cluster_nctaid_x:
    case isa::Special::cluster_nctaid_y:
    case isa::Special::cluster_nctaid_z: return at(shape.cluster, isa::Special::cluster_nctaid_x);
    case isa::Special::cluster_ctarank: return rank;
    case isa::Special::cluster_nctarank: return shape.ctas_a_cluster();
    case isa::Special::is_explicit_cluster: return shape.explicit_cluster ? 1 : 0;
    case isa::Special::shared_base: return uint64_t{rank} << machine::kRankShift;
    case isa::Special::total_smem_size: return allocated_shared(grid.program.sm, own_shared(*this));
    case isa::Special::aggr_smem_size: {
      const machine::Arch& arch = machine::arch(grid.program.sm);
      return own_shared(*this) + arch.sm_shared - arch.shared;
    }
    case isa::Special::dynamic_smem_size: return shape.dynamic_shared;
    case isa::Special::local_base: return activation.local_base;
    default: throw machine::ModelBug("a special register without a value");
  }
}

// One coordinate of each lane's thread, counted on from lane to lane: to divide for each takes longer than
// short kernels run.
void Cta::put_thread_indices(std::byte* row, const isa::SpecialRow& s, const Warp& warp) const {
  const auto& b = grid.shape.block;
  const auto which = static_cast<size_t>(s.special) - static_cast<size_t>(isa::Special::tid_x);
  std::array<uint32_t, 3> at = thread_index(warp, 0);
  std::array<uint64_t, kLanes> values{};
  if (at[0] + kLanes <= b[0]) {  // they differ in x alone
    const uint64_t step = which == 0 ? 1 : 0;
    for (uint64_t lane = 0; lane < kLanes; ++lane) values[lane] = at[which] + s.offset + lane * step;
  } else {
    for (uint64_t& v : values) {
      v = at[which] + s.offset;
      if (++at[0] < b[0]) continue;
      at[0] = 0;
      if (++at[1] < b[1]) continue;
      at[1] = 0;
      ++at[2];
    }
  }
  const auto copy = [&](auto* to) {
    for (size_t lane = 0; lane < kLanes; ++lane)
      to[lane] = static_cast<std::remove_reference_t<decltype(*to)>>(values[lane]);
  };
  if (s.bits <= 16)
    copy(reinterpret_cast<uint16_t*>(row));
  else if (s.bits <= 32)
    copy(reinterpret_cast<uint32_t*>(row));
  else
    copy(reinterpret_cast<uint64_t*>(row));
}

std::shared_ptr<Activation> Cta::activate(int function, Warp& warp, uint32_t mask,
                                          std::shared_ptr<Activation> caller) {
  const isa::Function& f = grid.program.functions[static_cast<size_t>(function)];
  auto activation = std::make_shared<Activation>(function, f.rows);
  if (caller != nullptr) {
    const isa::Function& up = grid.program.functions[static_cast<size_t>(caller->function)];
    activation->local_base = isa::frame_behind(caller->local_base, up.local_size);
    activation->depth = caller->depth + 1;
    if (activation->depth > 8192) throw Fault("8192 calls deep: endless recursion?");
  }
  activation->caller = std::move(caller);
  const size_t top = activation->local_base + f.local_size;
  if (top > machine::kMaxLocal)
    throw Fault("the local stack passes " + std::to_string(machine::kMaxLocal >> 10) +
                " KiB a thread: endless recursion?");
  std::byte* rows = activation->rows.data();
  uint32_t* defined = activation->rows.defined();
  const auto put = [&](uint32_t row, int bits, int lane, uint64_t value) {
    const size_t bytes = static_cast<size_t>(std::max(bits, 16)) / 8;
    std::memcpy(rows + row + bytes * static_cast<size_t>(lane), &value, std::min<size_t>(bytes, 8));
  };
  for (const uint32_t r : {isa::kSink, isa::kZero, isa::kZero + 128}) defined[r / machine::kRowBytes] = ~0u;
  for (const isa::ConstantRow& c : f.constants) {
    fill(rows + c.row, c.bits, c.value);
    defined[c.row / machine::kRowBytes] = ~0u;
  }
  for (const isa::SpecialRow& s : f.specials) {
    if (s.special <= isa::Special::tid_z)
      put_thread_indices(rows + s.row, s, warp);
    else if (!differs_by_lane(s.special))
      fill(rows + s.row, s.bits, special(s.special, warp, 0, *activation) + s.offset);
    else
      for (int lane = 0; lane < kLanes; ++lane)
        put(s.row, s.bits, lane, special(s.special, warp, lane, *activation) + s.offset);
    defined[s.row / machine::kRowBytes] = ~0u;
  }
  if (top == 0) return activation;
  for (int lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) != 0 && warp.local[static_cast<size_t>(lane)].size() < top) {
      warp.local[static_cast<size_t>(lane)].resize(top);
      warp.local_defined[static_cast<size_t>(lane)].resize(top);
    }
  // A new frame's bytes were never written, whatever an earlier call left there.
  for (int lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) != 0 && f.local_size != 0)
      std::fill_n(warp.local_defined[static_cast<size_t>(lane)].begin() + activation->local_base,
                  f.local_size, uint8_t{0});
  return activation;
}

machine::IssuePlace Cta::issue_place(const Warp& warp, const Split& split, int lane) const {
  const isa::Line& at = line(split);
  const int active = split.mask != 0 ? __builtin_ctz(split.mask) : 0;
  return {at.ptx, &at.cuda, index, thread_index(warp, lane >= 0 ? lane : active)};
}

machine::Place Cta::called_place(const Warp& warp, const Split& split, int lane) const {
  constexpr size_t most = 64;
  machine::Place out = place(warp, split, lane);
  std::vector<machine::CudaPlace> callers;
  for (const machine::Activation* a = split.activation.get();
       a != nullptr && a->caller != nullptr && callers.size() < most; a = a->caller.get()) {
    const isa::Function& f = grid.program.functions[static_cast<size_t>(a->caller->function)];
    callers.push_back(f.lines[static_cast<size_t>(f.code[a->call_pc].line)].cuda);
  }
  if (!callers.empty()) out.cuda = machine::called_from(out.cuda, callers);
  return out;
}

void Cta::wake_operations(int first, int count) {
  for (int w = first; w < first + count; ++w)
    for (Split& s : warps[static_cast<size_t>(w)].splits)
      if (s.wait != nullptr && s.wait->looks_again) s.wait = nullptr;
  cluster.wake();
}

void Cta::outlived(const machine::IssuePlace& operation, const std::string& what) const {
  cluster.note(operation.kept(), what + " is under way when its CTA ends, which does not wait for it");
}

bool Cta::alive() const {
  return std::any_of(warps.begin(), warps.end(), [](const Warp& w) { return !w.splits.empty(); });
}

}  // namespace bitwell::run
