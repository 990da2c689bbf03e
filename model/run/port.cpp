#include "model/run/port.h"

#include <algorithm>

#include "model/run/turns/chooser.h"

namespace bitwell::run {
namespace {

// Addresses of shared memory and of parameters count in windows of their own.
uint64_t generic_address(const Cluster& cluster, const machine::Region& at, uint64_t address) {
  for (const auto& cta : cluster.ctas)
    if (&at == &cta->shared) return machine::kSharedWindow + address;
  return &at == &cluster.grid.parameters ? machine::kParamWindow + address : address;
}

}  // namespace

// Of a read by an operation.
bool Port::passed_over(const machine::Region& at) const {
  const Parallel* const parallel = cluster_.grid.parallel;
  return parallel != nullptr && operation_ != nullptr && order_.semantics == machine::Semantics::weak &&
         order_.proxy != machine::Proxy::tensor_map &&
         parallel->passes_over(at, operation_->place.cta, operation_->issuer, operation_->place.ptx_line);
}

void Port::tell(AccessKind kind, const machine::Region& at, uint64_t address, uint64_t size,
                bool unchanged) const {
  if (kind == AccessKind::read && passed_over(at)) return;
  tell_at(kind, generic_address(cluster_, at, address), size, false, 0, unchanged);
}

bool Port::stands(const machine::Region& at, uint64_t address, uint64_t size, const std::byte* bytes,
                  const uint8_t* defined) {
  const uint64_t offset = address - at.base();
  return at.is_defined(offset, size) && (defined == nullptr || machine::all_written(defined, size)) &&
         std::memcmp(at.raw_bytes() + offset, bytes, size) == 0;
}

// Whether they are the eight parts of a line of 128 bytes, in whatever order: what a swizzled row most often
// is.
bool Port::is_line(const Pieces16& all) {
  if (all.count != 8) return false;
  uint32_t parts = 0;
  for (size_t i = 0; i < 8; ++i) {
    const Piece& piece = all.pieces[i];
    if (piece.size != 16 || piece.address % 16 != 0 || piece.address / 128 != all.pieces[0].address / 128)
      return false;
    parts |= 1u << piece.address / 16 % 8;
  }
  return parts == 0xFF;
}

void Port::tell(AccessKind kind, const machine::Region& at, Pieces16& all, Alike& alike) const {
  if (is_line(all)) {
    all.pieces[0] = {all.pieces[0].address & ~uint64_t{127}, 128};
    all.count = 1;
  }
  const auto begin = all.pieces.begin(), end = begin + static_cast<std::ptrdiff_t>(all.count);
  std::sort(begin, end, [](const Piece& a, const Piece& b) { return a.address < b.address; });
  for (auto first = begin; first != end;) {
    uint64_t stop = first->address + first->size;
    auto next = first + 1;
    for (; next != end && next->address == stop; ++next) stop += next->size;
    if (operation_ == nullptr || kind != AccessKind::read) {
      tell(kind, at, first->address, stop - first->address);
    } else {
      if (alike.count == alike.addresses.size() || alike.size != stop - first->address) tell(kind, at, alike);
      alike.size = stop - first->address;
      alike.addresses[alike.count++] = generic_address(cluster_, at, first->address);
    }
    first = next;
  }
  all.count = 0;
}

void Port::tell(AccessKind kind, const machine::Region& at, Alike& alike) const {
  if (alike.count == 0) return;
  // Several pieces are of shared memory, which is not passed over.
  if (alike.count == 1 && passed_over(at)) {
    alike.count = 0;
    return;
  }
  machine::Event event = cluster_.event_of<machine::Access>();
  auto& access = std::get<machine::Access>(event.what);
  begin(access, kind, alike.size);
  access.addresses = {alike.addresses.data(), alike.count};
  cluster_.tell_access(event);
  alike.count = 0;
}

namespace {

using Addresses = std::array<uint64_t, machine::Access::kMostPieces>;

}  // namespace

// Some of them, by generic address.
void Port::give_pieces(machine::Access& access, const Rows& rows, uint32_t first, uint32_t count,
                       std::span<uint64_t> out) const {
  // What stays is held here: what is written might be a part of `rows`, as far as the compiler knows.
  const uint64_t step = rows.step, begin = generic_address(cluster_, *rows.at, rows.address) + first * step;
  uint64_t* const to = out.data();
  for (uint32_t i = 0; i < count; ++i) to[i] = begin + i * step;
  access.addresses = out.first(count);
  const uint64_t last = begin + (count - 1) * step;
  access.low = std::min(begin, last);
  access.high = std::max(begin, last);
  access.step = step;
}

void Port::tell_rows(AccessKind kind, const Rows& rows, uint32_t count, uint64_t size) const {
  Addresses addresses;
  machine::Event event = cluster_.event_of<machine::Access>();
  auto& access = std::get<machine::Access>(event.what);
  begin(access, kind, size);
  for (uint32_t first = 0; first < count; first += machine::Access::kMostPieces) {
    const uint32_t some = std::min<uint32_t>(machine::Access::kMostPieces, count - first);
    give_pieces(access, rows, first, some, addresses);
    cluster_.tell_access(event);
  }
}

void Port::tell_rows(const Rows& read, std::span<const Rows> written, uint32_t count, uint64_t size) const {
  std::array<Addresses, machine::ByTurns::kMost> addresses;
  std::array<machine::Access, machine::ByTurns::kMost> all;
  for (uint32_t first = 0; first < count; first += machine::Access::kMostPieces) {
    const uint32_t some = std::min<uint32_t>(machine::Access::kMostPieces, count - first);
    size_t told = 0;
    const bool passed = passed_over(*read.at);  // the first of them
    const auto add = [&](AccessKind kind, const Rows& rows) {
      begin(all[told], kind, size);
      give_pieces(all[told], rows, first, some, addresses[told]);
      ++told;
    };
    if (!passed) add(AccessKind::read, read);
    for (const Rows& rows : written) add(AccessKind::write, rows);
    cluster_.tell(machine::ByTurns{{all.data(), told}, passed ? 1u : 0u});
  }
}

// Who reaches so many bytes, and how: where is still to be said. It is written where it stays: who copies
// what was just written part by part waits for that.
void Port::begin(machine::Access& out, AccessKind kind, uint64_t size) const {
  out.kind = kind;
  out.order = order_;
  out.time = cluster_.time();
  out.bytes = size;
  if (operation_ != nullptr) {
    out.cta = operation_->place.cta;
    out.warp = operation_->issuer;
    out.lanes = 0;
    out.operation = operation_->id;
    out.ptx_line = operation_->place.ptx_line;
    out.issuer = lane_;
  } else {
    out.cta = context_->cta.index;
    out.warp = context_->warp.index;
    out.lanes = 1u << lane_;
    out.operation = 0;
    out.ptx_line = context_->cta.line(context_->warp.splits[context_->split_index]).ptx;
  }
}

void Port::tell_at(AccessKind kind, uint64_t generic, uint64_t size, bool mbarrier, uint32_t rows,
                   bool unchanged, uint32_t before_gap, uint32_t gap) const {
  if (const Took* const turn = cluster_.counted();
      turn != nullptr && turn->reaches != nullptr && context_ != nullptr && !mbarrier && rows == 0) {
    Reach& r = turn->reaches->add();
    r.form = Reach::Form::each;
    r.kind = kind;
    r.lanes = 1u << lane_;
    r.bytes = size;
    r.addresses[static_cast<size_t>(lane_)] = r.first = generic;
  }
  if (!cluster_.accesses_watched()) return;
  std::array<uint64_t, machine::kLanes> addresses;
  machine::Event event = cluster_.event_of<machine::Access>();
  auto& access = std::get<machine::Access>(event.what);
  begin(access, kind, size);
  access.mbarrier = mbarrier;
  access.rows = rows;
  access.columns_before_gap = before_gap;
  access.gap = gap;
  if (operation_ != nullptr) {
    addresses[0] = generic;
    access.addresses = {addresses.data(), 1};
  } else {
    access.unchanged = unchanged ? access.lanes : 0;
    access.met = met_;
    addresses.fill(0);
    addresses[static_cast<size_t>(lane_)] = generic;
    access.addresses = addresses;
  }
  cluster_.tell_access(event);
}

void Port::tell_look(uint32_t lanes, uint64_t generic) const {
  std::array<uint64_t, machine::kLanes> addresses;
  addresses.fill(generic);
  machine::Event event = cluster_.event_of<machine::Access>();
  auto& access = std::get<machine::Access>(event.what);
  begin(access, AccessKind::read, 8);
  access.lanes = lanes;
  access.addresses = addresses;
  access.mbarrier = true;
  cluster_.tell_access(event);
}

}  // namespace bitwell::run
