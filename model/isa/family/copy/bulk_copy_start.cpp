// cp.async.bulk and its tensor, reduce and prefetch forms: from an instruction's operands to an operation
// under way.
#include <algorithm>
#include <cstring>

#include "model/isa/family/copy/bulk_copy.h"
#include "model/isa/family/copy/tensor_copy.h"
#include "model/isa/family/copy/transfer_reader.h"
#include "model/machine/tensor/tensor_map_bytes.h"

namespace bitwell::isa {

using machine::Fault;
using machine::Region;

namespace {

// The tensor map that lies at a generic address: in global, constant or parameter memory.
machine::TensorMap tensor_map(run::Context& context, int lane, uint64_t address) {
  if (address % 64 != 0) throw Fault("the tensor map's address is not a multiple of 64", lane);
  const run::Grid& grid = context.cta.grid;
  const Region* region = nullptr;
  if (address - machine::kParamWindow < machine::kWindowSize) {
    address -= machine::kParamWindow;
    region = &grid.parameters;
  } else if (address - machine::kConstWindow < machine::kWindowSize) {
    region = &grid.constants;
  } else {
    region = grid.global.find(address, 128);
  }
  if (region == nullptr || !region->contains(address, 128))
    throw Fault("the tensor map's address is in no memory that may hold one", lane);
  machine::TensorMapBytes bytes;
  std::array<uint8_t, sizeof bytes> defined;
  run::Port(context, lane, {Semantics::weak, Scope::cta, Proxy::tensor_map})
      .read(*region, address, bytes.size(), bytes.data(), defined.data());
  const bool known = machine::all_written(defined.data(), machine::kMapBytesRead);
  if (!known && context.follow() != nullptr) context.follow()->used_here("a tensor map");
  const auto none = [&] {
    return Fault(
        "there is no tensor map at this address: 128 bytes that cuTensorMapEncodeTiled wrote are needed",
        lane);
  };
  if (!known && context.follow() == nullptr) throw none();
  // The last ones that were found good: kernels have few, and copy by each many times.
  struct Decoded {
    machine::TensorMapBytes bytes;
    std::optional<machine::TensorMap> map;
  };
  static thread_local std::array<Decoded, 8> decoded;
  static thread_local size_t next = 0;
  for (const Decoded& d : decoded)
    if (d.map && std::memcmp(d.bytes.data(), bytes.data(), bytes.size()) == 0) return *d.map;
  if (std::all_of(bytes.begin(), bytes.begin() + machine::kMapBytesRead,
                  [](std::byte v) { return v == std::byte{0}; }))
    throw none();
  try {
    const machine::TensorMap map = machine::decode_tensor_map(bytes);
    machine::check(map);
    machine::require_modelled(map);
    decoded[next++ % decoded.size()] = {bytes, map};
    return map;
  } catch (const machine::InputError& e) {
    throw Fault(e.what(), lane);
  }
}

// The element of a reduction into a tensor, if the operation takes it (PTX ISA 9.0,
// cp.reduce.async.bulk.tensor).
ElementType element_of(const machine::TensorMap& map, AtomicOperation operation) {
  using machine::TensorType;
  struct Row {
    TensorType type;
    ElementType element;
    bool adds, compares, counts, combines;
  };
  static constexpr Row rows[] = {{TensorType::u32, ElementType::u32, true, true, true, true},
                                 {TensorType::s32, ElementType::s32, true, true, false, true},
                                 {TensorType::u64, ElementType::u64, true, true, false, true},
                                 {TensorType::s64, ElementType::s64, false, true, false, true},
                                 {TensorType::f16, ElementType::f16, true, true, false, false},
                                 {TensorType::bf16, ElementType::bf16, true, true, false, false},
                                 {TensorType::f32, ElementType::f32, true, false, false, false}};
  for (const Row& r : rows) {
    if (r.type != map.type) continue;
    const bool takes = operation == AtomicOperation::add                                        ? r.adds
                       : operation == AtomicOperation::min || operation == AtomicOperation::max ? r.compares
                       : operation == AtomicOperation::inc || operation == AtomicOperation::dec ? r.counts
                                                                                                : r.combines;
    if (takes) return r.element;
  }
  throw machine::Unsupported("this reduction into a tensor of type " +
                             std::string(machine::kTensorTypes[static_cast<size_t>(map.type)].name));
}

// Which CTAs get a copy, and where its bytes count: of a multicast, bit r of the mask is rank r. The barrier
// is in the same CTA or, with .cta_group::2, in that one of the destination's pair which has the parity of
// the barrier's.
std::vector<CopyTarget> targets(run::Context& context, const run::SharedPlace& barrier, const Transfer& t,
                                const TransferReader& r, int lane) {
  if (!t.mask) {
    run::Cta* const to = r.shared(t.to, 0, 1).cta;
    if (barrier.cta != to && (!t.pair || (barrier.cta->rank ^ 1) != to->rank))
      throw Fault("the mbarrier of a copy is in another CTA than its destination" +
                      std::string(t.pair ? " and its pair" : ""),
                  lane);
    return {{to, barrier.address}};
  }
  std::vector<CopyTarget> out;
  const uint64_t offset = barrier.address - barrier.cta->shared.base();
  for (uint32_t mask = r.half(*t.mask), rank = 0; mask != 0; mask >>= 1, ++rank) {
    if ((mask & 1) == 0) continue;
    if (rank >= context.cta.cluster.ctas.size())
      throw Fault("the multicast mask names CTA rank " + std::to_string(rank) + ", the cluster has " +
                      std::to_string(context.cta.cluster.ctas.size()) + " CTAs",
                  lane);
    const auto& ctas = context.cta.cluster.ctas;
    const uint32_t counts = t.pair ? (rank & ~1u) | (barrier.cta->rank & 1) : rank;
    out.push_back({ctas[rank].get(), ctas[counts]->shared.base() + offset});
  }
  if (out.empty()) throw Fault("the multicast mask is 0", lane);
  return out;
}

// The rows of tile::gather4 and tile::scatter4, which lie in shared memory as the rows of one box do.
std::vector<Segment> of_rows(const Transfer& t, const TransferReader& r, run::Context& context,
                             const machine::TensorMap& map, int64_t column) {
  machine::TensorMap together = map;
  together.box[1] = t.rows;
  together.element_strides[1] = 1;
  const run::SharedPlace place = r.shared(t.to_shared ? t.to : t.from, together.footprint(), 128);
  std::vector<Segment> out;
  for (uint32_t i = 0; i < t.rows; ++i) {
    const auto row = static_cast<int32_t>(r.word(t.coordinates + 1 + i));
    const auto one = tensor_segments(context.cta.cluster, map, {column, row}, place.cta->shared,
                                     place.address + i * map.pitch(), t.to_shared);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

// The pieces of a tensor's box, and what the tensor map makes of the copy; none of a prefetch.
std::vector<Segment> of_tensor(const Transfer& t, const TransferReader& r, run::Context& context, int lane,
                               CopyOptions& options) {
  const machine::TensorMap map =
      tensor_map(context, lane, r.address(t.to_shared || t.prefetch ? t.from : t.to));
  if (map.rank != t.rank)
    throw Fault("a ." + std::to_string(t.rank) + "d instruction with a tensor map of rank " +
                    std::to_string(map.rank),
                lane);
  std::array<int64_t, 5> coordinates{};
  for (size_t d = 0; d < t.rank; ++d) coordinates[d] = static_cast<int32_t>(r.word(t.coordinates + d));
  if ((map.im2col.channels != 0) != t.im2col)
    throw Fault(t.im2col ? "an .im2col copy with a tensor map of tiles"
                         : "a copy of tiles with a tensor map of im2col",
                lane);
  if (t.prefetch) return {};
  if (t.rows != 0 && map.box[1] != 1)
    throw Fault("a copy of rows that are named one by one needs a box of 1 in dimension 1, it has " +
                    std::to_string(map.box[1]),
                lane);
  options.tensor_map = true;
  options.swizzle = map.swizzle;
  options.fill = fill_pattern(map);
  if (t.to_shared) options.convert = map.type;
  if (t.reduce) options.element = element_of(map, *t.reduce);
  if (t.rows != 0) return of_rows(t, r, context, map, coordinates[0]);
  const run::SharedPlace place = r.shared(t.to_shared ? t.to : t.from, map.footprint(), 128);
  if (t.im2col) {
    std::array<int64_t, 3> offsets{};
    for (size_t d = 0; t.offsets && d + 2 < t.rank; ++d) offsets[d] = r.half(*t.offsets + d);
    return im2col_segments(context.cta.cluster, map, coordinates, offsets, place.cta->shared, place.address,
                           t.to_shared);
  }
  return tensor_segments(context.cta.cluster, map, coordinates, place.cta->shared, place.address,
                         t.to_shared);
}

// The pieces of a run of bytes; none of a prefetch.
std::vector<Segment> of_bytes(const Transfer& t, const TransferReader& r, int lane) {
  const uint32_t size = r.word(t.size);
  if (size % 16 != 0)
    throw Fault("a bulk copy of " + std::to_string(size) + " bytes, not a multiple of 16", lane);
  const auto global_at = [&](const AddressOperand& a) {
    const uint64_t address = r.address(a);
    if (address % 16 != 0)
      throw Fault("a bulk copy at global address " + std::to_string(address) + ", not a multiple of 16",
                  lane);
    return address;
  };
  if (t.prefetch) {
    r.global(global_at(t.from), size, "a prefetch");
    return {};
  }
  Segment s;
  s.bytes = size;
  if (t.to_shared) {
    const run::SharedPlace to = r.shared(t.to, size, 16);
    s.destination = &to.cta->shared;
    s.to = to.address;
  } else {
    s.to = global_at(t.to);
    s.destination = r.global(s.to, size, "a bulk copy");
    if (s.destination->read_only)
      throw Fault("a bulk copy to '" + s.destination->name() + "', which is read-only", lane);
  }
  if (t.from_shared) {
    const run::SharedPlace from = r.shared(t.from, size, 16);
    s.source = &from.cta->shared;
    s.from = from.address;
  } else {
    s.from = global_at(t.from);
    s.source = r.global(s.from, size, "a bulk copy");
  }
  std::vector<Segment> segments;
  // In pieces, so that a schedule can let a part arrive.
  constexpr uint32_t kPiece = 512;
  if (const uint32_t whole = size / kPiece; whole != 0) {
    segments.push_back(s);
    segments.back().bytes = kPiece;
    segments.back().rows = whole;
    segments.back().from_step = segments.back().to_step = kPiece;
  }
  if (const uint32_t rest = size % kPiece; rest != 0) {
    s.from += size - rest;
    s.to += size - rest;
    s.bytes = rest;
    segments.push_back(s);
  }
  return segments;
}

// Of `lanes`, those whose copy is the same as that of the lowest: same source, place, bytes and mbarrier.
// Reductions are never the same: each adds its own.
uint32_t same_copies(const Op& op, run::Context& context, uint32_t lanes) {
  const auto& t = op.as<Transfer>();
  const int first = __builtin_ctz(lanes);
  uint32_t out = 1u << first;
  if (t.reduce) return out;
  const TransferReader mine(op, context, first);
  for (lanes &= ~out; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const TransferReader r(op, context, lane);
    const auto address = [&](const AddressOperand& a) { return r.address(a) == mine.address(a); };
    const auto words = [&](size_t source, size_t count) {
      for (size_t i = source; i < source + count; ++i)
        if (r.word(i) != mine.word(i)) return false;
      return true;
    };
    const auto halves = [&](size_t source, size_t count) {
      for (size_t i = source; i < source + count; ++i)
        if (r.half(i) != mine.half(i)) return false;
      return true;
    };
    const bool same =
        (t.prefetch || address(t.to)) && address(t.from) && (!t.to_shared || address(t.barrier)) &&
        (t.rank != 0 ? words(t.coordinates, t.rows != 0 ? 1 + t.rows : t.rank) : words(t.size, 1)) &&
        (!t.offsets || halves(*t.offsets, t.rank - 2)) && (!t.mask || halves(*t.mask, 1));
    if (same) out |= 1u << lane;
  }
  return out;
}

// One copy for all of `lanes`, whose copies are the same.
void start_bulk(const Op& op, run::Context& context, uint32_t lanes) {
  const int lane = __builtin_ctz(lanes);
  const auto& t = op.as<Transfer>();
  const TransferReader r(op, context, lane);
  run::Cluster& cluster = context.cta.cluster;
  CopyOptions options;
  options.reduce = t.reduce;
  options.element = t.element;
  options.shared_source = t.from_shared && !t.to_shared;
  options.order = t.order;
  std::vector<Segment> segments =
      t.rank != 0 ? of_tensor(t, r, context, lane, options) : of_bytes(t, r, lane);
  if (segments.empty()) return;  // nothing of the box is in the tensor, or no bytes
  if ((lanes & (lanes - 1)) != 0)
    context.note(lane,
                 t.to_shared
                     ? "threads of one warp start the same copy: a device carries it out for each of them"
                     : "threads of one warp start the same copy: a device carries it out for each of them, "
                       "or once where ptxas sees that it is the same");
  const Line& line = context.cta.line(context.split());
  auto copy = std::make_unique<BulkCopy>(cluster, line.text, std::move(segments), options);
  copy->place = context.cta.issue_place(context.warp, context.split(), lane);
  copy->issued_by(lanes);
  if (t.to_shared) {
    const run::SharedPlace barrier = r.shared(t.barrier, 8, 8);
    std::vector<CopyTarget> to = targets(context, barrier, t, r, lane);
    for (const CopyTarget& target : to)
      cluster.cta_of(target.barrier)->mbarriers.word(target.barrier);  // faults if there is none
    copy->complete_on(std::move(to));
    if (!t.reduce) copy->poison();
  } else {
    std::vector<machine::AsyncGroups::Member> groups;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
      groups.push_back(context.warp.bulk_copies[static_cast<size_t>(__builtin_ctz(rest))].join());
    copy->complete_in(std::move(groups), context.cta, context.warp.index);
  }
  cluster.start(std::move(copy), context.warp);
}

}  // namespace

Next bulk_copy(const Op& op, run::Context& context, uint32_t mask) {
  require_sources(op, context, mask);
  for (uint32_t rest = mask; rest != 0;) {
    const uint32_t lanes = same_copies(op, context, rest);
    rest &= ~lanes;
    try {
      start_bulk(op, context, lanes);
    } catch (const Fault& fault) {
      if (fault.placed || fault.lane >= 0) throw;
      throw Fault(fault.what(), __builtin_ctz(lanes));
    }
  }
  return Next::advance;
}

}  // namespace bitwell::isa
