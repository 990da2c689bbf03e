// What a clock knows of an instruction, a warp, an operation under way and a cluster; for its own files.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "model/timing/clock.h"
#include "model/timing/clock/sequences.h"
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
  bool cached = true;            // in L1
  bool in_warp = false;          // between its lanes, by way of shared memory's port
  bool goes_on = false;          // nothing that others wait for comes before the next access to memory
  bool waits = false;            // of what orders: what comes behind it in the program comes behind it
  bool renames = false;          // costs nothing: a register gets another name
  bool predicates = false;       // a branch that machine code has not: what it leaps over is predicated
  bool stalled = false;          // a warp stalls until its result is there, as its machine code says
  bool branches_within = false;  // in machine code: what stands behind it waits for it
  bool ahead = false;            // may be executed before its time
  bool meets = false;            // a barrier of the CTA that may be, too
  bool leaves = false;           // the end of a warp that may be, too
  // What an atomic or a reduction does. Lanes that reach one word are summed up first, if these are whole
  // numbers; in turn go those whose result hangs on the order.
  enum class Update : uint8_t { whole, number, exchange, in_turn };
  Update update = Update::whole;
  bool tells = false;  // an atomic, which gives what was there before
  // Of global and shared memory, as bits: what it stores to, and what a load must not come to before the
  // warp's stores have been issued.
  static constexpr uint8_t kGlobal = 1, kShared = 2;
  uint8_t stores = 0, behind_stores = 0;
  enum class AtCluster : uint8_t { no, arrives, waits };
  AtCluster at_cluster = AtCluster::no;  // at a barrier of the cluster
  // In cycles, and as times.
  struct Costs {
    double latency = 0;                 // until the next can use its result
    double interval = 0;                // of a quarter, or of what it keeps busy
    double seen = 0;                    // of what orders: until others see it
    double issues = 1;                  // instructions of machine code
    double stalls = 0;                  // until the warp may issue the next, as its machine code says
    std::array<double, kPipes> work{};  // of a quarter's pipes; the interval is in it
    double fp32 = 0;                    // of that, the part that products do not slow down
    double product = 0;                 // of the tensor core
  } table;
  Time latency = 0, interval = 0, seen = 0;
  Time issued = kCycle;
  Time stalls = kCycle;  // no less than that
  std::array<Time, kPipes> work{};
  Time fp32 = 0;
  Time product = 0;    // of the tensor core
  uint32_t first = 0;  // of its operands: sources, then results
  uint32_t sources = 0, results = 0;
  uint32_t first_behind = 0, behind = 0;  // of a load: rows, elsewhere among all operands, that it waits for
  uint32_t first_late = 0, late = 0;      // those of its sources that may be, elsewhere among all operands
  int line = 0;                           // of the PTX
  int function = 0;                       // where it stands
  uint32_t pc = 0;
  uint32_t number = 0;  // among all
  Quarter::Asks asks;   // of its quarter
};

// Operations from one on, up to `to`, that only compute, as one; but for a branch at their end.
struct Clock::Block {
  // A row that was there before: when it is first needed, and when what comes of it has begun, both from the
  // block's begin on; how much that is.
  struct In {
    Time use = 0, end = 0;
    uint64_t bit = 0;
    uint32_t row = 0;
    Time issues = 0;
  };
  struct InParts {
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
  uint32_t to = 0;
  Time issues = 0;
  uint32_t from = 0;
  int function = 0;
  uint32_t next = kNone;  // of those that begin there
  bool plain = false;     // else one operation after the other
  bool branches = false;  // at its end
  uint8_t steps = 1;      // the branch is one more
  bool lacks_rows = false;
  int line = 0;
  Time length = 0;  // until the last has begun
  Out over{};       // until what stands behind the block can be issued; no row
  Time made = 0;    // until the last row is there, alone
  // By how many warps of the quarter compute: that much longer. Of machine code.
  std::array<Time, Crowd::kMost + 1> longer{};
  std::array<Time, Crowd::kMost + 1> beside{};  // and that much more beside wgmmas
  Quarter::Asks asks;
  // The branch, where it goes with the others: none of the block, or one that waits for no row, for one that
  // the block makes, or for another.
  const Info* branch = nullptr;
  uint32_t made_here = kNone, row = kNone;
  std::vector<In> ins;
  std::vector<InParts> parts;  // likewise
  std::vector<Out> outs;
  std::vector<Name> names;
  uint64_t times = 0;                             // that it was executed
  std::array<Time, kSources.size()> by_source{};  // places of issue
};

// Of an address of shared memory: the CTA's in its cluster.
constexpr uint64_t rank_of(uint64_t shared) {
  return (shared - machine::kSharedWindow) >> machine::kRankShift;
}

struct alignas(64) Clock::WarpTime {
  // A register, or rather its row of 32.
  struct Row {
    Time at = 0;   // when it is there
    int line = 0;  // of the load that it comes from, or 0
  };
  // What each turn looks at stands together, in two lines of the host.
  Time clock = 0;    // when it can issue next
  Time pending = 0;  // when the last of what it has issued began
  Time ordered = 0;  // when the last of what goes in the order of the program has been issued
  Time given = 0;    // no register comes later than then
  // Those that are kept, and one that is there always. Before them, of each loop that is watched, from the
  // last to the first, when its last round ended; -1: none has.
  Row* rows = nullptr;
  uint64_t seen_at = 0;  // the look at its cluster at which it could go on last, or none that comes
  static constexpr uint64_t kWaits = UINT64_MAX / 2;
  int32_t link = Path::kNone;
  uint8_t rank = 0;
  uint8_t index = 0;  // in its CTA
  uint8_t quarter = 0;
  uint8_t place = 0;  // among those of its quarter that compute
  bool fresh = true;
  bool waits = false;     // at a barrier of its CTA, whatever it has executed before
  bool has_left = false;  // has executed its end before its time
  Role role = Role::other;
  uint8_t does = 0;  // has done so far
  // How much of what it has executed before its time has not cost it: a step is one, and each word of what it
  // reached; until all of it has.
  uint32_t noted = 0;
  Ahead ahead;
  Ahead::Soon soon{};              // what it reaches next in global memory
  std::unique_ptr<Spread> spread;  // none: it has not reached that many lines yet
  Time stored[2] = {0, 0};         // when the last store to global and to shared memory was issued
  // When it issued products and copies of tensor memory that have not begun, in order.
  std::vector<Time> issues;
  size_t begun = 0;  // of those
  // When the latest of its wgmmas are through the tensor core: no more than so many are under way, as the
  // probe of eight at once says (m64n256).
  static constexpr size_t kMost = 5;
  std::array<Time, kMost> done{};
  size_t products = 0;
  size_t cluster_barriers = 0;  // that it has passed

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

struct alignas(64) Clock::ClusterTime {
  uint32_t group = 0;
  uint32_t count = 0;  // so many have started with it
  int32_t last_link = Path::kNone;
  Time last = 0;
  int32_t product_by = Path::kNone;  // without which its last product that did not queue could not be
  uint64_t looks = 0;
  std::vector<WarpTime> warps;
  const run::Cluster* cluster = nullptr;
  // Of all of them: those of each begin in a line of the host.
  struct alignas(64) Rows {
    std::array<WarpTime::Row, 4> four;
  };
  std::vector<Rows> rows;
  // Warps of a CTA, by rank, that wait at a barrier in time, and that have ended.
  struct Meeting {
    uint32_t waiting = 0, ended = 0;
  };
  std::vector<Meeting> meetings;
  // When all that have arrived at a barrier of the cluster are seen to, of this and the next.
  std::array<Time, 2> cluster_barrier{};
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
