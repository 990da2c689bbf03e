// The race check over launches that follow one another: each is behind all before it, as on a stream, but for
// those that may overlap.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/hazard/separate.h"
#include "model/run/parallel/apart.h"
#include "verify/findings/readings.h"
#include "verify/findings/report.h"

namespace bitwell::findings {

class Watch : run::Apart {
 public:
  // `once` as the checker takes it, of each launch by itself.
  explicit Watch(bool once = false) : once_(once) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Of each finding at most so many pairs of accesses are kept, Finding::met; of launches that begin later.
  // `notes`: as the checker takes it.
  void keep(size_t most_met, bool notes = true) { most_met_ = most_met, met_of_notes_ = notes; }
  // To be told of the events of all launches, which run one after the other; valid as long as this. `lines`:
  // those that the MmaRegisters of any launch ask for. `apart`: clusters may be told of each alone, as no
  // launch will overlap another.
  machine::Observer observer(std::vector<int> lines = {}, bool apart = false);
  // To be called before each launch; its program stays. A programmatic one may begin while the launch before
  // it runs: until griddepcontrol.wait nothing orders the two.
  void begin(const Launched& launch, bool programmatic = false);
  void begin(const isa::Program& program, const run::Shape& shape, bool programmatic = false) {
    begin(Launched{program, shape, "", launches_.size() + 1, 0}, programmatic);
  }
  // To be called behind that: as the checker's.
  void follow(const Reading& reading) {
    running_.back().checker->follow(reading.objects);
    running_.back().checker->follow(reading.registers);
    if (reading.by_lanes) running_.back().checker->reached_by_lanes();
  }
  // All of the launches so far, in the order in which they were found: what two acts of the same instructions
  // come to is one finding, in however many launches. They refer to this.
  std::vector<Found> findings() const;
  // Entries of the launches so far.
  const std::set<std::string>& entries() const { return entries_; }
  // The largest of one launch.
  hazard::Checker::Cost cost() const;
  // Of the last; there must have been one.
  hazard::Checker::Cost cost_of_last() const { return running_.back().checker->cost(); }

 private:
  void begin() override { separate_.emplace(); }
  std::unique_ptr<One> one() override;
  void add(One& one) override;
  void tell(const machine::Event& event) override { running_.back().checker->tell(event); }
  bool tell(const machine::Row& row) override { return running_.back().checker->tell(row); }
  // A launch that runs, or that those behind it may overlap.
  struct Running {
    const Launched* launch;
    std::unique_ptr<hazard::Checker> checker;
  };
  void add_findings_of_the_last(std::vector<Found>& to) const;
  bool once_;
  size_t most_met_ = 0;
  bool met_of_notes_ = true;
  std::deque<Launched> launches_;
  std::vector<Running> running_;              // in the order of the stream
  std::optional<hazard::Separate> separate_;  // of the launch whose clusters are told apart
  std::set<std::string> entries_;
  std::vector<Found> found_;  // of the launches before the last
  hazard::Checker::Cost cost_;
};

}  // namespace bitwell::findings
