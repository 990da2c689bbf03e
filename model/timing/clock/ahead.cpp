// A warp executes before its time what no other can tell from its doing so later. What that costs is noted,
// and counts when its time comes.
#include <algorithm>
#include <bit>
#include <optional>

#include "model/timing/clock/issue.h"

namespace bitwell::timing {
namespace {

using Form = run::Reach::Form;
constexpr uint64_t kMostShared = 16;  // bytes of a lane

// Whether they stand side by side; `many`: how many they are then.
bool side_by_side(uint32_t lanes, uint32_t& many) {
  const uint32_t from_first = lanes >> std::countr_zero(lanes);
  many = static_cast<uint32_t>(std::countr_one(from_first));
  return (from_first & (from_first + 1)) == 0;
}

// How far what lanes reach lies apart from lane to lane, where that is the same for all.
std::optional<uint64_t> stride(const run::Reach& r) {
  const uint32_t others = r.lanes & (r.lanes - 1);
  if (others == 0) return 0;
  const auto first = static_cast<uint32_t>(std::countr_zero(r.lanes));
  const auto second = static_cast<uint32_t>(std::countr_zero(others));
  const uint64_t apart = r.addresses[second] - r.first;
  if (uint32_t many = 0; side_by_side(r.lanes, many)) {
    const uint64_t* const at = &r.addresses[first];
    uint64_t other = 0;
    for (uint32_t k = 1; k < many; ++k) other |= (at[k] - at[k - 1]) ^ apart;
    return other == 0 ? std::optional(apart) : std::nullopt;
  }
  if (second - first > 1 && apart % (second - first) != 0) return {};
  const uint64_t out = apart / (second - first), begin = r.first - first * out;
  for (uint32_t lanes = others; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    if (r.addresses[lane] != begin + lane * out) return {};
  }
  return out;
}

// Lanes that reach one word of a bank share its wavefront of 128 bytes; two words of one bank do not, nor do
// two atomics of one word.
uint32_t wavefronts(const run::Reach& r) {
  const bool updates = r.kind == machine::AccessKind::update;
  if (updates && r.form == Form::same) return static_cast<uint32_t>(std::popcount(r.lanes));
  constexpr uint32_t kBanks = 32, kWord = 4, kFront = kBanks * kWord;
  const auto bytes = static_cast<uint32_t>(std::clamp<uint64_t>(r.bytes, kWord, kMostShared));
  const uint32_t together = kFront / bytes;
  const auto address = [&](uint32_t lane) {
    return r.form == Form::each  ? r.addresses[lane]
           : r.form == Form::row ? r.first + lane * r.bytes
                                 : r.first;
  };
  uint32_t fronts = 0;
  if (const auto apart = r.form == Form::each && r.bytes == kWord ? stride(r) : std::nullopt;
      apart && *apart % kWord == 0) {
    // Every so many lanes come to the same bank again, and each word is another.
    const uint64_t words = *apart / kWord;
    if (words == 0 && updates) return static_cast<uint32_t>(std::popcount(r.lanes));
    if (words == 0 || words % 2 != 0) return 1;
    const auto again = static_cast<int>(kBanks >> std::min(std::countr_zero(words), 5));
    if (uint32_t many = 0; side_by_side(r.lanes, many))
      return (many + static_cast<uint32_t>(again) - 1) / static_cast<uint32_t>(again);
    uint32_t every = 1;
    for (int lanes = again; lanes < machine::kLanes; lanes *= 2) every |= every << lanes;
    for (int first = 0; first < again; ++first)
      fronts = std::max(fronts, static_cast<uint32_t>(std::popcount(r.lanes & every << first)));
    return fronts;
  }
  for (uint32_t first = 0; first < machine::kLanes; first += together) {
    std::array<std::array<uint64_t, kBanks>, kBanks> words;
    std::array<uint32_t, kBanks> count{};
    uint32_t most = 0;
    for (uint32_t lane = first; lane < first + together; ++lane) {
      if ((r.lanes >> lane & 1) == 0) continue;
      for (uint32_t b = 0; b < bytes; b += kWord) {
        const uint64_t word = (address(lane) + b) / kWord;
        auto& bank = words[word % kBanks];
        uint32_t& n = count[word % kBanks];
        if (n == kBanks) continue;
        if (!updates && std::find(bank.begin(), bank.begin() + n, word) != bank.begin() + n) continue;
        bank[n++] = word;
        most = std::max(most, n);
      }
    }
    fronts += most;
  }
  return std::max(fronts, 1u);
}

}  // namespace

void Clock::Ahead::make_room(uint32_t units) {
  constexpr uint32_t kLeast = 64;
  room_ = std::max({kLeast, 2 * room_, size_ + units});
  auto more = std::make_unique_for_overwrite<uint32_t[]>(room_);
  std::copy_n(notes_.get(), size_, more.get());
  notes_ = std::move(more);
}

// What lanes reach, but for their own addresses where they have such.
Clock::Access Clock::access(const run::Reach& r) {
  using How = Access::How;
  const bool shared = machine::is_shared(r.first);
  const bool each = r.form == Form::each || (shared && r.kind == machine::AccessKind::update);
  Access a;
  a.first = r.first;
  a.bytes = static_cast<uint32_t>(r.bytes);
  a.kind = static_cast<uint32_t>(r.kind);
  How how = r.form == Form::row ? How::row : each ? How::each : How::same;
  if (shared && (each || r.bytes > kMostShared)) {
    how = How::wavefronts;
    a.many = wavefronts(r);
  } else if (each) {
    a.many = static_cast<uint32_t>(std::popcount(r.lanes));
  } else if (r.kind == machine::AccessKind::update) {
    a.many = static_cast<uint32_t>(std::popcount(r.lanes));
  }
  a.how = static_cast<uint32_t>(how);
  return a;
}

// The next of what is reached. The rows of ldmatrix and stmatrix are told one by one, and reached together.
const run::Reach* Clock::together(const run::Reach*& next, const run::Reach* end, run::Reach& room) {
  const run::Reach& first = *next++;
  const auto is_row = [&](const run::Reach& r) {
    return r.form == Form::each && r.kind == first.kind && r.bytes == first.bytes &&
           machine::is_shared(r.first);
  };
  if (next == end || !is_row(first) || !is_row(*next) || (first.lanes & next->lanes) != 0) return &first;
  room = first;
  for (; next != end && is_row(*next) && (room.lanes & next->lanes) == 0; ++next) {
    room.lanes |= next->lanes;
    for (uint32_t lanes = next->lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(lanes));
      room.addresses[lane] = next->addresses[lane];
    }
  }
  return &room;
}

void Clock::note(const run::Reaches& reached, std::vector<uint64_t>& out) {
  run::Reach room;
  for (const run::Reach* next = reached.begin(); next != reached.end();) {
    const run::Reach& r = *together(next, reached.end(), room);
    const Access a = access(r);
    const size_t at = out.size();
    out.resize(at + sizeof a / sizeof(uint64_t));
    std::memcpy(&out[at], static_cast<const void*>(&a), sizeof a);
    if (a.is(Access::How::each))
      for (uint32_t lanes = r.lanes; lanes != 0; lanes &= lanes - 1)
        out.push_back(r.addresses[static_cast<size_t>(std::countr_zero(lanes))]);
  }
}

bool Clock::goes_ahead() {
  ahead_ = true;
  return true;
}

namespace {

// No further than what is noted takes little room.
constexpr uint32_t kMostNotes = 1024;

}  // namespace

run::GoesAhead Clock::may_go_ahead(int function) const {
  return {may_go_ahead_[static_cast<size_t>(function)].data(), &warp_->noted, kMostNotes};
}

// Another step of what the warp executes ahead. Returns where what it reached is to be noted.
[[gnu::always_inline]] inline Clock::Ahead& Clock::add_step(Step::Key key, uint32_t words) {
  Ahead& ahead = warp_->ahead;
  if (sequences_->begins()) sequence_at_ = ahead.begin();
  sequence_is_full_ = sequences_->add(key);
  warp_->noted += words;
  return ahead;
}

void Clock::end_sequence() {
  if (!sequences_->begins())
    warp_->ahead.end(sequence_at_, sequences_->end([this](Step::Key key) { return step_of(key); }));
}

Clock::Step Clock::step_of(Step::Key key) const {
  using What = Step::What;
  Step out = Step::of(key);
  if (out.what == What::computes || out.what == What::ends_turn) return out;
  out.info = all_infos_[out.number];
  if (out.what == What::global && out.how == Access::How::row) out.amount *= machine::kLanes;
  if (out.what != What::shared) return out;
  constexpr uint32_t kWord = 4;
  const uint32_t fronts =
      out.how == Access::How::wavefronts ? out.amount : std::max(out.amount, kWord) / kWord;
  out.port = fronts * time(Key::shared_interval);
  out.latency = shared_latency(out.remote, out.kind);
  return out;
}

void Clock::turn_ends(bool another) {
  add_step(Step{.what = Step::What::ends_turn, .did = another}.key(), 1);
  if (sequence_is_full_) end_sequence();
}

// Of one access: whether it can be said in short.
[[gnu::always_inline]] inline bool Clock::add_access(Step step, const run::Reach& one) {
  using What = Step::What;
  constexpr int kAddressBits = 48;
  constexpr uint32_t kWords = 1 + sizeof(Access) / sizeof(uint64_t);
  const bool shared = machine::is_shared(one.first);
  const bool global = machine::is_global(one.first);
  if (!global && one.first >= machine::kConstWindow) {  // parameters and constants: it asks nobody
    add_step(step.key(), kWords);
    return true;
  }
  step.kind = one.kind;
  if (shared &&
      (one.form == Form::each || one.bytes > kMostShared || one.kind == machine::AccessKind::update)) {
    step.how = Access::How::wavefronts;
    step.amount = wavefronts(one);
  } else {
    // An atomic: what it costs hangs on how many lanes there are.
    if (one.form == Form::each || one.kind == machine::AccessKind::update || one.first >> kAddressBits != 0 ||
        one.bytes >> Step::kAmountBits != 0)
      return false;
    step.how = one.form == Form::row ? Access::How::row : Access::How::same;
    step.amount = static_cast<uint32_t>(one.bytes);
  }
  if (shared) {
    step.what = What::shared;
    step.remote = rank_of(one.first) != warp_->rank;
    add_step(step.key(), kWords);
  } else {
    step.what = global ? What::global : What::other;
    add_step(step.key(), kWords).add(one.first);
  }
  return true;
}

// What cannot be said in short.
[[gnu::noinline]] void Clock::add_words(Step step) {
  step.what = Step::What::words;
  if (reached_.size() != 1) {
    notes_.clear();
    note(reached_, notes_);
    add_step(step.key(), 1 + static_cast<uint32_t>(notes_.size())).add(Notes(notes_));
    return;
  }
  const run::Reach& one = *reached_.begin();
  const Access a = access(one);
  const uint32_t own = a.is(Access::How::each) ? one.lanes : 0;
  const auto words =
      static_cast<uint32_t>(sizeof a / sizeof(uint64_t)) + static_cast<uint32_t>(std::popcount(own));
  add_step(step.key(), 1 + words).add(a, one.addresses, own);
}

[[gnu::always_inline]] inline void Clock::add_operation(const Info& i, bool did) {
  const Step step{.did = did, .number = i.number};
  if (reached_.size() == 0)
    add_step(step.key(), 1);
  else if (reached_.size() != 1 || i.kind != OpKind::memory || !add_access(step, *reached_.begin()))
    add_words(step);
  reached_.clear();
  if (i.leaves) warp_->has_left = true;
  // A turn most likely ends there.
  if (sequence_is_full_ || (did && !i.goes_on && !i.ends_block)) end_sequence();
}

run::Past Clock::has_gone_ahead(WarpTime& w) {
  using What = Step::What;
  Ahead& ahead = w.ahead;
  run::Past out = run::Past::part;
  while (const Step* const step = ahead.first(*sequences_)) {
    ahead.take();
    if (step->what == What::computes) {
      add_time(step->number);
      if (w.clock - turn_begin_ < kAhead) continue;
      out = run::Past::all;
      break;
    }
    if (step->what == What::ends_turn) {
      out = run::Past::all;
      break;
    }
    const Info& i = *step->info;
    bool goes_on = false;
    switch (step->what) {
      case What::shared: goes_on = costs_time(*step, 0); break;
      case What::global: goes_on = costs_time(*step, ahead.address()); break;
      case What::other: {
        Access one;
        one.first = ahead.address();
        one.many = one.bytes = step->amount;
        one.how = static_cast<uint32_t>(step->how) & 3;
        one.kind = static_cast<uint32_t>(step->kind) & 3;
        goes_on = costs_time(i, step->did ? machine::kLanes : 0, Notes(&one, sizeof one / sizeof(uint64_t)));
        break;
      }
      case What::words: goes_on = costs_time(i, step->did ? machine::kLanes : 0, ahead.words()); break;
      default: goes_on = costs_time(i, step->did ? machine::kLanes : 0, {});
    }
    if (i.ends_block && step->did) diverges(i);
    if (i.leaves) leave(w.rank);
    // No turn ends behind what did nothing, nor behind a branch.
    if (!i.leaves && (goes_on || !step->did || i.ends_block)) continue;
    out = i.meets || i.leaves ? run::Past::meets : run::Past::all;
    if (const Step* const next = ahead.first(*sequences_);
        next != nullptr && next->what == What::ends_turn && !next->did)
      ahead.take();
    break;
  }
  ahead.find_soon(*sequences_, w.soon);
  if (ahead.empty()) {
    ahead.start_again();
    w.noted = 0;
  }
  return out;
}

bool Clock::leads(const run::Taker& taker) {
  end_sequence();
  warp_ = &at_->warps[taker.warp];
  ahead_ = true;
  return warp_->noted < kMostNotes;
}

void Clock::has_led() {
  end_sequence();
  warp_ = turns_;
}

std::optional<bool> Clock::can_go_on(const run::Taker& taker) const {
  if (!through_) return {};
  const WarpTime& w = clusters_[taker.cluster]->warps[taker.warp];
  if (w.waits) return false;
  return w.noted == 0 ? std::nullopt : std::optional(true);
}

// At a barrier of all warps of a CTA.
void Clock::meet(WarpTime& w) {
  w.waits = true;
  ++at_->meetings[w.rank].waiting;
  let_go(w.rank);
}

void Clock::ends(const run::Taker& taker) {
  const WarpTime& w = at_->warps[taker.warp];
  if (!w.has_left) leave(w.rank);
}

void Clock::leave(uint32_t rank) {
  ++at_->meetings[rank].ended;
  let_go(rank);
}

// Those who wait at a barrier, if no other warp of the CTA is to come.
void Clock::let_go(uint32_t rank) {
  ClusterTime::Meeting& m = at_->meetings[rank];
  if (m.waiting == 0 || m.waiting + m.ended < warps_) return;
  m.waiting = 0;
  has_let_go_ = true;
  for (size_t i = 0; i < warps_; ++i) at_->warps[rank * warps_ + i].waits = false;
}

bool Clock::executed(int function, uint32_t pc, uint32_t lanes) {
  const Info& i = infos_[static_cast<size_t>(function)][pc];
  if (ahead_) {
    add_operation(i, lanes != 0);
    return true;
  }
  notes_.clear();
  note(reached_, notes_);
  reached_.clear();
  const bool out = costs_time(i, lanes, Notes(notes_));
  if (i.ends_block && lanes != 0) diverges(i);
  return out;
}

bool Clock::computed(int function, uint32_t from, uint32_t to) {
  uint32_t number = first_blocks_[static_cast<size_t>(function)][from];
  if (number == Block::kNone || blocks_[number].to != to) [[unlikely]]
    number = block(function, from, to);
  if (!ahead_) {
    add_time(number);
    return warp_->clock - turn_begin_ < kAhead;
  }
  add_step(Step{.what = Step::What::computes, .number = number}.key(), blocks_[number].steps);
  if (sequence_is_full_) end_sequence();
  return true;
}

}  // namespace bitwell::timing
