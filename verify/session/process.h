// A process that lives on: launch after launch in one memory, each judged as ask() judges a LAUNCH.json.
//
//   Process process;
//   const ModuleHandle m = process.context().load(text);
//   const Allocation x = process.context().adopt("x", host, 400);  // in place: kernels write the host's
//   bytes const Answer out = process.launch({m, "scale", shape, {argument(x), argument(100)}}, {.races =
//   true});
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "verify/session/session.h"

namespace bitwell::session {

struct Overlap;

struct Judging {
  run::Options options{};  // as a Question has them, and what follows
  std::string schedule{};
  // So many schedules, of which the first is the one above and the others follow it in
  // launch::schedules(). What they leave is compared with what the first has left in memory.
  size_t schedules = 1;
  bool races = false;
  bool once = false;
  bool explain = false;
  bool numeric = false;
  run::Bound bound{};
  // The launch may begin while the one before goes on (programmatic stream serialization); the race check
  // takes it so. It is run when that has ended.
  bool programmatic = false;
  // What the launch is to leave, and what schedules are compared by. None: all of memory.
  std::vector<isa::Allocation> outputs{};
  bool all_written = false;  // a byte of these that nobody has written when the launch has ended is a fault
  std::function<void(int)> again{};
};

// Any number of threads may call it, as its context: a launch holds all others up. What a launch left before
// a fault stands in memory.
class Process {
 public:
  explicit Process(const isa::ContextOptions& options = {}) : context_(options) {}
  // Memory and modules: they outlive launches.
  isa::Context& context() { return context_; }

  // Runs the launch in memory as it is. The entry goes by what name_among takes. To come back to where it
  // began (races, schedules) takes a snapshot, which costs a copy of all that was adopted; what is run from
  // there reaches no byte of the host's. Throws as Context::launch does, but Fault, which is a part of the
  // answer; what a callback throws passes as it is.
  Answer launch(isa::KernelLaunch launch, const Judging& how = {});
  // Launches so far, but for those that were refused: findings call them by this number.
  size_t launches() const { return launches_; }

 private:
  isa::Context context_;
  std::mutex mutex_;
  size_t launches_ = 0;
  std::shared_ptr<Overlap> overlap_;
  // The last launch, where its clusters were checked each by itself: what a launch that overlaps it is held
  // against takes another run of it, from where it began.
  struct Last;
  std::shared_ptr<const Last> last_;
  bool overlapped_ = false;  // some launch did, and so will others: one check sees all, from then on
};

}  // namespace bitwell::session
