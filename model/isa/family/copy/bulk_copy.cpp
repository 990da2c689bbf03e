#include "model/isa/family/copy/bulk_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/run/strip.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {

using machine::Fault;
using machine::Region;

namespace {

using Keys = LineKeys;
constexpr uint64_t key_at(machine::TensorSwizzle swizzle, uint64_t line) {
  return machine::swizzled(swizzle, line) ^ line;
}
constexpr auto kKeys = [] {
  std::array<Keys, layout::kSharedSwizzles.size()> out{};
  for (size_t s = 0; s < out.size(); ++s)
    for (uint64_t i = 0; i < out[s].size(); ++i)
      out[s][i] = static_cast<uint8_t>(key_at(static_cast<machine::TensorSwizzle>(s), 128 * i));
  return out;
}();
// By what offsets inside a line of 128 bytes change their places.
constexpr uint64_t key_of(machine::TensorSwizzle swizzle, uint64_t line) {
  return kKeys[static_cast<size_t>(swizzle)][line / 128 % 8];
}
static_assert([] {
  for (size_t s = 0; s < kKeys.size(); ++s)
    for (uint64_t line = 0; line < 128 * 64; line += 128)
      if (key_of(static_cast<machine::TensorSwizzle>(s), line) !=
          key_at(static_cast<machine::TensorSwizzle>(s), line))
        return false;
  return true;
}());

// What a copy of this host thread had read into, for the next one.
struct Spare {
  std::unique_ptr<std::byte[]> bytes;
  uint64_t room = 0;
};
thread_local Spare spare;

}  // namespace

BulkCopy::BulkCopy(run::Cluster& cluster, const std::string& what, std::vector<Segment> segments,
                   CopyOptions options)
    : cluster_(cluster), what_(what), segments_(std::move(segments)), options_(options) {
  for (Segment& s : segments_) {
    s.first = count_;
    count_ += s.rows;
    total_ += uint64_t{s.rows} * s.bytes;
  }
}

BulkCopy::~BulkCopy() {
  if (room_ > spare.room) spare = {std::move(whole_), room_};
}

const Segment& BulkCopy::segment_of(size_t row) const {
  return *std::prev(std::upper_bound(segments_.begin(), segments_.end(), row,
                                     [](size_t r, const Segment& s) { return r < s.first; }));
}

Segment BulkCopy::row(size_t i) const {
  const Segment& s = segment_of(i);
  return s.row(i - s.first);
}

// Calls visit(row) from that one on until it returns true.
template <class Visit>
void BulkCopy::each_row(size_t first, Visit visit) const {
  for (const Segment& s : segments_)
    for (size_t i = s.first < first ? first - s.first : 0; i < s.rows; ++i)
      if (visit(s.row(i))) return;
}

void BulkCopy::complete_in(std::vector<machine::AsyncGroups::Member> groups, run::Cta& cta, int warp) {
  groups_ = std::move(groups);
  ending = machine::Ending::bulk_group;
  cta_ = &cta;
  warp_ = warp;
}

void BulkCopy::issued_by(uint32_t those) {
  lanes = those;
  times_ = static_cast<size_t>(__builtin_popcount(those));
}

// Calls visit(place, offset, length) for the runs that lie together after swizzling. Swizzling changes places
// inside a line of 128 bytes, by one exclusive or for the whole line.
template <class Visit>
void BulkCopy::pieces(bool shared, uint64_t address, uint32_t bytes, Visit visit) const {
  if (!shared || options_.swizzle == machine::TensorSwizzle::none) return visit(address, 0u, bytes);
  const uint32_t unit = options_.swizzle == machine::TensorSwizzle::b128_atom_32b_flip_8b ? 8 : 16;
  for (uint32_t at = 0; at < bytes;) {
    const uint64_t line = (address + at) & ~uint64_t{127};
    const uint64_t key = key_of(options_.swizzle, line);
    if (unit == 16 && line == address + at && bytes - at >= 128) {
#pragma GCC unroll 8
      for (uint32_t c = 0; c < 128; c += 16) visit(line + (c ^ key), at + c, 16u);
      at += 128;
      continue;
    }
    for (auto c = static_cast<uint32_t>(address + at - line); c < 128 && at < bytes;) {
      const uint32_t length = std::min(unit - (c & (unit - 1)), bytes - at);
      visit(line + (c ^ key), at, length);
      at += length;
      c += length;
    }
  }
}

// Lines of 128 bytes, which swizzling does not leave.
constexpr uint64_t kLine = 128;
static bool whole_lines(uint64_t address, uint64_t bytes) { return ((address | bytes) & (kLine - 1)) == 0; }

void BulkCopy::poison() {
  const uint64_t base = segments_.front().destination->base();
  low_ = ~uint64_t{0};
  for (const Segment& s : segments_) {
    const uint64_t first = s.to - base, last = first + (s.rows - 1) * s.to_step;
    low_ = std::min(low_, first & ~uint64_t{127});
    high_ = std::max(high_, (last + s.span() + 127) & ~uint64_t{127});
  }
  const bool unheard = plain();
  for (const CopyTarget& t : targets_) {
    const auto nothing = [&](uint64_t where, uint32_t, uint32_t length) {
      if (t.cta->mbarriers.overlapping(where + t.cta->shared.base(), length) != nullptr)
        throw Fault(what_ + " writes over an mbarrier, which is live");
      run::Port::empty(t.cta->shared, where + t.cta->shared.base(), length);
      run::tell_emptied(*t.cta, where + t.cta->shared.base(), length);
    };
    for (const Segment& s : segments_) {
      // Those of many rows at once, if nobody hears of each.
      if (unheard && whole_lines(s.to - base, s.bytes) && (s.rows == 1 || s.to_step == s.bytes)) {
        nothing(s.to - base, 0, s.rows * s.bytes);
        continue;
      }
      for (size_t i = 0; i < s.rows; ++i) {
        const uint64_t offset = s.row(i).to - base;
        if (whole_lines(offset, s.bytes))
          nothing(offset, 0, s.bytes);
        else
          pieces(true, offset, s.span(), nothing);
      }
    }
  }
}

// Whether the bytes go as they are, and nobody is to hear of some before others have gone.
bool BulkCopy::plain() const {
  using machine::TensorType;
  const TensorType type = options_.convert.value_or(TensorType::u8);
  return !options_.reduce && type != TensorType::tf32 && type != TensorType::tf32_ftz &&
         !cluster_.each_access_watched();
}

// Whether they need stand nowhere between source and destination, of which there is nothing to be said
// either.
bool BulkCopy::goes_direct() const {
  return plain() && std::all_of(targets_.begin(), targets_.end(), [&](const CopyTarget& t) {
           return t.cta->alive() &&
                  t.cta->mbarriers.overlapping(t.cta->shared.base() + low_, high_ - low_) == nullptr;
         });
}

// Rows from that one on, before `end`, as one strip; none where they are no lines.
run::Strip BulkCopy::strip(size_t first, size_t end) const {
  const Segment& of = segment_of(first);
  const Segment s = of.row(first - of.first);
  const bool loads = groups_.empty();
  const uint64_t shared = loads ? s.to : s.from, shared_step = loads ? of.to_step : of.from_step;
  run::Strip out{loads ? s.from : s.to,
                 loads ? of.from_step : of.to_step,
                 shared,
                 s.bytes,
                 0,
                 kKeys[static_cast<size_t>(options_.swizzle)]};
  if (s.source != nullptr && whole_lines(shared, s.bytes) && (of.rows == 1 || shared_step == s.bytes) &&
      options_.swizzle != machine::TensorSwizzle::b128_atom_32b_flip_8b)
    out.rows = static_cast<uint32_t>(std::min(of.first + of.rows, end) - first);
  return out;
}

// Whether a row's bytes there lie in one piece when they are swizzled.
bool BulkCopy::one_piece(uint64_t shared_address, uint64_t bytes) const {
  return options_.swizzle == machine::TensorSwizzle::none ||
         (bytes == kLine && whole_lines(shared_address, bytes));
}

// Tells of rows to shared memory from that one on, before `end`; returns of how many: where each is not one
// piece of either memory, of none.
size_t BulkCopy::tell_rows(size_t first, size_t end) const {
  const Segment& of = segment_of(first);
  const Segment s = of.row(first - of.first);
  const auto rows = static_cast<uint32_t>(std::min(of.first + of.rows, end) - first);
  if (s.source == nullptr || !one_piece(s.to | of.to_step, s.bytes) ||
      targets_.size() > run::Port::kMostWritten)
    return 0;
  std::vector<run::Port::Rows> written;
  for (const CopyTarget& t : targets_)
    written.push_back({&t.cta->shared, t.cta->shared.base() + (s.to - s.destination->base()), of.to_step});
  run::Port(cluster_, *this, options_.order)
      .tell_rows({s.source, s.from, of.from_step}, written, rows, s.bytes);
  return rows;
}

void BulkCopy::load_direct(const Segment& s) const {
  for (const CopyTarget& t : targets_) {
    const uint64_t to = t.cta->shared.base() + (s.to - s.destination->base());
    run::Port(cluster_, *this, options_.order)
        .deal(
            *s.source, s.from, s.bytes, t.cta->shared, [&](auto visit) { pieces(true, to, s.bytes, visit); },
            whole_lines(to, s.bytes) ? std::optional(to) : std::nullopt);
  }
}

void BulkCopy::read(const Segment& s, std::byte* bytes, uint8_t* defined) const {
  if (s.source == nullptr) {
    std::memset(defined, machine::kWritten, s.bytes);
    for (uint32_t i = 0; i < s.bytes; ++i) bytes[i] = options_.fill[i % options_.fill.size()];
    return;
  }
  run::Port(cluster_, *this, options_.order)
      .gather(
          *s.source, [&](auto visit) { pieces(options_.shared_source, s.from, s.bytes, visit); }, bytes,
          defined);
  convert(bytes, s.bytes);
}

// Likewise; returns whether all of it was written.
bool BulkCopy::read_written(const Segment& s, std::byte* bytes) const {
  std::vector<uint8_t> defined(s.bytes);
  read(s, bytes, defined.data());
  return machine::all_written(defined.data(), s.bytes);
}

void BulkCopy::write(Region& region, run::Cta* cta, const Segment& s, const std::byte* bytes,
                     const uint8_t* defined) const {
  const uint64_t offset = s.to - s.destination->base();
  const auto check = [&](uint64_t where, uint32_t, uint32_t length) {
    if (cta->mbarriers.overlapping(where + region.base(), length) != nullptr)
      throw Fault(what_ + " writes over an mbarrier, which is live");
  };
  if (cta != nullptr) {
    const uint64_t line = offset & ~uint64_t{127};
    const uint64_t span = ((offset + s.bytes + 127) & ~uint64_t{127}) - line;
    // Seldom anything lives in these lines at all.
    if (cta->mbarriers.overlapping(line + region.base(), span) != nullptr)
      pieces(true, offset, s.bytes, check);
  }
  const run::Port port(cluster_, *this, options_.order);
  const auto each_piece = [&](auto visit) { pieces(cta != nullptr, region.base() + offset, s.bytes, visit); };
  if (!options_.reduce) {
    if (cta == nullptr && port.follow() != nullptr)
      each_piece([&](uint64_t to, uint32_t at, uint32_t length) {
        for (uint32_t i = 0; i < length; ++i)
          if (defined[at + i] != machine::kWritten) follow(region, to + i, 1);
      });
    return port.scatter(region, each_piece, bytes, defined);
  }
  const size_t size = bytes_of(options_.element);
  each_piece([&](uint64_t to, uint32_t at, uint32_t length) {
    for (size_t i = 0; i < length; i += size) {
      uint64_t b = 0;
      std::memcpy(&b, bytes + at + i, size);
      const bool known = machine::all_written(defined + at + i, size);
      if (!known && port.follow() != nullptr) follow(region, to + i, size);
      if ((!known && port.follow() == nullptr) || !port.update(region, to + i, size, [&](uint64_t old) {
            return atomic_update(*options_.reduce, options_.element, AtomicPlace::bulk, old, b, 0);
          }))
        throw Fault(what_ + " reads memory that was never written");
    }
  });
}

// Bytes that are written hold what comes of what is followed.
void BulkCopy::follow(const Region& region, uint64_t to, uint64_t bytes) const {
  run::Follow& f = *cluster_.grid.options.follow;
  if (groups_.empty())
    f.used(place.ptx_line, "what a reduction adds");
  else
    f.stored(region, to, bytes, place.ptx_line);
}

// What loading changes (H200): tf32 rounds to nearest even and has one NaN. The .ftz types do not flush here.
void BulkCopy::convert(std::byte* bytes, size_t size) const {
  using machine::TensorType;
  const TensorType type = options_.convert.value_or(TensorType::u8);
  if (type != TensorType::tf32 && type != TensorType::tf32_ftz) return;
  for (size_t i = 0; i + 4 <= size; i += 4) {
    uint32_t v = 0;
    std::memcpy(&v, &bytes[i], 4);
    const uint32_t magnitude = v & 0x7FFFFFFF;
    if (magnitude > 0x7F800000)
      v = 0x7FFFE000;
    else if (magnitude < 0x7F800000)
      v += 0x0FFF + (v >> 13 & 1);
    v &= ~0x1FFFu;
    std::memcpy(&bytes[i], &v, 4);
  }
}

bool BulkCopy::fills(uint64_t shared_address, uint64_t length) const {
  for (const CopyTarget& t : targets_) {
    const uint64_t first = shared_address - t.cta->shared.base();
    if (first >= high_ || first + length <= low_) continue;
    bool found = false;
    each_row(next_, [&](const Segment& s) {
      pieces(true, s.to - s.destination->base(), s.span(), [&](uint64_t where, uint32_t, uint32_t bytes) {
        found = found || (where < first + length && first < where + bytes);
      });
      return found;
    });
    if (found) return true;
  }
  return false;
}

uint64_t BulkCopy::completes_on(uint64_t shared_address) const {
  for (const CopyTarget& t : targets_)
    if (t.cta == cluster_.cta_of(shared_address)) return t.barrier + 1;
  return 0;
}

// Whether a wait of some of the lanes that issued it is under way: that of their own, which may go on before
// those of the others have been carried out.
bool BulkCopy::some_wait() const {
  const auto& splits = cta_->warps[static_cast<size_t>(warp_)].splits;
  return std::any_of(splits.begin(), splits.end(), [&](const machine::Split& s) {
    return s.wait != nullptr && s.wait->looks_again && (s.mask & lanes) != 0 && (lanes & ~s.mask) != 0;
  });
}

Fault BulkCopy::unwritten() const { return Fault(what_ + " reads shared memory that was never written"); }

// First everything is read, then written: wait_group.read tells the two apart.
bool BulkCopy::step_to_global() {
  const bool reads = read_ < count_, heard = cluster_.accesses_watched();
  const size_t end = next_ + cluster_.piece(count_ - next_);
  const run::Port port(cluster_, *this, options_.order);
  if (reads) {
    if (!cta_->alive()) cta_->outlived(place, what_);
    if (whole_ == nullptr && spare.room >= total_) {
      whole_ = std::move(spare.bytes);
      room_ = std::exchange(spare.room, 0);
    } else if (whole_ == nullptr) {
      whole_ = std::make_unique_for_overwrite<std::byte[]>(total_);
      room_ = total_;
    }
    // What is plain is all written, or faults.
    if (next_ == 0) defined_.resize(plain() ? 0 : total_);
  }
  const bool is_plain = defined_.empty();
  for (; next_ < end; ++next_) {
    const Segment s = row(next_);
    const bool at_once = is_plain && (!heard || one_piece(s.from, s.bytes));
    if (const run::Strip rows = at_once ? strip(next_, end) : run::Strip{}; rows.rows != 0) {
      if (!reads) {
        if (heard)
          port.tell_rows(run::AccessKind::write, {s.destination, s.to, rows.stride}, rows.rows, rows.bytes);
        run::put_strip(cluster_, rows, whole_.get() + at_, *s.destination);
        moved_ += uint64_t{rows.rows} * rows.bytes;
      } else {
        const uint32_t written = run::take_strip(rows, *s.source, whole_.get() + at_);
        if (heard)
          port.tell_rows(run::AccessKind::read, {s.source, s.from, rows.bytes},
                         std::min(written + 1, rows.rows), rows.bytes);
        if (written != rows.rows) throw unwritten();
      }
      at_ += uint64_t{rows.rows} * rows.bytes;
      next_ += rows.rows - 1;
      continue;
    }
    std::byte* const bytes = whole_.get() + at_;
    if (is_plain) {
      if (!reads) {
        port.write(*s.destination, s.to, s.bytes, bytes);
        moved_ += s.bytes;
      } else if (heard ? !read_written(s, bytes)
                       : !run::Port::collect(
                             *s.source, s.bytes,
                             [&](auto visit) { pieces(options_.shared_source, s.from, s.bytes, visit); },
                             bytes, whole_lines(s.from, s.bytes) ? std::optional(s.from) : std::nullopt)) {
        throw unwritten();
      }
      at_ += s.bytes;
      continue;
    }
    uint8_t* const defined = defined_.data() + at_;
    at_ += s.bytes;
    if (!reads) {
      write(*s.destination, nullptr, s, bytes, defined);
      moved_ += s.bytes;
      continue;
    }
    read(s, bytes, defined);
    if (!machine::all_written(defined, s.bytes) && cluster_.grid.options.follow == nullptr) throw unwritten();
  }
  if (reads) read_ = next_;
  if (next_ < count_) return false;
  next_ = 0;
  at_ = 0;
  if (reads) {
    const size_t now = some_wait() ? have_read_ + 1 : times_;
    for (; have_read_ < now; ++have_read_) groups_[have_read_].has_read();
  } else {
    moved_ += (have_read_ - done_ - 1) * total_;
    for (; done_ < have_read_; ++done_) groups_[done_].is_done();
    read_ = 0;
  }
  cta_->wake_operations(warp_, 1);
  return done_ == times_;
}

// Counts bytes on every target's mbarrier; returns whether a phase is over.
bool BulkCopy::complete(uint64_t bytes) {
  const run::Port port(cluster_, *this, options_.order);
  bool over = false;
  moved_ += bytes;
  for (const CopyTarget& t : targets_)
    if (bytes != 0 && port.mbarriers(machine::AccessKind::update, {cluster_.cta_of(t.barrier), t.barrier})
                          .complete(t.barrier, bytes)) {
      cluster_.wake_mbarrier(t.barrier);
      over = true;
    }
  return over;
}

bool BulkCopy::step_to_shared() {
  const size_t end = next_ + cluster_.piece(count_ - next_);
  const bool direct = goes_direct(), heard = cluster_.accesses_watched();
  uint64_t moved = 0;
  for (size_t told = next_; next_ < end; ++next_) {
    if (!heard)
      told = end;
    else if (direct && next_ >= told)
      told = next_ + tell_rows(next_, end);
    const bool at_once = direct && next_ < told;
    const Segment s = row(next_);
    if (const run::Strip rows = at_once ? strip(next_, told) : run::Strip{}; rows.rows != 0) {
      for (const CopyTarget& t : targets_)
        run::load_strip(cluster_, rows, *s.source, t.cta->shared, s.to - s.destination->base());
      moved += uint64_t{rows.rows} * rows.bytes;
      next_ += rows.rows - 1;
      continue;
    }
    moved += s.bytes;
    if (at_once && s.source != nullptr) {
      load_direct(s);
      continue;
    }
    bytes_.resize(std::max<size_t>(bytes_.size(), s.bytes));
    defined_.resize(bytes_.size());
    read(s, bytes_.data(), defined_.data());
    for (const CopyTarget& t : targets_) {
      if (!t.cta->alive() && t.cta->index == place.cta)
        t.cta->outlived(place, what_);
      else if (!t.cta->alive())
        throw Fault(what_ + " writes the shared memory of CTA rank " + std::to_string(t.cta->rank) +
                    ", which has ended: it ended without waiting for the copy");
      write(t.cta->shared, t.cta, s, bytes_.data(), defined_.data());
    }
  }
  bool over = complete(moved);
  if (next_ < count_) return false;
  for (++done_; done_ < times_ && !over; ++done_) over = complete(total_);
  if (done_ < times_) next_ = 0;
  return done_ == times_;
}

bool BulkCopy::step() {
  const uint64_t before = moved_;
  const bool done = groups_.empty() ? step_to_shared() : step_to_global();
  work.bytes += moved_ - before;
  return done;
}

machine::Task BulkCopy::task() const {
  machine::Task out;
  out.kind = groups_.empty() ? machine::Task::Kind::load : machine::Task::Kind::store;
  // What lanes store alike ptxas makes one store of, where it sees that they do; what an mbarrier counts it
  // repeats for each.
  const size_t times = groups_.empty() ? times_ - done_ : 1;
  out.bytes = total_ * times;
  out.tensor_map = options_.tensor_map;
  for (const CopyTarget& t : targets_) out.ranks |= 1u << t.cta->rank;
  constexpr uint64_t kSector = 32;
  uint64_t last = 0;  // of those that are counted
  each_row(0, [&](const Segment& s) {
    out.lines += (s.bytes + kLine - 1) / kLine;
    const Region* const there = groups_.empty() ? s.source : s.destination;
    const uint64_t at = groups_.empty() ? s.from : s.to;
    if (there == nullptr || s.bytes == 0 ||
        std::any_of(cluster_.ctas.begin(), cluster_.ctas.end(),
                    [&](const auto& c) { return &c->shared == there; }))
      return false;
    if (out.global == 0) out.global = at;
    const uint64_t first = at / kSector, end = (at + s.bytes - 1) / kSector;
    out.sectors += end - first + (first == last ? 0 : 1);
    last = end;
    return false;
  });
  out.sectors *= times;
  out.lines *= times;
  return out;
}

std::string BulkCopy::describe() const {
  return what_ + " of PTX line " + std::to_string(place.ptx_line) +
         (times_ > 1 ? ", by " + std::to_string(times_) + " threads" : "") + ", " + std::to_string(moved_) +
         " of " + std::to_string(times_ * total_) + " bytes moved";
}

}  // namespace bitwell::isa
