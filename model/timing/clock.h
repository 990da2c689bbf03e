// Turns in the order of a device's time: what `--schedule timed` and `bitwell time` run a launch by.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/run/cluster.h"
#include "model/run/turns/chooser.h"
#include "model/timing/cost.h"
#include "model/timing/dram.h"
#include "model/timing/lines.h"
#include "model/timing/machine_code.h"
#include "model/timing/multiprocessor.h"
#include "model/timing/neighbours.h"
#include "model/timing/path.h"

namespace bitwell::timing {

struct CodeCounts;

inline constexpr uint32_t kGpcs = 8;  // and so many CTAs without clusters go to one before the next

// How much of a launch's device is looked at.
struct Extent {
  uint32_t groups = 1;      // of multiprocessors, on each of which a cluster lies; those that are looked at
  uint32_t residents = 1;   // clusters on each
  uint32_t active_sms = 1;  // of the whole device
  uint64_t clusters = 0;    // that are looked at; then it is enough. 0: all
  uint64_t l1_bytes = 0;    // of each multiprocessor
  uint64_t starts = 0;      // clusters that there are for those groups. 0: more than are looked at
  uint64_t out_of = 0;      // clusters, through which those that are looked at lie scattered. 0: the first
  uint64_t step = 1;        // from one of the first to the next
  double bytes = 0;         // read from L2; then it is enough. 0: clusters count
};

// What all clusters asked of a region of global memory, behind the first cache.
struct Asked {
  std::string name;
  uint64_t size = 0;
  double read = 0, written = 0;  // bytes
  double l2 = 0;                 // of what was read, where the neighbours of whoever asks are looked at
};

// Of what is read of a region of global memory: the part that L2 has not got; and which part of its time L2
// needs for it, since what neighbours ask for together it gives once.
struct Share {
  double dram = 1, l2 = 1;
};
using Shares = std::map<uint64_t, Share>;  // by a region's base; of others all, for each

// Of a loop in which no other is but those that wait: cycles from one round to the next. The bounds take all
// that comes from memory and from other warps to be there in time.
struct LoopBound {
  int first = 0, last = 0;  // PTX lines
  double resource = 0;      // the busiest part of a multiprocessor, for all warps that go round together
  std::string_view by;      // which part
  double recurrence = 0;    // a round needs what the one before has made
  double modelled = 0;      // in the run, on average; 0: no warp went round twice
  uint64_t times = 0;       // that a warp went round
  uint32_t warps = 0;       // of a CTA, that go round
};

struct Seen {
  double cycles = 0;         // until the last of what was looked at ended
  std::vector<double> ends;  // of clusters, ascending
  std::vector<double> begins;
  double tensor = 0, issue = 0, memory = 0, l2 = 0, dram = 0;  // busy, as shares of the time
  std::vector<Path::Part> path;
  std::map<uint64_t, Asked> asked;                        // by a region's base
  std::map<std::string, uint64_t> without_row;            // instructions, and how often they were executed
  std::array<double, kSources.size()> issue_by_source{};  // issue cycles whose cost is known so
  std::vector<LoopBound> loops;
};

class Clock final : public run::Timekeeper {
 public:
  Clock(const Device& device, const Extent& extent, Shares shares);
  ~Clock() override;

  // PTX lines whose instructions take half as long as the table says: what computes, waits, orders or reads
  // tensor memory. Before it begins.
  void shorten(std::set<int> lines) { shortened_ = std::move(lines); }
  // What was made of the PTX; nullptr, and without it: not known. Before it begins.
  void set_code(std::shared_ptr<const MachineCode> code) { code_ = std::move(code); }
  Seen seen() const;

  uint64_t chosen(uint64_t started) const override;
  uint64_t residents() const override { return uint64_t{extent_.groups} * extent_.residents; }
  void starts(const run::Cluster& cluster) override;
  void ends(const run::Cluster& cluster) override;
  void looks_at(const run::Cluster& cluster) override;
  run::Instant ready(const run::Taker& taker, const machine::Agent* operation) override;
  void expects(const run::Taker& taker, bool soon) const override;
  run::Past has_turn(const run::Taker& taker, run::Instant& again) override;
  run::Reaches* reaches() override { return &reached_; }
  void waits(const run::Taker& taker) override;
  run::Instant again(const run::Taker& taker, const machine::Agent* operation) override;
  bool goes_ahead() override;
  run::GoesAhead may_go_ahead(int function) const override;
  void turn_ends(bool another) override;
  bool goes_through() const override { return through_; }
  bool goes_to_ends() const override { return to_ends_; }
  bool leads(const run::Taker& taker) override;
  void has_led() override;
  void ends(const run::Taker& taker) override;
  std::optional<bool> can_go_on(const run::Taker& taker) const override;
  bool has_let_go() const override { return has_let_go_; }
  bool executed(int function, uint32_t pc, uint32_t lanes) override;
  bool computed(int function, uint32_t from, uint32_t to) override;
  void took(const run::Took& turn) override;
  bool more() const override { return extent_.starts == 0 || begins_.size() < extent_.starts; }
  bool enough() const override {
    return extent_.clusters != 0 &&
           (ended_ >= extent_.clusters || (extent_.bytes > 0 && read_ >= extent_.bytes));
  }
  // Of the turn under way, in cycles: when it began, and how far it has come.
  double turn_begin() const { return cycles_of(turn_begin_); }
  double now() const { return cycles_of(now_); }

 private:
  struct Info;
  struct Block;
  struct WarpTime;
  struct Step;
  class Sequences;
  class Ahead;
  struct Operation;
  struct ClusterTime;
  struct Watched;
  struct Access;
  struct Scattered;
  struct ScatteredAgain;
  struct InARow;
  struct InALine;
  struct Region;
  class Notes;
  Info classify(const isa::Op& op, const isa::Line& line, double warps, uint32_t predicate);
  std::vector<uint32_t> predicated(const isa::Function& function) const;
  std::vector<uint32_t> predicated_in_code(const isa::Function& function) const;
  void cost_by_code(const isa::Function& function, std::vector<Info>& out) const;
  void order_by_code(std::vector<Info>& infos);
  void find_elected(const isa::Function& function, std::vector<Info>& out) const;
  void cost_by_counts(const CodeCounts& counts, double each, bool leaps, Info& info) const;
  bool classify_barrier(std::string_view name, double warps, Info& out) const;
  void join_pairs(const isa::Function& function, std::vector<Info>& out) const;
  static void order_loads(const isa::Function& function, std::vector<Info>& out);
  void classify(const isa::Program& program, double warps, bool watched, bool in_whole_blocks);
  void find_late();
  void number_rows(const isa::Function& function, std::vector<Info>& infos);
  void watch(const isa::Program& program);
  void watch(WarpTime& w, Time end);
  double recurrence(const isa::Function& f, const std::vector<Info>& infos,
                    const std::vector<uint32_t>& ops) const;
  std::vector<LoopBound> loop_bounds() const;
  std::span<const uint32_t> sources(const Info& info) const;
  std::span<const uint32_t> results(const Info& info) const;
  void begin_launch(const run::Cluster& first);
  void find_neighbours();
  Block make_block(const std::vector<Info>& infos, uint32_t from, uint32_t to) const;
  uint32_t block(int function, uint32_t from, uint32_t to);
  void join_branch(const Info& info, Block& block) const;
  void compute(Block& block, WarpTime& w, Multiprocessor& sm);
  static Access access(const run::Reach& reach);
  static const run::Reach* together(const run::Reach*& next, const run::Reach* end, run::Reach& room);
  static void note(const run::Reaches& reached, std::vector<uint64_t>& out);
  bool costs_time(const Info& info, uint32_t lanes, Notes reached);
  bool costs_time(const Step& step, uint64_t address);
  void add_time(uint32_t block);
  Time needs(const Info& info, const WarpTime& w, int& loaded) const;
  static Time behind_stores(const Info& info, const WarpTime& w);
  static void has_stored(const Info& info, WarpTime& w, Time start);
  void give(const Info& info, WarpTime& w, Time at, int line) const;
  Time issue(const Info& info, WarpTime& w, Multiprocessor& sm, Time ready, int loaded, bool computes);
  Time compute(const Info& info, WarpTime& w, Multiprocessor& sm);
  Time execute(const Info& info, WarpTime& w, Multiprocessor& sm, Time ready, int loaded);
  void meet(WarpTime& w);
  void leave(uint32_t rank);
  void let_go(uint32_t rank);
  Time multiply_warp(const Info& info, WarpTime& w, Multiprocessor& sm, Time start) const;
  Time meet_cluster(const Info& info, WarpTime& w, Time at);
  bool act(const Info& info, WarpTime& w, Multiprocessor& sm, uint32_t lanes, Notes reached);
  void diverges(const Info& info);
  void lacks_row(const Info& info);
  Ahead& add_step(uint64_t key, uint32_t words);
  bool add_access(Step step, const run::Reach& one);
  void add_words(Step step);
  void add_operation(const Info& info, bool did);
  void end_sequence();
  Step step_of(uint64_t key) const;
  run::Past has_gone_ahead(WarpTime& w);
  void turn_is_over();
  void memory(const Info& info, WarpTime& w, Time start, Notes reached);
  void memory(const Step& step, WarpTime& w, Time start, uint64_t address);
  Time reach(const Access& a, Notes addresses, const Info& info, WarpTime& w, Time start, bool& slow);
  void has_reached(const Info& info, WarpTime& w, Time start, Time done, bool slow);
  [[gnu::noinline]] Time updated(const Access& a, Notes addresses, const Info& info, WarpTime& w, Time start);
  Time shared(const Access& a, Multiprocessor& sm, Time start);
  Time shared_latency(bool remote, machine::AccessKind kind) const;
  Time global(machine::AccessKind kind, uint64_t first, uint64_t bytes, const Info& info, Multiprocessor& sm,
              Time start);
  [[gnu::noinline]] Time scattered(const Access& a, Notes addresses, const Info& info, Multiprocessor& sm,
                                   Time start);
  template <class Reached>
  Time lines(machine::AccessKind kind, const Reached& reached, const Info& info, Multiprocessor& sm,
             Time start);
  [[gnu::noinline]] Time in_a_row(machine::AccessKind kind, const InARow& row, const Info& info,
                                  Multiprocessor& sm, Time start);
  // That many bytes, and how long they keep what they come through busy.
  struct Amounts {
    double bytes = 0;
    Time port = 0, l2 = 0, dram = 0;
  };
  Amounts amounts(double bytes) const;
  // `dram` is a mean: so many pieces, so far apart, take more or less each, and the last of them counts. No
  // pieces: it is what all take together.
  struct Latency {
    Time l2 = 0, dram = 0;
    uint64_t pieces = 0;
    int64_t apart = 0;
  };
  Time from_l2(uint64_t address, const Amounts& of, Multiprocessor& sm, Time start, const Latency& latency,
               Cause* why);
  Time copied(uint64_t address, const Amounts& of, Multiprocessor& sm, Time start, const Latency& latency,
              Cause& why);
  double l2_part(uint64_t address, const Multiprocessor& sm, Time at);
  double beside() const;
  void schedule(const machine::Agent& agent, Operation& operation);
  Time load(const machine::Task& task, Multiprocessor& sm, Time start, Cause& cause);
  Time store(const machine::Task& task, Time start);
  Time operands(Multiprocessor& sm, Time begin, Time interval, double fronts);
  Time multiply(const machine::Agent& agent, const machine::Task& task, uint32_t rank, Operation& operation);
  Time in_tensor_memory(const machine::Agent& agent, const machine::Task& task, uint32_t rank,
                        Operation& operation);
  Multiprocessor& sm_of(const ClusterTime& cluster, uint32_t rank) const;
  // That the address lies in, or none; valid until the next call.
  Region* region_of(uint64_t address) {
    for (Region& r : regions_)
      if (r.has(address)) return &r;
    return find_region(address);
  }
  Region* find_region(uint64_t address);

  double value(Key key) const { return values_[static_cast<size_t>(key)]; }
  Time time(Key key) const { return times_[static_cast<size_t>(key)]; }

  const Device& device_;
  const std::array<double, kKeys> values_;
  const std::array<Time, kKeys> times_;  // the same, as times
  Extent extent_;
  Shares shares_;
  std::vector<std::unique_ptr<Multiprocessor>> sms_;
  uint32_t cluster_size_ = 0, warps_ = 0;              // CTAs of a cluster, warps of a CTA
  std::vector<std::vector<uint32_t>> group_clusters_;  // by group: those that are there
  std::vector<Time> group_free_;                       // when the last of it ended
  std::vector<int32_t> group_link_;
  Server<64> l2_, dram_;
  Server<64> l2_loads_;                 // the same, as if loads alone asked
  std::array<Amounts, 33> of_sectors_;  // of so many sectors
  DramLatency dram_latency_;
  Time a_line_ = kCycle;  // from L2 to a multiprocessor by cp.async
  double l2_beside_ = 1;  // so much of the time that copies stand in its queue, a load stands there too
  std::unique_ptr<Neighbours> neighbours_;  // nullptr: shares_ says what they ask for together
  double again_ = 1;  // so much of what L2 does for the first, for another of the GPC that asks at once
  double read_ = 0;   // bytes, where neighbours are looked at
  Lines touched_;     // numbers of lines
  Lines arrivals_;    // when whoever asked first for what DRAM gives at once had it
  // Of two lines that atomics and reductions reach: when L2 has done them, and whether several clusters do.
  struct Updated {
    Time free = 0;
    uint32_t by = 0;  // who did last, counted from 1
    bool shared = false;
  };
  std::unordered_map<uint64_t, Updated> updated_;
  std::vector<std::unique_ptr<ClusterTime>> clusters_;  // by number; those that have ended are none
  std::vector<std::unique_ptr<ClusterTime>> spare_;     // of clusters that have ended
  struct Resident {
    const WarpTime* warps = nullptr;
    const ClusterTime* time = nullptr;
    const void* rows = nullptr;
    uint32_t first_sm = 0;
  };
  std::vector<Resident> residents_;  // by a cluster's number, where its warps and their multiprocessors stand
  std::vector<std::vector<Info>> infos_;             // by function and op
  std::vector<std::vector<uint8_t>> may_go_ahead_;   // likewise (run::GoesAhead)
  std::vector<const Info*> all_infos_;               // by their numbers
  std::vector<uint32_t> operands_;                   // of all of them
  std::vector<bool> made_;                           // by register: whether an operation makes it
  std::vector<Block> blocks_;                        // that were met
  std::vector<std::vector<uint32_t>> first_blocks_;  // of them, by function and first op
  uint32_t rows_ = 0;                                // registers
  size_t warp_rows_ = 0;                             // bytes of a warp's
  uint32_t kept_rows_ = 0;  // of them, those of which a warp keeps when they are there: the first ones
  run::Reaches reached_;
  std::vector<uint64_t> notes_;  // on that
  ClusterTime* looked_at_ = nullptr;
  ClusterTime* at_ = nullptr;  // whose turn it is, and who has it
  WarpTime* warp_ = nullptr;
  Multiprocessor* sm_ = nullptr;  // of that warp
  Time stall_ = 0;                // the longest of its turn, and the load that it waited for
  int stall_line_ = 0;
  WarpTime* turns_ = nullptr;  // the same, or whose turn it is while another executes
  bool ahead_ = false;         // what it executes costs its time later
  std::unique_ptr<Sequences> sequences_;
  uint32_t sequence_at_ = 0;  // of the one that is noted now: where its number is to stand
  bool sequence_is_full_ = false;
  bool through_ = false;     // warps go ahead through barriers
  bool to_ends_ = false;     // and to their ends
  bool has_let_go_ = false;  // this turn did
  Operation* operation_ = nullptr;
  Time now_ = 0;  // when what the turn did can be seen
  int32_t now_link_ = Path::kNone;
  Time turn_begin_ = 0;
  int turn_line_ = 0;
  std::set<int> shortened_;
  std::shared_ptr<const MachineCode> code_;
  std::unique_ptr<Watched> watched_;
  machine::Memory* global_ = nullptr;
  struct Region {
    uint64_t base = 1, end = 0;
    Share share{};
    Asked* asked = nullptr;
    bool has(uint64_t address) const { return address >= base && address < end; }
  };
  std::array<Region, 8> regions_;  // that were found last, the last one first
  uint64_t ended_ = 0;
  Time last_ = 0;
  int32_t last_link_ = Path::kNone;
  std::vector<Time> begins_, ends_;
  std::map<uint64_t, Asked> asked_;
  std::map<std::string, uint64_t> without_row_;
  std::vector<std::pair<Time, int>> named_;               // of a block's names: what they are names of
  std::array<Time, kSources.size()> issued_by_source_{};  // but for those of blocks
  const isa::Program* program_ = nullptr;
  Path path_;
};

}  // namespace bitwell::timing
