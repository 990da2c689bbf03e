#include "model/run/access.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "model/isa/lanes/address_scan.h"
#include "model/machine/where.h"
#include "model/run/cluster.h"
#include "model/run/parallel/apart.h"
#include "model/run/parallel/claim.h"
#include "model/run/shared_place.h"
#include "model/run/stuck/nearby.h"
#include "model/run/turns/chooser.h"
#include "model/run/watch/follow.h"

namespace bitwell::run {
namespace {

using machine::Fault;
using machine::hex;
using machine::kLanes;
using machine::Region;

const char* verb(AccessKind kind) {
  return kind == AccessKind::read ? "read" : kind == AccessKind::write ? "write" : "atomic";
}

std::string_view name_of(isa::Space space) {
  switch (space) {
    case isa::Space::global: return "global";
    case isa::Space::shared: return "shared::cta";
    case isa::Space::cluster: return "shared::cluster";
    case isa::Space::param: return "param";
    case isa::Space::constant: return "const";
    case isa::Space::local: return "local";
    case isa::Space::tensor: return "tensor";
    default: return "generic";
  }
}

// `text` of an access that may not be.
Fault refused(const std::string& text, isa::Space space, uint64_t address, size_t size, AccessKind kind,
              int lane, const std::string& object) {
  Fault out(text, lane);
  out.access = {verb(kind), name_of(space), address, size, object};
  return out;
}

// ", 6 bytes into 'tile' of 64 bytes", of an address in global or in the CTA's own shared memory.
std::string beside(const Context& context, isa::Space space, uint64_t address) {
  const Cta& cta = context.cta;
  if (space == isa::Space::generic && address - machine::kSharedWindow < machine::kWindowSize)
    return beside_shared(cta, address - machine::kSharedWindow).text;
  if (space == isa::Space::shared) return beside_shared(cta, address).text;
  const bool global =
      space == isa::Space::global ||
      (space == isa::Space::generic && address - machine::kLocalWindow >= machine::kWindowSize);
  return global ? ", " + cta.grid.global.describe(address) : "";
}

[[noreturn]] void out_of_bounds(Context& context, isa::Space space, uint64_t address, size_t size,
                                AccessKind kind, int lane) {
  const std::string text = "out-of-bounds " + std::string(verb(kind)) + " of " + std::to_string(size) +
                           " bytes at " + hex(address);
  const auto fault = [&](const std::string& behind, const std::string& object = "") {
    return refused(text + behind, space, address, size, kind, lane, object);
  };
  Cta& cta = context.cta;
  if (space == isa::Space::global)
    throw fault(", " + cta.grid.global.describe(address), cta.grid.global.nearest(address));
  Cta* const other =
      space == isa::Space::shared || space == isa::Space::cluster ? cta.cluster.cta_of(address) : nullptr;
  if (space == isa::Space::cluster && other == nullptr) throw fault(": no CTA of the cluster has it");
  if (space == isa::Space::shared && other != nullptr && other != &cta)
    throw fault(" of shared::cta memory: that is another CTA's");
  const Cta& owner = other != nullptr ? *other : cta;  // of shared memory
  const auto of = [&](const char* name, uint64_t limit, const Beside& beside) {
    return fault(std::string(" of ") + name + ", which has " + std::to_string(limit) + " bytes" + beside.text,
                 readable(beside.object));
  };
  switch (space) {
    case isa::Space::local:
      throw of("local memory", context.warp.local[static_cast<size_t>(lane)].size(), {});
    case isa::Space::param:
      throw of("the parameter block", cta.grid.parameters.size(), beside_parameters(cta.grid, address));
    case isa::Space::constant:
      throw of("constant memory", cta.grid.constants.size(), beside_constants(cta.grid, address));
    default: throw of("shared memory", owner.shared.size(), beside_shared(owner, address));
  }
}

// Faults if a lane's bytes meet a live mbarrier: only mbarrier instructions may touch it.
void keep_off_mbarriers(Context& context, const uint64_t* address, uint32_t mask, uint64_t low, uint64_t high,
                        uint64_t size, AccessKind kind) {
  for (const auto& cta : context.cta.cluster.ctas) {
    if (cta->mbarriers.empty() || cta->mbarriers.overlapping(low, high - low + size) == nullptr) continue;
    for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
      const int lane = __builtin_ctz(lanes);
      if (cta->mbarriers.overlapping(address[lane], size) != nullptr)
        throw Fault("an ordinary " + std::string(verb(kind)) + " of an mbarrier, which is live", lane);
    }
  }
}

// The shared memory of the CTA that a shared::cluster address names.
Region* cluster_memory(Context& context, uint64_t address, int lane) {
  Cta* cta = context.cta.cluster.cta_of(address);
  if (cta == nullptr) return nullptr;
  if (!cta->alive())
    throw Fault(
        "an access to the shared memory of CTA rank " + std::to_string(cta->rank) + ", which has ended",
        lane);
  return &cta->shared;
}

// Where the cluster's accesses to global memory are to be claimed, or nullptr.
machine::Claims* claims_of(const Context& context) {
  const Parallel* parallel = context.cta.grid.parallel;
  return parallel != nullptr ? &parallel->claims : nullptr;
}

void claim_lanes(AccessKind kind, const Region& at, const isa::AddressScan& scan, const uint64_t* address,
                 uint32_t mask, size_t size, machine::Claims& claims) {
  claim_each(kind, at, claims, [&](auto visit) {
    if (scan.consecutive) return visit(scan.low, size * kLanes);
    for (; mask != 0; mask &= mask - 1) visit(address[__builtin_ctz(mask)], size);
  });
}

// One lane's bytes of its own memory.
void find_local(Context& context, uint64_t address, size_t size, AccessKind kind, int lane, LaneBytes& out) {
  const auto at = static_cast<size_t>(lane);
  std::vector<std::byte>& local = context.warp.local[at];
  if (address > local.size() || size > local.size() - address)
    out_of_bounds(context, isa::Space::local, address, size, kind, lane);
  out.bytes[at] = local.data() + address;
  out.defined[at] = context.warp.local_defined[at].data() + address;
  out.tracked = true;
}

// One lane's bytes; `address` is in the space's own numbering.
void find_one(Context& context, isa::Space space, uint64_t address, size_t size, AccessKind kind, int lane,
              machine::Claims* claims, LaneBytes& out) {
  const auto at = static_cast<size_t>(lane);
  Region* region = nullptr;
  switch (space) {
    case isa::Space::global: region = context.cta.grid.global.find(address, size); break;
    case isa::Space::shared: region = &context.cta.shared; break;
    case isa::Space::cluster: region = cluster_memory(context, address, lane); break;
    case isa::Space::param: region = &context.cta.grid.parameters; break;
    case isa::Space::constant: region = &context.cta.grid.constants; break;
    case isa::Space::local: return find_local(context, address, size, kind, lane, out);
    case isa::Space::generic:
    case isa::Space::tensor: break;
  }
  if (region == nullptr || !region->contains(address, size))
    out_of_bounds(context, space, address, size, kind, lane);
  if (region->read_only && kind != AccessKind::read)
    throw refused(std::string(verb(kind)) + " to '" + region->name() + "', which is read-only", space,
                  address, size, kind, lane, region->name());
  if (context.checked && (space == isa::Space::shared || space == isa::Space::cluster))
    for (const auto& cta : context.cta.cluster.ctas)
      if (&cta->shared == region && cta->mbarriers.overlapping(address, size) != nullptr)
        throw Fault("an ordinary " + std::string(verb(kind)) + " of an mbarrier, which is live", lane);
  out.bytes[at] = region->raw_bytes() + (address - region->base());
  out.defined[at] =
      region->raw_defined() == nullptr ? nullptr : region->raw_defined() + (address - region->base());
  out.tracked = out.tracked || out.defined[at] != nullptr;
  if (space != isa::Space::global) return;
  out.global |= 1u << lane;
  if (claims != nullptr) claim(kind, *region, address, size, *claims);
}

// Which space a generic address lies in; `address` becomes that space's own.
isa::Space space_of_generic(uint64_t& address) {
  for (const auto& [window, space] : {std::pair{machine::kSharedWindow, isa::Space::cluster},
                                      std::pair{machine::kLocalWindow, isa::Space::local},
                                      std::pair{machine::kParamWindow, isa::Space::param}})
    if (address - window < machine::kWindowSize) {
      address -= window;
      return space;
    }
  return address - machine::kConstWindow < machine::kWindowSize ? isa::Space::constant : isa::Space::global;
}

// Where the numbering of a space's addresses starts as generic ones.
uint64_t window_of(isa::Space space) {
  switch (space) {
    case isa::Space::shared:
    case isa::Space::cluster: return machine::kSharedWindow;
    case isa::Space::local: return machine::kLocalWindow;
    case isa::Space::param: return machine::kParamWindow;
    default: return 0;
  }
}

// Of addresses in shared memory: those that are generic become what devices make of them. The lowest and the
// highest.
std::pair<uint64_t, uint64_t> low_halves(Context& context, uint64_t* address, uint32_t mask) {
  uint64_t low = UINT64_MAX, high = 0;
  for (; mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctz(mask);
    uint64_t& a = address[lane];
    if (a - machine::kSharedWindow < machine::kWindowSize) a = low_half(context, lane, a);
    low = std::min(low, a);
    high = std::max(high, a);
  }
  return {low, high};
}

// `low` and `high`: of the addresses, where they are known.
void tell(const Context& context, AccessKind kind, const machine::Order& order, uint32_t mask,
          std::span<const uint64_t> addresses, size_t size, uint32_t unchanged = 0, bool consecutive = false,
          uint64_t low = 0, uint64_t high = 0) {
  const Cluster& cluster = context.cta.cluster;
  machine::Event event = cluster.event_of<machine::Access>(
      kind, order, context.cta.index, context.warp.index, mask, uint64_t{0}, cluster.time(),
      context.cta.line(context.warp.splits[context.split_index]).ptx, addresses, size);
  machine::Access& access = *std::get_if<machine::Access>(&event.what);
  access.unchanged = unchanged;
  access.consecutive = consecutive;
  access.low = low;
  access.high = high;
  cluster.tell_access(event);
}

// Where the lanes of a turn note what they reach, or nullptr.
Reaches* reaches_of(const Context& context) {
  const Took* const turn = context.cta.cluster.counted();
  return turn != nullptr ? turn->reaches : nullptr;
}

void note(Reaches& reaches, AccessKind kind, uint32_t mask, std::span<const uint64_t> addresses, size_t size,
          uint64_t window) {
  Reach& r = reaches.add();
  r.form = Reach::Form::each;
  r.kind = kind;
  r.lanes = mask;
  r.bytes = size;
  for (size_t i = 0; i < addresses.size(); ++i) r.addresses[i] = addresses[i] + window;
  r.first = r.addresses[static_cast<size_t>(__builtin_ctz(mask))];
}

// Of lanes that store at one place the last one's bytes remain: if they were there already, none of these
// lanes changes anything, and else each does.
uint32_t as_remains(uint32_t unchanged, uint32_t mask, const LaneBytes& there) {
  for (uint32_t last = mask; last != 0;) {
    const int lane = 31 - __builtin_clz(last);
    uint32_t beside = 0;
    for (uint32_t others = last; others != 0; others &= others - 1)
      if (there.bytes[__builtin_ctz(others)] == there.bytes[lane]) beside |= others & -others;
    unchanged = (unchanged >> lane & 1) != 0 ? unchanged | beside : unchanged & ~beside;
    last &= ~beside;
  }
  return unchanged;
}

// Lanes whose bytes are there already, all of them written: what the store's rows have for them.
uint32_t unchanged_lanes(const isa::Op& store, Context& context, uint32_t mask, const LaneBytes& there) {
  const auto& use = store.as<isa::MemoryUse>();
  const size_t all = static_cast<size_t>(use.size) * use.count;
  const uint32_t asked = mask;
  for (size_t j = 0; j < use.count && context.checked; ++j)
    mask &= context.known_at((*store.sources)[j], mask);
  uint32_t out = 0;
  if (there.consecutive && all == 4 && use.register_bytes == 4 && mask != 0) {  // as most often
    const auto* const stored = context.row<uint32_t>(store.sources->front());
    const auto same = [&](uint32_t i) {
      uint32_t old = 0;
      std::memcpy(&old, there.bytes[0] + i * sizeof old, sizeof old);
      return static_cast<uint32_t>(old == stored[i]);
    };
    uint32_t any = 0;
    for (uint32_t i = 0; i < kLanes; ++i) any |= same(i);
    if (any == 0) return 0;
    if (!there.tracked || machine::all_written(there.defined[0], all * kLanes)) {
      for (uint32_t i = 0; i < kLanes; ++i) out |= same(i) << i;
      return out & mask;
    }
  }
  if (!there.consecutive && all == 4 && use.register_bytes == 4) {
    const auto* const stored = context.row<uint32_t>(store.sources->front());
    for (; mask != 0; mask &= mask - 1) {
      const auto lane = static_cast<size_t>(__builtin_ctz(mask));
      uint32_t old = 0;
      std::memcpy(&old, there.bytes[lane], sizeof old);
      if (old == stored[lane] && (!there.tracked || there.defined[lane] == nullptr ||
                                  machine::all_written(there.defined[lane], sizeof old)))
        out |= 1u << lane;
    }
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctz(mask));
    const size_t from_first = there.consecutive ? lane * all : 0, run = there.consecutive ? 0 : lane;
    if (const uint8_t* const defined = there.tracked ? there.defined[run] : nullptr;
        defined != nullptr &&
        (defined[from_first] != machine::kWritten || !machine::all_written(defined + from_first, all)))
      continue;
    bool same = true;
    for (size_t j = 0; j < use.count && same; ++j) {
      const std::byte* const old = there.bytes[run] + from_first + j * use.size;
      const std::byte* const stored = context.row<std::byte>((*store.sources)[j]) + lane * use.register_bytes;
      same = use.size == 4 ? std::memcmp(old, stored, 4) == 0 : std::memcmp(old, stored, use.size) == 0;
    }
    out |= static_cast<uint32_t>(same) << lane;
  }
  return out == 0 || out == asked || there.consecutive ? out : as_remains(out, asked, there);
}

}  // namespace

void resolve(const isa::AddressUse& use, uint32_t row, Context& context, uint32_t mask, size_t size,
             AccessKind kind, bool as_one, LaneBytes& out, const isa::Op* store, bool claimed) {
  context.require_defined(row, mask, "an address");
  static const isa::AddressScans& scans = isa::address_scans();
  alignas(64) uint64_t address[kLanes];
  const isa::AddressScan scan =
      use.narrow ? scans.narrow(context.row<uint32_t>(row), use.offset, mask, size, address)
                 : scans.wide(context.row<uint64_t>(row), use.offset, mask, size, address);
  // A 32-bit address of .const counts from the start of its window.
  const bool constant32 = use.narrow && use.space == isa::Space::constant;
  const uint64_t window = constant32 ? machine::kConstWindow : 0;
  if (constant32)
    for (uint64_t& a : address) a += window;
  uint64_t low = scan.low + window;
  uint64_t high = scan.high + window;
  const isa::Space space = use.space;
  if ((space == isa::Space::shared || space == isa::Space::cluster) && high >= machine::kSharedWindow)
      [[unlikely]]
    std::tie(low, high) = low_halves(context, address, mask);
  if ((scan.bits & (size - 1)) != 0 && context.checked) {
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0 && (address[i] & (size - 1)) != 0)
        throw refused("misaligned " + std::string(verb(kind)) + " of " + std::to_string(size) + " bytes at " +
                          hex(address[i]) + beside(context, space, address[i]),
                      space, address[i], size, kind, i,
                      space == isa::Space::global ? context.cta.grid.global.nearest(address[i]) : "");
  }
  // One region for all lanes: the common case.
  Region* region = nullptr;
  isa::Space real = space;
  out.global = 0;
  if (space == isa::Space::global || space == isa::Space::generic) {
    real = isa::Space::global;
    region = context.cta.last_global;
    if (region == nullptr || low < region->base() || high - low > region->size() ||
        !region->contains(high, size)) {
      region = context.cta.grid.global.find(low, size);
      if (region != nullptr && region->contains(high, size)) context.cta.last_global = region;
    }
  } else if (space == isa::Space::shared) {
    region = &context.cta.shared;
  } else if (space == isa::Space::cluster) {
    int lowest = __builtin_ctz(mask);
    for (int i = lowest; i < kLanes; ++i)
      if ((mask >> i & 1) != 0 && address[i] == low) lowest = i;
    region = cluster_memory(context, low, lowest);
  } else if (space == isa::Space::param) {
    region = &context.cta.grid.parameters;
  } else if (space == isa::Space::constant) {
    region = &context.cta.grid.constants;
  }
  if (context.checked && (space == isa::Space::shared || space == isa::Space::cluster) && region != nullptr)
    keep_off_mbarriers(context, address, mask, low, high, size, kind);
  machine::Claims* const claims = claimed ? claims_of(context) : nullptr;
  const bool together = region != nullptr && region->contains(low, size) && region->contains(high, size) &&
                        (!region->read_only || kind == AccessKind::read);
  if (together) {
    out.global = real == isa::Space::global ? mask : 0;
    out.tracked = region->raw_defined() != nullptr;
    out.consecutive = scan.consecutive && as_one;
    // As integers: inactive lanes may point anywhere, and are never followed.
    const uintptr_t bytes = reinterpret_cast<uintptr_t>(region->raw_bytes()) - region->base();
    const uintptr_t defined = reinterpret_cast<uintptr_t>(region->raw_defined()) - region->base();
    const int lanes = scan.consecutive && as_one ? 1 : kLanes;  // the others follow from the first
    for (int i = 0; i < lanes; ++i) out.bytes[i] = reinterpret_cast<std::byte*>(bytes + address[i]);
    if (out.tracked)
      for (int i = 0; i < lanes; ++i) out.defined[i] = reinterpret_cast<uint8_t*>(defined + address[i]);
    if (claims != nullptr && real == isa::Space::global) [[unlikely]]
      claim_lanes(kind, *region, scan, address, mask, size, *claims);
  } else if (space == isa::Space::local) {
    for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
      const int lane = __builtin_ctz(lanes);
      find_local(context, address[lane], size, kind, lane, out);
    }
  } else {
    for (int i = 0; i < kLanes; ++i) {
      if ((mask >> i & 1) == 0) continue;
      uint64_t a = address[i];
      const isa::Space lane_space = space == isa::Space::generic ? space_of_generic(a) : space;
      find_one(context, lane_space, a, size, kind, i, claims, out);
    }
  }
  if (Reaches* const reaches = reaches_of(context); reaches != nullptr) [[unlikely]] {
    if (scan.consecutive)
      reaches->row(kind, false, address[0] + window_of(space), size);
    else
      note(*reaches, kind, mask, address, size, window_of(space));
  }
  if (context.cta.cluster.accesses_watched() &&
      (kind != AccessKind::read || !together || region == &context.cta.shared ||
       !passed_over(use.order, *region, context))) [[unlikely]] {
    const uint64_t of_space = window_of(space);
    for (uint64_t& a : address) a += of_space;
    tell(context, kind, use.order, mask, address, size,
         store == nullptr ? 0 : unchanged_lanes(*store, context, mask, out), scan.consecutive, low + of_space,
         high + of_space);
    if (out.consecutive && context.follow() != nullptr && context.follow()->but() != 0) {
      // some lanes read what is there, and some do not
      out.consecutive = false;
      for (int i = 1; i < kLanes; ++i) out.bytes[i] = out.bytes[0] + static_cast<size_t>(i) * size;
      for (int i = 1; i < kLanes && out.tracked; ++i)
        out.defined[i] = out.defined[0] + static_cast<size_t>(i) * size;
    }
  }
}

bool passed_over(const machine::Order& order, const Region& at, const Context& context) {
  const Parallel* const parallel = context.cta.grid.parallel;
  return parallel != nullptr && order.semantics == machine::Semantics::weak &&
         (order.proxy == machine::Proxy::generic || order.proxy == machine::Proxy::non_coherent) &&
         parallel->passes_over(at, context.cta.index, context.warp.index,
                               context.cta.line(context.warp.splits[context.split_index]).ptx);
}

void tell_lanes(const isa::AddressUse& use, AccessKind kind, Context& context, uint64_t first, uint64_t apart,
                size_t size, std::byte* bytes, uint8_t* defined, const isa::Op* store) {
  uint32_t unchanged = 0;
  if (store != nullptr) {
    LaneBytes there;
    there.bytes[0] = bytes;
    there.defined[0] = defined;
    there.tracked = defined != nullptr;
    there.consecutive = true;
    unchanged = unchanged_lanes(*store, context, ~0u, there);
  }
  if (TakesRows* const taker = context.cta.cluster.taker_of_rows(); taker != nullptr && apart == size) {
    const int line = context.cta.line(context.warp.splits[context.split_index]).ptx;
    if (taker->tell({kind, use.order, context.cta.index, context.warp.index, line, first, size, unchanged}))
      return;
  }
  uint64_t addresses[kLanes];
  uint64_t next = first;
  for (uint64_t& address : addresses) {
    address = next;
    next += apart;
  }
  tell(context, kind, use.order, ~0u, addresses, size, unchanged, apart == size, first, next - apart);
}

std::optional<uint64_t> shared_address(const Cluster& cluster, const std::byte* bytes) {
  for (const auto& cta : cluster.ctas) {
    const Region& r = cta->shared;
    if (bytes >= r.raw_bytes() && bytes < r.raw_bytes() + r.size()) return r.address_of(bytes);
  }
  return std::nullopt;
}

machine::Origin access_origin(Context& context, const LaneBytes& access, int lane) {
  const std::byte* bytes = access.bytes[lane];
  machine::Origin out;
  out.kind = machine::Origin::Kind::memory;
  out.ptx_line = context.cta.line(context.split()).ptx;
  const auto& local = context.warp.local[static_cast<size_t>(lane)];
  if (bytes >= local.data() && bytes < local.data() + local.size()) {
    out.address = static_cast<uint64_t>(bytes - local.data());
  } else if (const auto at = shared_address(context.cta.cluster, bytes)) {
    out.address = *at;
    out.region = &context.cta.cluster.cta_of(*at)->shared;
  } else if (const Region* r = context.cta.grid.global.owner(bytes)) {
    out.region = r;
    out.address = r->address_of(bytes);
  }
  return out;
}

bool read_generic(Context& context, int lane, uint64_t address, size_t size, void* to) {
  LaneBytes found;
  uint64_t own = address;
  const isa::Space space = space_of_generic(own);
  find_one(context, space, own, size, AccessKind::read, lane, claims_of(context), found);
  uint64_t addresses[kLanes]{};
  addresses[lane] = address;
  if (Reaches* const reaches = reaches_of(context); reaches != nullptr) [[unlikely]]
    note(*reaches, AccessKind::read, 1u << lane, addresses, size, 0);
  if (context.cta.cluster.accesses_watched())
    tell(context, AccessKind::read, {}, 1u << lane, addresses, size);
  std::memcpy(to, found.bytes[lane], size);
  return found.defined[lane] == nullptr || machine::all_written(found.defined[lane], size);
}

std::string read_string(Context& context, int lane, uint64_t address) {
  std::string out;
  for (bool told = false;; ++address) {
    char c = 0;
    if (!read_generic(context, lane, address, 1, &c) && !told) {
      told = true;
      if (context.follow() != nullptr)
        context.follow()->used(context.cta.line(context.split()).ptx, "what printf prints");
      else if (context.checked)
        throw Fault("printf or assert takes a string at " + hex(address - out.size()) + " whose byte " +
                        std::to_string(out.size()) + " was never written",
                    lane);
    }
    if (c == '\0') return out;
    out += c;
  }
}

}  // namespace bitwell::run
