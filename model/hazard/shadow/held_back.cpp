#include "model/hazard/shadow/held_back.h"

#include <algorithm>
#include <utility>

#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

using machine::AccessKind;
using machine::kLanes;

namespace {

bool reaches_global(const machine::Access& a) {
  for (uint32_t rest = a.lanes; rest != 0; rest &= rest - 1)
    if (machine::is_global(a.addresses[static_cast<size_t>(std::countr_zero(rest))])) return true;
  return false;
}

}  // namespace

void HeldBack::begin(bool global) {
  of_global_ = global;
  forgot_ = stopped_ = false;
  shift_ = kUsualShift;
  shared_.count = global_.count = 0;
  if (++cluster_ == 0) {
    slots_.assign(slots_.size(), Slot{});
    shared_ = global_ = {};
    cluster_ = 1;
  }
  forget_kept();
  most_kept_ = 0;
  partial_.fill(false);
  next_meeting();
}

void HeldBack::forget_kept() {
  most_kept_ = std::max(most_kept_, kept_.size() * sizeof(Kept) + lists_.size() * sizeof(uint64_t) +
                                        moments_.size() * sizeof(Moment));
  kept_.clear();
  lists_.clear();
  moments_.clear();
  moment_of_.fill(0);
}

void HeldBack::next_meeting() {
  finest_ = kUsualShift;
  clashed_ = false;
  did_.fill({});
  if (meeting_++ < kMostMeetings) return;
  for (Memory* const memory : {&shared_, &global_}) {
    std::fill(memory->who.begin(), memory->who.end(), 0);
    std::fill(memory->lines.begin(), memory->lines.end(), 0);
  }
  meeting_ = 1;
}

HeldBack::Slot& HeldBack::slot_of(uint64_t number) {
  for (size_t at = number * 0x9E3779B97F4A7C15 >> 32;; ++at)
    if (Slot& slot = slots_[at & (slots_.size() - 1)]; slot.cluster != cluster_ || slot.number == number)
      return slot;
}

void HeldBack::grow(Memory& memory, size_t pages) const {
  memory.pages.resize(2 * pages);
  memory.lines.resize(2 * pages * (kPageBytes / kLineBytes));
  memory.who.resize(2 * pages << (kPageShift - shift_));
}

void HeldBack::begin_shared(uint32_t page) {
  if (page >= shared_.pages.size()) grow(shared_, page + 1);
  shared_.pages[page] = {machine::kSharedWindow / kPageBytes + page, cluster_};
  ++shared_.count;
}

uint32_t HeldBack::global_page(uint64_t number) {
  if (last_page_ < global_.count && global_.pages[last_page_].number == number) return last_page_;
  if (const Slot& slot = slot_of(number); slot.cluster == cluster_) return last_page_ = slot.page;
  const auto page = static_cast<uint32_t>(global_.count++);
  if (page >= global_.pages.size()) grow(global_, page + 1);
  global_.pages[page] = {number, cluster_};
  if (2 * global_.count > slots_.size()) {
    slots_.assign(2 * slots_.size(), Slot{});
    for (uint32_t i = 0; i < page; ++i)
      slot_of(global_.pages[i].number) = {global_.pages[i].number, i, cluster_};
  }
  slot_of(number) = {number, page, cluster_};
  return last_page_ = page;
}

const HeldBack::Page* HeldBack::find(uint64_t address) {
  if (const uint64_t offset = address - machine::kSharedWindow; offset < machine::kWindowSize) {
    const uint64_t page = offset / kPageBytes;
    return page < shared_.pages.size() && shared_.pages[page].cluster == cluster_ ? &shared_.pages[page]
                                                                                  : nullptr;
  }
  const Slot& slot = slot_of(address / kPageBytes);
  return slot.cluster == cluster_ ? &global_.pages[slot.page] : nullptr;
}

bool HeldBack::written(const machine::Access& a) {
  bool out = false;
  for (uint32_t rest = a.lanes; rest != 0; rest &= rest - 1) {
    const Page* const page = find(a.addresses[static_cast<size_t>(std::countr_zero(rest))]);
    out = out || (page != nullptr && page->written);
  }
  return out;
}

void HeldBack::make_pieces(Memory& memory, size_t line) const {
  Line& l = memory.lines[line];
  if (l >> 2 * kBits != meeting_) {
    l = meeting_ << 2 * kBits | kPieces;
    return;
  }
  l |= kPieces;
  const uint32_t pieces = kLineBytes >> shift_, first = l >> kThreadAt & kSeveral;
  const int of_one = static_cast<int>(l >> kBytesAt & 7) - shift_;
  Who* const who = memory.who.data() + line * pieces;
  for (uint32_t i = 0; i < pieces; ++i) {
    const uint32_t thread = first + (i >> of_one);
    who[i] =
        meeting_ << 2 * kBits | ((l & kWritten) != 0 ? thread << kBits : 0) | ((l & kRead) != 0 ? thread : 0);
  }
}

template <bool kWrites>
bool HeldBack::clash(uint32_t meeting, Who& w, uint32_t thread) {
  if (w >> 2 * kBits != meeting) {  // nobody, as most often
    w = meeting << 2 * kBits | (kWrites ? thread << kBits : thread);
    return false;
  }
  const Who before = w & kBoth, writer = before >> kBits, reader = before & kSeveral;
  const auto other = [&](uint32_t who) { return who != 0 && (who != thread || thread == kSeveral); };
  if (kWrites) {
    w = meeting << 2 * kBits | thread << kBits | reader;
    return other(writer) || other(reader);
  }
  w = meeting << 2 * kBits | writer << kBits | (reader == 0 || reader == thread ? thread : kSeveral);
  return other(writer);
}

template <class Visit>
void HeldBack::each(const machine::Access& a, Visit visit) {
  Place place{nullptr, 0};
  uint64_t page = UINT64_MAX, line = UINT64_MAX;  // that place is of, and that was looked at last
  for (uint32_t rest = a.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    uint64_t address = a.addresses[lane];
    if (!watched(address)) continue;
    for (const uint64_t end = address + a.bytes; address < end;) {
      if (address / kPageBytes != page) {
        page = address / kPageBytes;
        place = place_of(address);
        place.memory->pages[place.page].written |= a.kind != AccessKind::read;
      }
      const uint64_t first = address % kLineBytes, last = std::min(kLineBytes, first + (end - address));
      if (address / kLineBytes != line) {
        line = address / kLineBytes;
        by_pieces(*place.memory, place.page * (kPageBytes / kLineBytes) + line % (kPageBytes / kLineBytes));
      }
      int8_t& shift = place.memory->pages[place.page].shift;
      shift = std::min(shift, static_cast<int8_t>(std::countr_zero(first | last)));
      Who* const who = place.memory->who.data() + (size_t{place.page} << (kPageShift - shift_));
      const uint64_t from = address % kPageBytes >> shift_;
      for (uint64_t i = 0; i <= ((last - 1) >> shift_) - (first >> shift_); ++i) visit(who[from + i], lane);
      address += last - first;
    }
  }
}

template <bool kWrites>
bool HeldBack::clash_of_lanes(const machine::Access& a) {
  bool out = false;
  each(a, [&](Who& who, uint32_t lane) {
    out |= clash<kWrites>(meeting_, who, a.met != 0 ? kSeveral : thread_of(a.warp, lane));
  });
  return out;
}

template <bool kWrites>
HeldBack::Who* HeldBack::begun_piece(uint64_t address) {
  if (!watched(address)) return nullptr;
  const auto [memory, number] = place_of(address);
  Page& page = memory->pages[number];
  page.shift = std::min(page.shift, static_cast<int8_t>(shift_));
  page.written |= kWrites;
  const size_t at = (size_t{number} << kPageShift) + address % kPageBytes;
  by_pieces(*memory, at / kLineBytes);
  memory->lines[at / kLineBytes] |= kPageKnows;
  return &memory->who[at >> shift_];
}

template <bool kWrites>
bool HeldBack::clash_of_pieces(const machine::Access& a, const Even& even) {
  constexpr Line knows = kPieces | kPageKnows;
  constexpr Line looked_at = ~kBoth | knows;  // the meeting, too
  // What stays is held here: what is noted of pieces might be any of it, as far as the compiler knows.
  const uint32_t meeting = meeting_, apart = a.met != 0 ? 0 : 1;  // the numbers of two lanes in turn
  const uint32_t first = a.met != 0 ? kSeveral : thread_of(a.warp, 0);
  const int shift = shift_;
  const Line usual = meeting << 2 * kBits | knows;
  bool out = false;
  uint64_t low_bits = 0;
  for (uint32_t rest = a.lanes; rest != 0;) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint64_t address = a.addresses[lane], offset = address - machine::kSharedWindow;
    // Nearly always the line is one of pieces since all met last.
    const bool begun = offset < shared_.pages.size() * kPageBytes &&
                       (shared_.lines[offset / kLineBytes] & looked_at) == usual;
    Who* piece = begun ? shared_.who.data() + (offset >> shift) : begun_piece<kWrites>(address);
    if (even.shift == kLineShift) {  // of its own
      low_bits |= piece == nullptr ? 0 : address;
      out |= piece != nullptr && clash<kWrites>(meeting, *piece, first + lane * apart);
      rest &= rest - 1;
      continue;
    }
    // Lanes in turn that are in that line.
    const auto in_turn = static_cast<uint32_t>(std::countr_one(rest >> lane));
    const uint32_t together = std::min(in_turn, even.in_line(address));
    if (piece != nullptr) {
      low_bits |= address | (together != 1 ? even.apart : 0);
      const auto step = static_cast<std::ptrdiff_t>(even.apart >> shift);
      uint32_t thread = first + lane * apart;
      for (uint32_t i = 0; i < together; ++i, piece += step, thread += apart)
        out |= clash<kWrites>(meeting, *piece, thread);
    }
    rest = together == kLanes ? 0 : rest & (~0u << together << lane);
  }
  return out || (low_bits & ((1u << shift_) - 1)) != 0;
}

HeldBack::LinePlace HeldBack::begun_line(uint64_t address, int shift, bool writes) {
  const auto [memory, number] = place_of(address);
  Page& page = memory->pages[number];
  page.shift = std::min(page.shift, static_cast<int8_t>(shift));
  page.written |= writes;
  return {memory, number * (kPageBytes / kLineBytes) + address / kLineBytes % (kPageBytes / kLineBytes)};
}

template <bool kWrites>
bool HeldBack::clash_of_lines(const machine::Access& a) {
  const int bytes = std::countr_zero(a.bytes);
  const auto each = static_cast<uint32_t>(kLineBytes >> bytes);  // lanes of a line
  bool out = false;
  for (uint32_t lane = 0; lane < kLanes; lane += each) {
    const auto [memory, at] = begun_line(a.addresses[lane], bytes, kWrites);
    if (row_reaches(memory->lines[at], row_of(a.warp, lane, bytes), kWrites)) continue;
    by_pieces(*memory, at);
    const auto pieces = static_cast<uint32_t>(kLineBytes >> shift_);
    Who* const who = memory->who.data() + at * pieces;
    for (uint32_t i = 0; i < pieces; ++i)
      out |= clash<kWrites>(meeting_, who[i], thread_of(a.warp, lane + (i >> (bytes - shift_))));
  }
  return out;
}

bool HeldBack::keep(const machine::Row& row, const Cluster& c) {
  const bool writes = row.kind == AccessKind::write;
  if (stopped_ || row.kind == AccessKind::update || row.order.semantics != machine::Semantics::weak ||
      row.order.proxy != machine::Proxy::generic || row.address % kLineBytes != 0 || !watched(row.address) ||
      row.bytes > kMostOfRow || row.bytes >> shift_ == 0 || kept_.size() + 1 >= most_)
    return false;
  const int bytes = std::countr_zero(row.bytes);
  for (uint32_t lane = 0; lane < kLanes; lane += static_cast<uint32_t>(kLineBytes >> bytes)) {
    const auto [memory, at] = begun_line(row.address + lane * row.bytes, bytes, writes);
    // Lines before this one were reached by nobody else: to reach them again changes nothing.
    if (!row_reaches(memory->lines[at], row_of(row.warp, lane, bytes), writes)) return false;
  }
  cta_ = row.cta;
  const Warp* const warp = c.warp(0, row.warp);
  did_[static_cast<size_t>(row.warp)] = {~0u, warp == nullptr ? 1 : warp->time};
  finest_ = std::min(finest_, bytes);
  kept_.emplace_back(row.address, row.bytes, ~0u, 0u, moment(row.warp, warp), row.ptx_line,
                     static_cast<uint32_t>(row.bytes), row.kind, false);
  return true;
}

bool HeldBack::anybody(const machine::Access& a) {
  bool out = false;
  each(a, [&](Who& who, uint32_t) {
    out |= at(meeting_, who) != 0;
    who = meeting_ << 2 * kBits | kBoth;
  });
  return out;
}

HeldBack::Reached HeldBack::reach(const machine::Access& a, const Cluster& c) {
  cta_ = a.cta;
  const Warp* const warp = c.warp(0, a.warp);
  did_[static_cast<size_t>(a.warp)].lanes |= a.lanes | a.met;
  did_[static_cast<size_t>(a.warp)].time = warp == nullptr ? 1 : warp->time;
  if (stopped_) return Reached::fresh;
  if (a.kind == AccessKind::update || a.order.semantics != machine::Semantics::weak ||
      a.order.proxy != machine::Proxy::generic || !std::has_single_bit(a.bytes) ||
      (!of_global_ && reaches_global(a)))
    return anybody(a) ? Reached::shared : Reached::fresh;
  finest_ = std::min(finest_, std::countr_zero(a.bytes));
  const bool writes = a.kind == AccessKind::write, row = a.met == 0 && in_row(a);
  const bool lines = row && a.addresses[0] % kLineBytes == 0 && watched(a.addresses[0]) &&
                     a.bytes <= kMostOfRow && a.bytes >> shift_ != 0;
  const Even even = HeldBack::even(a, row);
  const bool clashes = lines ? writes ? clash_of_lines<true>(a) : clash_of_lines<false>(a)
                       : a.bytes == 1u << shift_
                           ? writes ? clash_of_pieces<true>(a, even) : clash_of_pieces<false>(a, even)
                       : writes ? clash_of_lanes<true>(a)
                                : clash_of_lanes<false>(a);
  if (!clashes) {
    keep(a, warp, even);
    return Reached::kept;
  }
  clashed_ = true;
  anybody(a);
  return Reached::shared;
}

HeldBack::Even HeldBack::even(const machine::Access& a, bool row) {
  const auto lane = [](uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); };
  Even out{true, a.bytes, a.addresses[0], kLineShift};
  if (!row) {
    const uint32_t first = lane(a.lanes), others = a.lanes & (a.lanes - 1);
    out.apart = (others >> 1 & 1u << first) != 0 ? a.addresses[first + 1] - a.addresses[first] : 0;
    out.of_lane_0 = a.addresses[first] - out.apart * first;
    uint64_t other = 0;
    if (a.lanes == ~0u) {
      uint64_t expected = out.of_lane_0;
      for (uint32_t i = 0; i < kLanes; ++i, expected += out.apart) other |= a.addresses[i] ^ expected;
    } else {
      for (uint32_t rest = others; rest != 0; rest &= rest - 1)
        other |= a.addresses[lane(rest)] ^ (out.of_lane_0 + out.apart * lane(rest));
    }
    out.holds = other == 0;
  }
  if (out.holds && out.apart < kLineBytes && (out.apart & (out.apart - 1)) == 0)
    out.shift = out.apart == 0 ? 0 : std::countr_zero(out.apart);
  return out;
}

uint32_t HeldBack::moment(int warp, const Warp* of) {
  uint32_t& moment = moment_of_[static_cast<size_t>(warp)];
  if (moment == 0) {
    moments_.push_back({warp, of == nullptr ? 1 : of->time, of == nullptr ? OfLanes<Known>{} : of->known});
    moment = static_cast<uint32_t>(moments_.size());
  }
  return moment - 1;
}

void HeldBack::keep(const machine::Access& a, const Warp* warp, const Even& even) {
  // Made where it stays: who copies what was just written part by part waits for that.
  kept_.emplace_back(even.holds ? even.of_lane_0 : lists_.size(), even.apart, a.lanes, a.met,
                     moment(a.warp, warp), a.ptx_line, static_cast<uint32_t>(a.bytes), a.kind, !even.holds);
  if (even.holds) return;
  for (uint32_t rest = a.lanes; rest != 0; rest &= rest - 1)
    lists_.push_back(a.addresses[static_cast<size_t>(std::countr_zero(rest))]);
}

machine::Access HeldBack::access_of(const Kept& k, const Moment& m,
                                    std::array<uint64_t, kLanes>& addresses) const {
  uint64_t next = k.address;
  for (uint32_t i = 0; i < kLanes; ++i)
    addresses[i] = (k.lanes >> i & 1) == 0 ? 0 : k.listed ? lists_[next++] : k.address + k.apart * i;
  machine::Access out{k.kind, {}, cta_, m.warp, k.lanes, 0, 0, k.ptx_line, addresses, k.bytes};
  out.met = k.met;
  return out;
}

void HeldBack::met(uint64_t barrier, const Cluster& c) {
  if (std::exchange(partial_[barrier], false)) return;
  const Knowledge* const all = barrier < c.bars.size() ? c.bars[barrier].all.get() : nullptr;
  if (all == nullptr) return;
  for (size_t i = 0; i < did_.size(); ++i) {
    const Did& did = did_[i];
    if (did.lanes == 0) continue;
    const Warp* const warp = c.warp(0, static_cast<int>(i));
    if (warp == nullptr) return;
    if (all->happened.least(warp->unit) >= did.time) continue;
    for (uint32_t rest = did.lanes; rest != 0; rest &= rest - 1)
      if (!all->happened.knows({warp->unit, static_cast<uint32_t>(std::countr_zero(rest)), did.time})) return;
  }
  forgot_ = forgot_ || !kept_.empty();
  forget_kept();
  // Bytes of one piece that several threads have for themselves.
  if (clashed_ && finest_ < shift_) {
    shift_ = finest_;
    for (Memory* const memory : {&shared_, &global_})
      memory->who.assign(memory->pages.size() << (kPageShift - shift_), 0);
  }
  next_meeting();
}

size_t HeldBack::bytes() const {
  const size_t kept =
      kept_.size() * sizeof(Kept) + lists_.size() * sizeof(uint64_t) + moments_.size() * sizeof(Moment);
  const size_t page = sizeof(Page) + 2 * sizeof(Slot) + sizeof(Line) * (kPageBytes / kLineBytes) +
                      sizeof(Who) * (kPageBytes >> shift_);
  return (shared_.count + global_.count) * page + std::max(kept, most_kept_);
}

}  // namespace bitwell::hazard
