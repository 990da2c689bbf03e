// What warps have executed before their time: sequences of steps that all of them share, and what is each
// warp's own.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/timing/clock.h"

namespace bitwell::timing {

// What a warp reaches at one go, as far as time hangs on it. Among notes the addresses of its lanes follow.
struct Clock::Access {
  enum class How : uint8_t {
    row,        // lane i at first + i * bytes
    same,       // all lanes at first
    each,       // so many lanes have addresses of their own
    wavefronts  // of shared memory: so many
  };
  uint64_t first = 0;  // the lowest lane's
  uint32_t many = 0;
  uint32_t bytes : 28 = 0;  // of each lane
  uint32_t how : 2 = 0;
  uint32_t kind : 2 = 0;

  bool is(How h) const { return how == static_cast<uint32_t>(h); }
  bool is(machine::AccessKind k) const { return kind == static_cast<uint32_t>(k); }
};

// Words that stand anywhere: accesses, and behind one the addresses of its lanes where these have their own.
class Clock::Notes {
 public:
  Notes() = default;
  Notes(const void* from, size_t words) : from_(static_cast<const std::byte*>(from)), size_(words) {}
  explicit Notes(const std::vector<uint64_t>& words) : Notes(words.data(), words.size()) {}
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  uint64_t operator[](size_t i) const {
    uint64_t out;
    std::memcpy(&out, from_ + i * sizeof out, sizeof out);
    return out;
  }
  const void* data() const { return from_; }
  Notes first(size_t words) const { return {from_, words}; }
  Notes behind(size_t words) const { return {from_ + words * sizeof(uint64_t), size_ - words}; }

 private:
  const std::byte* from_ = nullptr;
  size_t size_ = 0;
};

// One step of what is executed before its time. An access that can be said in short has all but its address
// here: it is the same for each warp that comes by.
struct Clock::Step {
  enum class What : uint8_t {
    computes,   // a block
    ends_turn,  // where that has not ended just before; `did`: the next one's where it has
    single,     // an operation that reaches nothing; not `did`: its guard held for no lane
    words,      // one that reaches what is noted word by word
    shared,     // one access of shared memory
    global,     // one of global memory, whose first address is noted
    other       // one of another memory, likewise
  };
  What what = What::single;
  bool did = false;
  machine::AccessKind kind = machine::AccessKind::read;
  Access::How how = Access::How::row;
  bool remote = false;  // of another CTA's shared memory
  uint32_t number = 0;  // of a block, or of an operation among all
  uint32_t amount = 0;  // bytes of a lane, or wavefronts
  const Info* info = nullptr;
  Time port = 0, latency = 0;  // of shared memory

  // All that tells steps from one another.
  using Key = uint64_t;
  static constexpr int kNumberBits = 27, kAmountBits = 12;
  [[gnu::always_inline]] Key key() const {
    return number | Key{amount} << kNumberBits | Key{static_cast<uint8_t>(what)} << 40 | Key{did} << 44 |
           Key{remote} << 45 | Key{static_cast<uint8_t>(kind)} << 46 | Key{static_cast<uint8_t>(how)} << 48;
  }
  static Step of(Key key) {
    const auto bits = [&](int from, int many) {
      return static_cast<uint32_t>(key >> from & ((Key{1} << many) - 1));
    };
    return {.what = static_cast<What>(bits(40, 4)),
            .did = bits(44, 1) != 0,
            .kind = static_cast<machine::AccessKind>(bits(46, 2)),
            .how = static_cast<Access::How>(bits(48, 2)),
            .remote = bits(45, 1) != 0,
            .number = bits(0, kNumberBits),
            .amount = bits(kNumberBits, kAmountBits)};
  }
};

// Sequences of steps. Warps go through the same few: each that was met has a number, and whoever notes steps
// is told at a look whether it goes on as it did last.
class Clock::Sequences {
 public:
  struct Sequence {
    const Step* first;
    const Step* last;
  };
  static constexpr uint32_t kMostSteps = 16;

  const Sequence& operator[](uint32_t number) const { return all_[number]; }
  // Whether no step is noted of the sequence under way.
  bool begins() const { return at_ == kRoot; }
  // Another step of it. Returns whether it is as long as any may be.
  [[gnu::always_inline]] bool add(Step::Key key) {
    if (const Node& guess = nodes_[guess_]; guess.key == key && guess.before == at_) [[likely]]
      at_ = guess_;
    else
      go(key);
    const Node& node = nodes_[at_];
    guess_ = node.after;
    return node.steps >= most_;
  }
  // It ends here. Returns its number. `step`: what a key says.
  template <class MakeStep>
  uint32_t end(const MakeStep& step) {
    Node& last = nodes_[at_];
    if (last.sequence == kNone) {
      auto steps = std::make_unique_for_overwrite<Step[]>(last.steps);
      for (uint32_t node = at_, k = last.steps; node != kRoot; node = nodes_[node].before)
        steps[--k] = step(nodes_[node].key);
      last.sequence = static_cast<uint32_t>(all_.size());
      all_.push_back({steps.get(), steps.get() + last.steps});
      steps_.push_back(std::move(steps));
    }
    ended_ = at_;
    at_ = kRoot;
    guess_ = last.next;
    return last.sequence;
  }

 private:
  static constexpr uint32_t kRoot = 0, kNone = UINT32_MAX;
  static constexpr size_t kMostNodes = 1 << 18;
  struct Node {
    Step::Key key = UINT64_MAX;
    uint32_t before = kNone;
    uint32_t after = 0;  // that came behind it last
    uint32_t next = 0;   // that the sequence behind this one began with, where one ended here
    uint32_t steps = 0;
    uint32_t sequence = kNone;  // that ends here
  };
  struct Hash {
    size_t operator()(const std::pair<uint32_t, Step::Key>& of) const {
      return (of.second ^ uint64_t{of.first} << 32) * 0x9E3779B97F4A7C15 >> 16;
    }
  };
  [[gnu::noinline]] void go(Step::Key key) {
    const auto [there, is_new] = nodes_by_.try_emplace({at_, key}, static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({.key = key, .before = at_, .steps = nodes_[at_].steps + 1});
    if (nodes_.size() > kMostNodes) most_ = 1;
    (at_ == kRoot ? nodes_[ended_].next : nodes_[at_].after) = there->second;
    at_ = there->second;
  }
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::unordered_map<std::pair<uint32_t, Step::Key>, uint32_t, Hash> nodes_by_;
  std::vector<Sequence> all_;
  std::vector<std::unique_ptr<Step[]>> steps_;
  uint32_t most_ = kMostSteps;
  uint32_t at_ = kRoot, guess_ = kRoot, ended_ = kRoot;
};

// What a warp has executed before its time, in order: numbers of sequences, and behind each what its steps
// reached. Thousands of warps have much of it: it is to take little room.
class Clock::Ahead {
 public:
  static constexpr uint32_t kMost = 1 << Step::kNumberBits;  // of blocks and operations
  bool empty() const { return step_ == last_ && at_ == size_; }
  // A sequence begins. Returns where its number is to stand.
  uint32_t begin() {
    need(1 + Sequences::kMostSteps * kWord);
    return size_++;
  }
  void end(uint32_t at, uint32_t number) { notes_[at] = number; }
  // What one of its steps reached: the first address, or words.
  void add(uint64_t address) { put(address); }
  void add(const Notes& words) {
    open(words.size());
    std::memcpy(&notes_[size_], words.data(), words.size() * sizeof(uint64_t));
    size_ += kWord * static_cast<uint32_t>(words.size());
  }
  void add(const Access& one, const std::array<uint64_t, 32>& addresses, uint32_t lanes) {
    open(sizeof one / sizeof(uint64_t) + static_cast<size_t>(std::popcount(lanes)));
    put(one);
    if (lanes == UINT32_MAX) return put(addresses);
    for (; lanes != 0; lanes &= lanes - 1) put(addresses[static_cast<size_t>(std::countr_zero(lanes))]);
  }

  // The first step that has not cost its time, or nullptr.
  const Step* first(const Sequences& all) {
    if (step_ == last_) {
      if (at_ == size_) return nullptr;
      const Sequences::Sequence& next = all[notes_[at_++]];
      step_ = next.first;
      last_ = next.last;
    }
    return step_;
  }
  void take() { ++step_; }
  // What that step reached, to be called once behind take().
  uint64_t address() {
    const auto out = get<uint64_t>(at_);
    at_ += kWord;
    return out;
  }
  // Until something is added.
  Notes words() {
    const uint32_t many = notes_[at_];
    const Notes out(&notes_[at_ + 1], many);
    at_ += 1 + kWord * many;
    return out;
  }
  void start_again() { at_ = size_ = 0; }

  // Where it stands; what is noted behind it.
  const void* next() const { return notes_.get() + at_; }
  // Addresses of global memory that are reached soon, as far as they are noted in short; behind them 0.
  using Soon = std::array<uint64_t, 3>;
  void find_soon(const Sequences& all, Soon& out) const {
    size_t found = 0;
    const Step *step = step_, *last = last_;
    uint32_t at = at_;
    if (step == last && at < size_) {
      const Sequences::Sequence& next = all[notes_[at++]];
      step = next.first;
      last = next.last;
    }
    for (; step != last && found < out.size() && step->what != Step::What::words; ++step) {
      if (step->what == Step::What::global) out[found++] = get<uint64_t>(at);
      if (step->what >= Step::What::global) at += kWord;
    }
    while (found < out.size()) out[found++] = 0;
  }

 private:
  static constexpr uint32_t kWord = sizeof(uint64_t) / sizeof(uint32_t);
  void need(uint32_t units) {
    if (size_ + units > room_) make_room(units);
  }
  // So many words follow.
  void open(size_t words) {
    need(1 + kWord * static_cast<uint32_t>(words) + Sequences::kMostSteps * kWord);
    notes_[size_++] = static_cast<uint32_t>(words);
  }
  template <class T>
  void put(const T& what) {
    std::memcpy(&notes_[size_], static_cast<const void*>(&what), sizeof what);
    size_ += static_cast<uint32_t>(sizeof what / sizeof(uint32_t));
  }
  template <class T>
  T get(size_t from) const {
    T out;
    std::memcpy(static_cast<void*>(&out), &notes_[from], sizeof out);
    return out;
  }
  void make_room(uint32_t units);
  std::unique_ptr<uint32_t[]> notes_;
  uint32_t room_ = 0, size_ = 0, at_ = 0;
  const Step *step_ = nullptr, *last_ = nullptr;  // of the sequence that costs its time now
};

}  // namespace bitwell::timing
