// Asynchronous copies: from an instruction's operands to an operation under way, and waiting for it.
#include <cstring>

#include "model/isa/copy.h"
#include "model/isa/effects.h"
#include "model/isa/shared_place.h"
#include "model/isa/tensor_copy.h"

namespace bitwell::isa {

using machine::AsyncGroups;
using machine::Fault;
using machine::kLanes;
using machine::Region;

namespace {

// One lane's view of a transfer's operands.
class Reader {
 public:
  Reader(const Op& op, Context& context, int lane) : op_(op), context_(context), lane_(lane) {}

  uint64_t address(const AddressOperand& a) const {
    return a.narrow ? static_cast<uint32_t>(word(a.source) + a.offset)
                    : context_.row<uint64_t>((*op_.sources)[a.source])[lane_] + a.offset;
  }
  uint32_t word(size_t source) const { return context_.row<uint32_t>((*op_.sources)[source])[lane_]; }
  uint16_t half(size_t source) const { return context_.row<uint16_t>((*op_.sources)[source])[lane_]; }
  const std::byte* bytes(size_t source, size_t each) const {
    return context_.row<std::byte>((*op_.sources)[source]) + each * static_cast<size_t>(lane_);
  }
  SharedPlace shared(const AddressOperand& a, uint64_t size, uint64_t align) const {
    return shared_place(context_, lane_, address(a), a.space, size, align);
  }
  // A run of global memory; `address` counts generically.
  Region* global(uint64_t address, uint64_t size, const char* what) const {
    Region* r = context_.cta.grid.global.find(address, size);
    if (r == nullptr)
      throw Fault(std::string(what) + " of " + std::to_string(size) + " bytes at global address " +
                      std::to_string(address) + " is in no buffer",
                  lane_);
    return r;
  }

 private:
  const Op& op_;
  Context& context_;
  int lane_;
};

void require_sources(const Op& op, Context& context, uint32_t mask) {
  for (const uint32_t r : *op.sources) context.require_defined(r, mask, "an operand of an asynchronous copy");
}

// The tensor map that lies at a generic address: in global, constant or parameter memory.
machine::TensorMap tensor_map(Context& context, int lane, uint64_t address) {
  if (address % 64 != 0) throw Fault("the tensor map's address is not a multiple of 64", lane);
  const Grid& grid = context.cta.grid;
  const std::byte* bytes = nullptr;
  const Region* defined = nullptr;
  uint64_t offset = 0;
  if (address - machine::kParamWindow < machine::kWindowSize) {
    offset = address - machine::kParamWindow;
    defined = &grid.parameters;
  } else {
    defined = address - machine::kConstWindow < machine::kWindowSize ? &grid.constants
                                                                     : grid.global.find(address, 128);
    if (defined != nullptr) offset = address - defined->base();
  }
  if (defined == nullptr || offset > defined->size() || defined->size() - offset < 128)
    throw Fault("the tensor map's address is in no memory that may hold one", lane);
  bytes = defined->data() + offset;
  const auto map = machine::decode_tensor_map({bytes, 128});
  if (!map || !defined->is_defined(offset, 128))
    throw Fault(
        "there is no tensor map at this address: 128 bytes that cuTensorMapEncodeTiled wrote are needed",
        lane);
  return *map;
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

// Which CTAs get a multicast copy: bit r of the mask is rank r.
std::vector<CopyTarget> targets(Context& context, const SharedPlace& barrier, const Transfer& t,
                                const Reader& r, int lane) {
  if (!t.mask) return {{barrier.cta, barrier.address}};
  std::vector<CopyTarget> out;
  const uint64_t offset = barrier.address - barrier.cta->shared.base();
  for (uint32_t mask = r.half(*t.mask), rank = 0; mask != 0; mask >>= 1, ++rank) {
    if ((mask & 1) == 0) continue;
    if (rank >= context.cta.cluster.ctas.size())
      throw Fault("the multicast mask names CTA rank " + std::to_string(rank) + ", the cluster has " +
                      std::to_string(context.cta.cluster.ctas.size()) + " CTAs",
                  lane);
    Cta* cta = context.cta.cluster.ctas[rank].get();
    out.push_back({cta, cta->shared.base() + offset});
  }
  if (out.empty()) throw Fault("the multicast mask is 0", lane);
  return out;
}

void start_bulk(const Op& op, Context& context, int lane) {
  const Transfer& t = *reinterpret_cast<const Transfer*>(op.imm);
  const Reader r(op, context, lane);
  Cluster& cluster = context.cta.cluster;
  CopyOptions options;
  options.reduce = t.reduce;
  options.element = t.element;
  options.shared_source = t.from_shared && !t.to_shared;
  std::vector<Segment> segments;
  const AddressOperand& shared_side = t.to_shared ? t.to : t.from;
  if (t.rank != 0) {
    const machine::TensorMap map =
        tensor_map(context, lane, r.address(t.to_shared || t.prefetch ? t.from : t.to));
    if (map.rank != t.rank)
      throw Fault("a ." + std::to_string(t.rank) + "d instruction with a tensor map of rank " +
                      std::to_string(map.rank),
                  lane);
    std::array<int64_t, 5> coordinates{};
    for (size_t d = 0; d < t.rank; ++d) coordinates[d] = static_cast<int32_t>(r.word(t.coordinates + d));
    if (t.prefetch) return;
    if (map.type == machine::TensorType::u4x16_align16b || map.type == machine::TensorType::u6x16_align16b)
      throw machine::Unsupported("a copy of a tensor of type " +
                                 std::string(machine::kTensorTypes[static_cast<size_t>(map.type)].name));
    options.swizzle = map.swizzle;
    options.fill = fill_pattern(map);
    if (t.to_shared) options.convert = map.type;
    if (t.reduce) options.element = element_of(map, *t.reduce);
    const SharedPlace place = r.shared(shared_side, map.footprint(), 128);
    segments = tensor_segments(cluster, map, coordinates, place.cta->shared, place.address, t.to_shared);
  } else {
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
      return;
    }
    Segment s;
    s.bytes = size;
    if (t.to_shared) {
      const SharedPlace to = r.shared(t.to, size, 16);
      s.destination = &to.cta->shared;
      s.to = to.address;
    } else {
      s.to = global_at(t.to);
      s.destination = r.global(s.to, size, "a bulk copy");
      if (s.destination->read_only)
        throw Fault("a bulk copy to '" + s.destination->name() + "', which is read-only", lane);
    }
    if (t.from_shared) {
      const SharedPlace from = r.shared(t.from, size, 16);
      s.source = &from.cta->shared;
      s.from = from.address;
    } else {
      s.from = global_at(t.from);
      s.source = r.global(s.from, size, "a bulk copy");
    }
    // In pieces, so that a schedule can let a part arrive.
    constexpr uint32_t kPiece = 512;
    for (uint32_t done = 0; done < size; done += kPiece) {
      Segment part = s;
      part.from += done;
      part.to += done;
      part.bytes = std::min(kPiece, size - done);
      segments.push_back(part);
    }
  }
  if (segments.empty()) return;  // nothing of the box is in the tensor, or no bytes
  const Line& line = context.cta.line(context.split());
  auto copy = std::make_unique<BulkCopy>(cluster, line.text, std::move(segments), options);
  copy->place = context.cta.place(context.warp, context.split(), lane);
  if (t.to_shared) {
    const SharedPlace barrier = r.shared(t.barrier, 8, 8);
    if (!t.mask && barrier.cta != r.shared(t.to, 0, 1).cta)
      throw Fault("the mbarrier of a copy is in another CTA than its destination", lane);
    std::vector<CopyTarget> to = targets(context, barrier, t, r, lane);
    for (const CopyTarget& target : to)
      target.cta->mbarriers.word(target.barrier);  // faults if there is none
    copy->complete_on(std::move(to));
    if (!t.reduce) copy->poison();
  } else {
    copy->complete_in(context.warp.bulk_copies[static_cast<size_t>(lane)].open(), context.cta,
                      context.warp.index);
  }
  cluster.start(std::move(copy), context.warp);
}

// A few bytes a lane: cp.async, st.async and red.async.
class SmallCopy : public machine::Agent {
 public:
  struct Part {
    Region* source;  // nullptr: `bytes` hold what is written
    uint64_t from;
    uint32_t size, read;  // beyond `read`: zeros
    SharedPlace to;
    std::array<std::byte, 16> bytes;
    std::shared_ptr<machine::AsyncGroup> group;  // or a barrier
    AsyncGroups* groups;                         // that the group is one of
    uint64_t number;                             // of the copy in them
    SharedPlace barrier;
    std::optional<AtomicOperation> reduce;
    ElementType element;
  };
  SmallCopy(Cluster& cluster, std::string what, std::vector<Part> parts, Cta& cta, int warp)
      : cluster_(cluster), what_(std::move(what)), parts_(std::move(parts)), cta_(cta), warp_(warp) {
    for (const Part& p : parts_) {
      if (p.group != nullptr) {
        ++p.group->reading;
        ++p.group->writing;
      }
      if (p.reduce) continue;
      const uint64_t offset = p.to.address - p.to.cta->shared.base();
      std::memset(p.to.bytes(), 0xFF, p.size);
      p.to.cta->shared.mark_undefined(offset, p.size);
    }
  }
  bool step() override {
    const size_t end = next_ + cluster_.piece(parts_.size() - next_);
    for (; next_ < end; ++next_) run(parts_[next_]);
    cta_.wake_operations(warp_, 1);
    return next_ == parts_.size();
  }
  std::string describe() const override {
    return what_ + " of PTX line " + std::to_string(place.ptx_line) + ", " + std::to_string(next_) + " of " +
           std::to_string(parts_.size()) + " threads' copies done";
  }

 private:
  void run(Part& p) {
    if (!p.to.cta->alive()) throw Fault(what_ + " writes the shared memory of a CTA that has ended");
    if (p.to.cta->mbarriers.overlapping(p.to.address, p.size) != nullptr)
      throw Fault(what_ + " writes over an mbarrier, which is live");
    machine::Region& shared = p.to.cta->shared;
    const uint64_t offset = p.to.address - shared.base();
    bool defined = true;
    if (p.source != nullptr) {
      p.bytes = {};
      std::memcpy(p.bytes.data(), p.source->data() + (p.from - p.source->base()), p.read);
      defined = p.source->is_defined(p.from - p.source->base(), p.read);
    }
    if (p.reduce) {
      uint64_t old = 0;
      uint64_t b = 0;
      std::memcpy(&old, p.to.bytes(), p.size);
      std::memcpy(&b, p.bytes.data(), p.size);
      if (!shared.is_defined(offset, p.size))
        throw Fault(what_ + " reads shared memory that was never written");
      const uint64_t result = atomic_update(*p.reduce, p.element, AtomicPlace::shared, old, b, 0);
      std::memcpy(p.bytes.data(), &result, p.size);
    }
    std::memcpy(p.to.bytes(), p.bytes.data(), p.size);
    if (defined) shared.mark_defined(offset, p.size);
    if (p.group != nullptr) {
      --p.group->reading;
      --p.group->writing;
      p.groups->finish(p.number);
    } else if (p.barrier.cta->mbarriers.complete(p.barrier.address, p.size)) {
      cluster_.wake_mbarrier(p.barrier.address);
    }
  }

  Cluster& cluster_;
  std::string what_;
  std::vector<Part> parts_;
  Cta& cta_;
  int warp_;
  size_t next_ = 0;
};

// cp.async.mbarrier.arrive: arrives when the copies issued before it are done.
class CopyArrival : public machine::Agent {
 public:
  CopyArrival(Cluster& cluster, AsyncGroups& groups, SharedPlace barrier, uint32_t rank, int warp)
      : cluster_(cluster),
        groups_(groups),
        before_(groups.issued()),
        barrier_(barrier),
        rank_(rank),
        warp_(warp) {}
  bool ready() const override { return groups_.done_before(before_); }
  bool step() override {
    if (!barrier_.cta->alive())
      throw Fault("cp.async.mbarrier.arrive at a barrier of a CTA that has ended without waiting for it");
    if (barrier_.cta->mbarriers.arrive(barrier_.address, 1, {rank_, warp_, place.ptx_line}))
      cluster_.wake_mbarrier(barrier_.address);
    return true;
  }
  std::string describe() const override {
    return "cp.async.mbarrier.arrive of PTX line " + std::to_string(place.ptx_line);
  }

 private:
  Cluster& cluster_;
  AsyncGroups& groups_;
  uint64_t before_;  // the number of the first copy that it does not wait for
  SharedPlace barrier_;
  uint32_t rank_;
  int warp_;
};

void start_small(Context& context, std::vector<SmallCopy::Part> parts) {
  auto copy = std::make_unique<SmallCopy>(context.cta.cluster, context.cta.line(context.split()).text,
                                          std::move(parts), context.cta, context.warp.index);
  copy->place = context.cta.place(context.warp, context.split(), -1);
  context.cta.cluster.start(std::move(copy), context.warp);
}

}  // namespace

Next bulk_copy(const Op& op, Context& context, uint32_t mask) {
  require_sources(op, context, mask);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    try {
      start_bulk(op, context, lane);
    } catch (const Fault& fault) {
      if (fault.placed || fault.lane >= 0) throw;
      throw Fault(fault.what(), lane);
    }
  }
  return Next::advance;
}

Next async_copy(const Op& op, Context& context, uint32_t mask) {
  require_sources(op, context, mask);
  const Transfer& t = *reinterpret_cast<const Transfer*>(op.imm);
  std::vector<SmallCopy::Part> parts;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const Reader r(op, context, lane);
    SmallCopy::Part p{};
    p.size = p.read = op.size;
    if (t.mask && op.flags == 1) {
      if ((*context.row<uint32_t>((*op.sources)[*t.mask]) >> lane & 1) != 0) p.read = 0;
    } else if (t.mask) {
      p.read = r.word(*t.mask);
      if (p.read > p.size)
        throw Fault("cp.async with a source size of " + std::to_string(p.read) + " bytes for " +
                        std::to_string(p.size),
                    lane);
    }
    p.to = r.shared(t.to, p.size, p.size);
    p.from = r.address(t.from);
    if (p.from % p.size != 0)
      throw Fault("misaligned cp.async of " + std::to_string(p.size) + " bytes at global address " +
                      std::to_string(p.from),
                  lane);
    if (p.read != 0) p.source = r.global(p.from, p.read, "cp.async");
    p.groups = &context.warp.copies[static_cast<size_t>(lane)];
    p.group = p.groups->open();
    p.number = p.groups->issue();
    parts.push_back(std::move(p));
  }
  start_small(context, std::move(parts));
  return Next::advance;
}

Next remote_store(const Op& op, Context& context, uint32_t mask) {
  require_sources(op, context, mask);
  const Transfer& t = *reinterpret_cast<const Transfer*>(op.imm);
  std::vector<SmallCopy::Part> parts;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const Reader r(op, context, lane);
    SmallCopy::Part p{};
    p.size = static_cast<uint32_t>(op.size) * op.count;
    p.to = r.shared(t.to, p.size, p.size);
    p.barrier = r.shared(t.barrier, 8, 8);
    if (p.barrier.cta != p.to.cta)
      throw Fault("the mbarrier of a remote store is in another CTA than its destination", lane);
    p.barrier.cta->mbarriers.word(p.barrier.address);
    for (size_t n = 0; n < op.count; ++n)
      std::memcpy(p.bytes.data() + n * op.size, r.bytes(t.barrier.source + 1 + n, op.size), op.size);
    p.reduce = t.reduce;
    p.element = t.element;
    parts.push_back(std::move(p));
  }
  start_small(context, std::move(parts));
  return Next::advance;
}

Next copy_commit(const Op& op, Context& context, uint32_t mask) {
  auto& groups = (op.flags & kBulkGroups) != 0 ? context.warp.bulk_copies : context.warp.copies;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1)
    groups[static_cast<size_t>(__builtin_ctz(lanes))].commit();
  return Next::advance;
}

Next copy_wait(const Op& op, Context& context, uint32_t mask) {
  auto& groups = (op.flags & kBulkGroups) != 0 ? context.warp.bulk_copies : context.warp.copies;
  bool done = true;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    AsyncGroups& g = groups[static_cast<size_t>(__builtin_ctz(lanes))];
    done =
        done && ((op.flags & kEveryCopy) != 0 ? g.all_done() : g.done(op.imm, (op.flags & kReadOnly) != 0));
  }
  if (done) return Next::advance;
  take_lanes(context, mask).wait = machine::Wait::operations;
  return Next::moved;
}

Next copy_arrive(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "an address");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const SharedPlace barrier = shared_place(op, context, lane, 8, 8, true);
    if (op.target == 0) barrier.cta->mbarriers.increment_pending(barrier.address);
    auto arrival =
        std::make_unique<CopyArrival>(context.cta.cluster, context.warp.copies[static_cast<size_t>(lane)],
                                      barrier, context.cta.rank, context.warp.index);
    arrival->place = context.cta.place(context.warp, context.split(), lane);
    context.cta.cluster.start(std::move(arrival), context.warp);
  }
  return Next::advance;
}

}  // namespace bitwell::isa
