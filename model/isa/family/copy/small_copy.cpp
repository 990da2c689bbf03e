// cp.async, st.async and red.async, a few bytes a lane; and waiting for copies of every kind.
#include <algorithm>
#include <cstring>
#include <optional>

#include "model/isa/family/copy/transfer_reader.h"
#include "model/run/port.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {

using machine::AsyncGroups;
using machine::Fault;
using machine::Region;

namespace {

// A few bytes a lane: cp.async, st.async and red.async.
class SmallCopy : public machine::Agent {
 public:
  struct Part {
    Region* source;  // nullptr: `bytes` hold what is written
    uint64_t from;
    uint32_t size, read;  // beyond `read`: zeros
    run::SharedPlace to;
    std::array<std::byte, 16> bytes;
    AsyncGroups::Member group;  // or a barrier
    AsyncGroups* groups;        // that the group is one of
    uint64_t number;            // of the copy in them
    run::SharedPlace barrier;
    std::optional<AtomicOperation> reduce;
    ElementType element;
    int lane;  // that issued it
  };
  SmallCopy(run::Cluster& cluster, std::string what, std::vector<Part> parts, run::Cta& cta, int warp,
            const Order& order)
      : cluster_(cluster),
        what_(std::move(what)),
        parts_(std::move(parts)),
        cta_(cta),
        warp_(warp),
        order_(order) {
    ending = parts_.front().group ? machine::Ending::copy_group : machine::Ending::mbarrier;
    for (const Part& p : parts_) {
      if (p.reduce) continue;
      low_ = std::min(low_, p.to.address);
      high_ = std::max(high_, p.to.address + p.size);
      run::Port::empty(p.to.cta->shared, p.to.address, p.size);
      run::tell_emptied(*p.to.cta, p.to.address, p.size);
    }
  }
  bool step() override {
    const size_t end = next_ + cluster_.piece(parts_.size() - next_);
    for (; next_ < end; ++next_) run(parts_[next_]);
    cta_.wake_operations(warp_, 1);
    return next_ == parts_.size();
  }
  machine::Task task() const override {
    machine::Task out;
    out.kind = machine::Task::Kind::lanes;
    for (const Part& p : parts_) out.bytes += p.size;
    if (parts_.front().source == nullptr) return out;
    out.global = parts_.front().from;
    constexpr uint64_t kLine = 128, kSector = 32, kNone = UINT64_MAX;
    uint64_t line = kNone, sector = kNone;  // of the lane before
    for (const Part& p : parts_) {
      if (p.source == nullptr) continue;
      out.lines += p.from / kLine != line ? 1 : 0;
      out.sectors += p.from / kSector != sector ? 1 : 0;
      out.last = p.from;
      line = p.from / kLine;
      sector = p.from / kSector;
    }
    return out;
  }
  bool fills(uint64_t shared_address, uint64_t length) const override {
    if (shared_address >= high_ || shared_address + length <= low_) return false;
    return std::any_of(parts_.begin() + static_cast<std::ptrdiff_t>(next_), parts_.end(), [&](const Part& p) {
      return p.to.address < shared_address + length && shared_address < p.to.address + p.size;
    });
  }
  std::string describe() const override {
    return what_ + " of PTX line " + std::to_string(place.ptx_line) + ", " + std::to_string(next_) + " of " +
           std::to_string(parts_.size()) + " threads' copies done";
  }

 private:
  void run(Part& p) {
    work.bytes += p.size;
    if (!p.to.cta->alive() && p.to.cta->index == place.cta)
      p.to.cta->outlived(place, what_);
    else if (!p.to.cta->alive())
      throw Fault(what_ + " writes the shared memory of a CTA that has ended");
    if (p.to.cta->mbarriers.overlapping(p.to.address, p.size) != nullptr)
      throw Fault(what_ + " writes over an mbarrier, which is live");
    const run::Port port(cluster_, *this, p.lane, order_);
    machine::Region& shared = p.to.cta->shared;
    std::array<uint8_t, 16> defined{};  // as Region's
    defined.fill(machine::kWritten);
    if (p.source != nullptr) {
      p.bytes = {};
      port.read(*p.source, p.from, p.read, p.bytes.data(), defined.data());
    }
    if (p.reduce) {
      uint64_t b = 0;
      std::memcpy(&b, p.bytes.data(), p.size);
      if (!port.update(shared, p.to.address, p.size, [&](uint64_t old) {
            return atomic_update(*p.reduce, p.element, AtomicPlace::shared, old, b, 0);
          }))
        throw Fault(what_ + " reads shared memory that was never written");
    } else {
      port.write(shared, p.to.address, p.size, p.bytes.data(), defined.data());
    }
    if (p.group) {
      p.group.has_read();
      p.group.is_done();
      p.groups->finish(p.number);
    } else if (port.mbarriers(machine::AccessKind::update, p.barrier).complete(p.barrier.address, p.size)) {
      cluster_.wake_mbarrier(p.barrier.address);
    }
  }

  run::Cluster& cluster_;
  std::string what_;
  std::vector<Part> parts_;
  uint64_t low_ = ~uint64_t{0}, high_ = 0;  // of what they fill: reductions nothing
  run::Cta& cta_;
  int warp_;
  Order order_;
  size_t next_ = 0;
};

// cp.async.mbarrier.arrive: arrives when the copies issued before it are done.
class CopyArrival : public machine::Agent {
 public:
  CopyArrival(run::Cluster& cluster, AsyncGroups& groups, run::SharedPlace barrier, uint32_t rank, int warp,
              const Order& order)
      : cluster_(cluster),
        groups_(groups),
        before_(groups.issued()),
        barrier_(barrier),
        rank_(rank),
        warp_(warp),
        order_(order) {}
  bool ready() const override { return groups_.done_before(before_); }
  bool step() override {
    if (!barrier_.cta->alive()) barrier_.cta->outlived(place, "cp.async.mbarrier.arrive");
    machine::Mbarriers& mbarriers =
        run::Port(cluster_, *this, order_).mbarriers(machine::AccessKind::update, barrier_);
    if (mbarriers.arrive(barrier_.address, 1, {rank_, warp_, place.ptx_line}))
      cluster_.wake_mbarrier(barrier_.address);
    return true;
  }
  std::string describe() const override {
    return "cp.async.mbarrier.arrive of PTX line " + std::to_string(place.ptx_line);
  }

 private:
  run::Cluster& cluster_;
  AsyncGroups& groups_;
  uint64_t before_;  // the number of the first copy that it does not wait for
  run::SharedPlace barrier_;
  uint32_t rank_;
  int warp_;
  Order order_;
};

void start_small(run::Context& context, std::vector<SmallCopy::Part> parts, const Order& order) {
  auto copy = std::make_unique<SmallCopy>(context.cta.cluster, context.cta.line(context.split()).text,
                                          std::move(parts), context.cta, context.warp.index, order);
  copy->place = context.cta.issue_place(context.warp, context.split(), -1);
  context.cta.cluster.start(std::move(copy), context.warp);
}

// A part for each lane, which `fill` completes by what the lane's operands are; then they are on their way.
template <class Fill>
Next copy_parts(const Op& op, run::Context& context, uint32_t mask, const Fill& fill) {
  require_sources(op, context, mask);
  std::vector<SmallCopy::Part> parts;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    SmallCopy::Part p{};
    p.lane = lane;
    fill(p, TransferReader(op, context, lane));
    parts.push_back(std::move(p));
  }
  start_small(context, std::move(parts), op.as<SmallTransfer>().order);
  return Next::advance;
}

}  // namespace

Next async_copy(const Op& op, run::Context& context, uint32_t mask) {
  const auto& t = op.as<SmallTransfer>();
  return copy_parts(op, context, mask, [&](SmallCopy::Part& p, const TransferReader& r) {
    p.size = p.read = t.bytes;
    if (t.mask && t.ignores) {
      if ((*context.row<uint32_t>((*op.sources)[*t.mask]) >> p.lane & 1) != 0) p.read = 0;
    } else if (t.mask) {
      p.read = r.word(*t.mask);
      if (p.read > p.size)
        throw Fault("cp.async with a source size of " + std::to_string(p.read) + " bytes for " +
                        std::to_string(p.size),
                    p.lane);
    }
    p.to = r.shared(t.to, p.size, p.size);
    p.from = r.address(t.from);
    if (p.from % p.size != 0)
      throw Fault("misaligned cp.async of " + std::to_string(p.size) + " bytes at global address " +
                      std::to_string(p.from),
                  p.lane);
    if (p.read != 0) p.source = r.global(p.from, p.read, "cp.async");
    p.groups = &context.warp.copies[static_cast<size_t>(p.lane)];
    p.group = p.groups->join();
    p.number = p.groups->issue();
  });
}

Next remote_store(const Op& op, run::Context& context, uint32_t mask) {
  const auto& t = op.as<SmallTransfer>();
  return copy_parts(op, context, mask, [&](SmallCopy::Part& p, const TransferReader& r) {
    p.size = t.bytes * t.count;
    p.to = r.shared(t.to, p.size, p.size);
    p.barrier = r.shared(t.barrier, 8, 8);
    if (p.barrier.cta != p.to.cta)
      throw Fault("the mbarrier of a remote store is in another CTA than its destination", p.lane);
    p.barrier.cta->mbarriers.word(p.barrier.address);
    for (size_t n = 0; n < t.count; ++n)
      std::memcpy(p.bytes.data() + n * t.bytes, r.bytes(t.barrier.source + 1 + n, t.bytes), t.bytes);
    p.reduce = t.reduce;
    p.element = t.element;
  });
}

Next copy_commit(const Op& op, run::Context& context, uint32_t mask) {
  auto& groups = op.as<CopyGroups>().bulk ? context.warp.bulk_copies : context.warp.copies;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1)
    groups[static_cast<size_t>(__builtin_ctz(lanes))].commit();
  using Kind = machine::Synchronisation::Kind;
  run::tell_synchronised(op.as<CopyGroups>().bulk ? Kind::bulk_committed : Kind::copies_committed,
                         context.cta, context.warp, context.split(), mask, 0);
  return Next::advance;
}

Next copy_wait(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<CopyGroups>();
  auto& groups = use.bulk ? context.warp.bulk_copies : context.warp.copies;
  bool done = true;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    AsyncGroups& g = groups[static_cast<size_t>(__builtin_ctz(lanes))];
    done = done && (use.every ? g.all_done() : g.done(use.pending, use.read_only));
  }
  if (done) {
    using Kind = machine::Synchronisation::Kind;
    run::tell_synchronised(!use.bulk       ? Kind::copies_waited
                           : use.read_only ? Kind::bulk_read
                                           : Kind::bulk_waited,
                           context.cta, context.warp, context.split(), mask,
                           use.every ? machine::Synchronisation::kEvery : use.pending);
    return Next::advance;
  }
  run::take_lanes(context, mask).wait = &run::kForOperations;
  return Next::moved;
}

Next copy_arrive(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<CopyArrive>();
  context.require_defined(op.a, mask, "an address");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const run::SharedPlace barrier = run::shared_place(use, op.a, context, lane, 8, 8, true);
    if (use.increments)
      run::Port(context, lane, use.order)
          .mbarriers(machine::AccessKind::update, barrier)
          .increment_pending(barrier.address);
    auto arrival =
        std::make_unique<CopyArrival>(context.cta.cluster, context.warp.copies[static_cast<size_t>(lane)],
                                      barrier, context.cta.rank, context.warp.index, use.order);
    arrival->place = context.cta.issue_place(context.warp, context.split(), lane);
    context.cta.cluster.start(std::move(arrival), context.warp);
  }
  return Next::advance;
}

}  // namespace bitwell::isa
