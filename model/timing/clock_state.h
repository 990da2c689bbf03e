// What a clock knows of an instruction, a warp, an operation under way and a cluster; for its own files.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "model/timing/clock.h"
#include "model/timing/loops.h"
#include "model/timing/op_kind.h"

namespace bitwell::timing {

// All that does not change between two executions, and so is asked of the table once.
struct Clock::Info {
  OpKind kind = OpKind::arithmetic;
  Pipe pipe = Pipe::alu;
  Source source = Source::guess;
  bool has_row = false;
  bool ends_block = false;
  bool cached = true;    // in L1
  bool in_warp = false;  // between its lanes, by way of shared memory's port
  bool goes_on = false;  // nothing that others wait for comes before the next access to memory
  bool waits = false;    // of what orders: what comes behind it in the program comes behind it
  bool renames = false;  // costs nothing: a register gets another name
  bool ahead = false;    // may be executed before its time
  bool meets = false;    // a barrier of the CTA that may be, too
  // In cycles, and as times.
  struct Costs {
    double latency = 0;   // until the next can use its result
    double interval = 0;  // of a quarter, or of what it keeps busy
    double seen = 0;      // of what orders: until others see it
  } table;
  Time latency = 0, interval = 0, seen = 0;
  uint32_t first = 0;  // of its operands: sources, then results
  uint32_t sources = 0, results = 0;
  uint32_t first_late = 0, late = 0;  // those of its sources that may be, elsewhere among all operands
  int line = 0;                       // of the PTX
  int function = 0;                   // where it stands
  uint32_t pc = 0;
  uint32_t number = 0;  // among all
  Quarter::Asks asks;   // of its quarter
};

// Operations from one on, up to `to`, that only compute, as one; but for a branch at their end.
struct Clock::Block {
  // A row that was there before: when it is first needed, and when what comes of it has begun, both from the
  // block's begin on; how much that is.
  struct In {
    uint32_t row = 0;
    uint64_t bit = 0;
    Time use = 0, end = 0;
    uint32_t issues = 0;
    std::array<Time, kPipes> work{};  // by pipe
    Quarter::Asks asks, others;       // what comes of it, and the rest of the block
  };
  // A row that is made: when it is there; behind which part of the block; the bits of what it comes of.
  struct Out {
    uint32_t row;
    Time at;
    uint32_t part;  // of 2^16
    uint64_t needs;
  };
  struct Name {
    uint32_t row, of;
  };
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t to = 0, issues = 0;
  uint32_t from = 0;
  int function = 0;
  uint32_t next = kNone;  // of those that begin there
  bool plain = false;     // else one operation after the other
  bool branches = false;  // at its end
  uint8_t steps = 1;      // the branch is one more
  bool lacks_rows = false;
  int line = 0;
  Time length = 0;  // until the last has begun
  Time made = 0;    // until the last row is there, alone
  Quarter::Asks asks;
  // The branch, where it goes with the others: none of the block, or one that waits for no row, for one that
  // the block makes, or for another.
  const Info* branch = nullptr;
  uint32_t made_here = kNone, row = kNone;
  std::vector<In> ins;
  std::vector<Out> outs;
  std::vector<Name> names;
  uint64_t times = 0;  // that it was executed
  std::array<uint32_t, kSources.size()> by_source{};
};

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

// What a warp has executed before its time, in order. Thousands of warps have much of it: it is to take
// little room.
class Clock::Ahead {
 public:
  struct Step {
    uint32_t number : 27 = 0;  // of a block, or of a single operation among all
    uint32_t computes : 1 = 0;
    uint32_t did : 1 = 0;  // its guard held for some lane
    // Its turn, that is, where that has not ended just before; `did`: the next one's where it has.
    uint32_t ends_turn : 1 = 0;
    uint32_t reached : 2 =
        0;  // what stands behind it: nothing, one access in short, a number of words and these
  };
  static_assert(sizeof(Step) == sizeof(uint32_t));
  static constexpr uint32_t kMost = 1 << 27;  // of numbers
  bool empty() const { return at_ == size_; }
  // How much is noted: a step is one, and each word of what it reached; until all of it has cost its time.
  const uint32_t& size() const { return noted_; }
  const void* next() const { return notes_.get() + at_; }
  // `steps`: that it stands for.
  void add(Step step, uint32_t steps = 1) {
    if (size_ == room_) make_room(1);
    put(step);
    noted_ += steps;
  }
  // Of one that reached `one`; false: that cannot be said in short.
  bool add(Step step, const Access& one) {
    const uint64_t amount = one.is(Access::How::wavefronts) ? one.many : one.bytes;
    if (one.is(Access::How::each) || one.first >> kAddressBits != 0 || amount >> kAmountBits != 0)
      return false;
    if (size_ + 3 > room_) make_room(3);
    step.reached = kShort;
    put(step);
    put(one.first | amount << kAddressBits | uint64_t{one.how} << (kAddressBits + kAmountBits) |
        uint64_t{one.kind} << (kAddressBits + kAmountBits + 2));
    noted_ += static_cast<uint32_t>(1 + sizeof one / sizeof(uint64_t));
    return true;
  }
  // Of one whose lanes have addresses of their own.
  bool add(Step step, const Access& one, const run::Reach& reached) {
    const auto words = static_cast<uint32_t>(sizeof one / sizeof(uint64_t) + one.many);
    if (size_ + 2 + 2 * words > room_) make_room(2 + 2 * words);
    step.reached = kWords;
    put(step);
    put(words);
    put(one);
    if (one.many == machine::kLanes)
      put(reached.addresses);
    else
      for (uint32_t lanes = reached.lanes; lanes != 0; lanes &= lanes - 1)
        put(reached.addresses[static_cast<size_t>(std::countr_zero(lanes))]);
    noted_ += 1 + words;
    return true;
  }
  void add(Step step, Notes reached) {
    if (reached.empty()) return add(step);
    const auto words = static_cast<uint32_t>(reached.size());
    if (size_ + 2 + 2 * words > room_) make_room(2 + 2 * words);
    step.reached = kWords;
    put(step);
    put(words);
    std::memcpy(&notes_[size_], reached.data(), words * sizeof(uint64_t));
    size_ += 2 * words;
    noted_ += 1 + words;
  }
  // The first that has not cost its time.
  Step first() const { return get<Step>(at_); }
  Step take() { return get<Step>(at_++); }
  // To be called behind take() of a single operation: whether it reached one access that is noted in short,
  // and that; else what it reached, until something is added.
  static bool is_short(Step last) { return last.reached == kShort; }
  Access take_short() {
    const auto all = get<uint64_t>(at_);
    at_ += 2;
    const auto bits = [&](int from, int many) { return all >> from & ((uint64_t{1} << many) - 1); };
    Access a;
    a.first = bits(0, kAddressBits);
    a.how = bits(kAddressBits + kAmountBits, 2) & 3;
    a.kind = bits(kAddressBits + kAmountBits + 2, 2) & 3;
    // Each is looked at only where it is meant.
    a.many = static_cast<uint32_t>(bits(kAddressBits, kAmountBits));
    a.bytes = a.many & ((1u << kAmountBits) - 1);
    return a;
  }
  Notes take_reached(Step last) {
    if (last.reached == 0) return {};
    const auto words = get<uint32_t>(at_);
    const Notes out(&notes_[at_ + 1], words);
    at_ += 1 + 2 * words;
    return out;
  }
  void start_again() { at_ = size_ = noted_ = 0; }
  // An address of global memory that is reached behind at most one step that computes, or 0.
  uint64_t soon() const {
    uint32_t at = at_;
    if (at < size_ && get<Step>(at).computes != 0) ++at;
    if (at >= size_ || get<Step>(at).computes != 0 || !is_short(get<Step>(at))) return 0;
    const uint64_t first = short_at(at);
    return machine::is_global(first) ? first : 0;
  }
  // Those that are reached in the next steps, as far as they are noted in short; behind them 0.
  using Soon = std::array<uint64_t, 3>;
  void find_soon(Soon& out) const {
    constexpr int kSteps = 8;
    size_t found = 0;
    uint32_t at = at_;
    for (int k = 0; k < kSteps && at < size_ && found < out.size(); ++k) {
      const auto step = get<Step>(at);
      if (is_short(step)) {
        if (const uint64_t first = short_at(at); machine::is_global(first)) out[found++] = first;
        at += 3;
      } else if (step.reached == 0) {
        ++at;
      } else {
        break;
      }
    }
    while (found < out.size()) out[found++] = 0;
  }

 private:
  static constexpr uint32_t kShort = 1, kWords = 2;
  static constexpr int kAddressBits = 48, kAmountBits = 12;  // of a lane's bytes, or of wavefronts
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
  // Where a step with an access in short stands: its first byte.
  uint64_t short_at(uint32_t at) const { return get<uint64_t>(at + 1) & ((uint64_t{1} << kAddressBits) - 1); }
  void make_room(uint32_t units);
  std::unique_ptr<uint32_t[]> notes_;
  uint32_t room_ = 0, size_ = 0, at_ = 0, noted_ = 0;
};

struct alignas(64) Clock::WarpTime {
  // A register, or rather its row of 32.
  struct Row {
    Time at = 0;   // when it is there
    int line = 0;  // of the load that it comes from, or 0
  };
  // What each turn looks at stands together.
  Time clock = 0;    // when it can issue next
  Time pending = 0;  // when the last of what it has issued began
  Time ordered = 0;  // when the last of what goes in the order of the program has been issued
  Time given = 0;    // no register comes later than then
  Time stall = 0;    // the longest of this turn, and the load that it waited for
  int stall_line = 0;
  int32_t link = Path::kNone;
  uint64_t seen_at = 0;  // the look at its cluster at which it could go on last, or none that comes
  static constexpr uint64_t kWaits = UINT64_MAX / 2;
  uint16_t rank = 0;
  uint8_t quarter = 0;
  bool fresh = true;
  bool waits = false;  // at a barrier of its CTA, whatever it has executed before
  Role role = Role::other;
  uint8_t does = 0;  // has done so far
  // Those that are kept; one that is there always; of each loop that is watched when its last round ended,
  // -1: none has.
  std::vector<Row> rows;
  Ahead ahead;
  Ahead::Soon soon{};  // what it reaches next in global memory
  // When it issued products and copies of tensor memory that have not begun, in order.
  std::vector<Time> issues;
  size_t begun = 0;  // of those
  // When the latest of its wgmmas are done: no more than so many are under way.
  static constexpr size_t kMost = 3;
  std::array<Time, kMost> done{};
  size_t products = 0;

  bool some_issued() const { return begun < issues.size(); }
  Time next_issue() {
    const Time out = issues[begun++];
    if (begun == issues.size()) {
      issues.clear();
      begun = 0;
    }
    return out;
  }
};

struct Clock::Operation {
  uint64_t id = 0;
  Time at = -1;  // when its next step is done; -1: not known
  Time issued = 0;
  int32_t issued_by = Path::kNone;
  Cause cause = Cause::copy;
  int line = 0;
  int steps = 0;
  Role role = Role::copies;
};

struct Clock::ClusterTime {
  const run::Cluster* cluster = nullptr;
  uint32_t group = 0;
  Time last = 0;
  int32_t last_link = Path::kNone;
  int32_t product_by = Path::kNone;  // without which its last product that did not queue could not be
  uint64_t looks = 0;
  std::vector<WarpTime> warps;
  // Warps of a CTA, by rank, that wait at a barrier in time, and that have ended.
  struct Meeting {
    uint32_t waiting = 0, ended = 0;
  };
  std::vector<Meeting> meetings;
  std::vector<Operation> operations;  // under way, by their numbers

  // The one of that number, which may be new.
  Operation& operation(uint64_t id) {
    if (!operations.empty() && operations.back().id < id) return operations.emplace_back(Operation{id});
    const auto at = std::lower_bound(operations.begin(), operations.end(), id,
                                     [](const Operation& o, uint64_t n) { return o.id < n; });
    if (at != operations.end() && at->id == id) return *at;
    return *operations.insert(at, Operation{id});
  }
};

// What is looked at beside the time.
struct Clock::Watched {
  struct Round {
    LoopBound bound;
    // Of a warp that goes round once: places of its issue, cycles of each pipe, wavefronts at least,
    // products.
    double issues = 0;
    std::array<double, kPipes> pipes{};
    double port = 0, products = 0;
    // In the run.
    uint64_t times = 0, between = 0, warps = 0;
    Time cycles = 0;
  };
  std::vector<uint8_t> does;  // by PTX line
  std::vector<int> mark;      // by PTX line: of the loop whose round it ends, the number from 1 on; or 0
  std::vector<Round> rounds;
};

}  // namespace bitwell::timing
