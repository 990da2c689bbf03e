// One question to one answer, for all front doors: a launch with what follows it, under one schedule, and
// what is to be watched meanwhile. Both are data; words.h puts an answer into words.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/run/turns/residency.h"
#include "model/run/watch/losses.h"
#include "verify/findings/explain.h"
#include "verify/findings/watch.h"
#include "verify/launch/launch.h"

namespace bitwell::timing {
class Launches;
}

namespace bitwell::session {

struct Question {
  const launch::Launch& launch;  // stays as it is; outlives the answer
  run::Options options{};        // the schedule, what is checked, limits, who else watches
  // A schedule by its text, a policy's name or one that says who has each turn (verify/schedules/given.h), in
  // place of that of the options, which has the seed; or none.
  std::string schedule{};
  bool all_written = true;  // a byte of an output that nobody wrote is a fault
  bool races = false;       // whether anything is right by luck
  bool once = false;        // as the race check takes it
  bool explain = false;     // every finding is followed; else those that may be nothing
  // What findings come to is asked whatever it makes of them; else of those alone that it may make less of.
  bool all_followed = true;
  bool numeric = false;  // what 16-bit arithmetic of the launch's entry loses
  run::Bound bound{};    // with which that is counted
  // Of the schedule timed, told before the launch is made: who has the time while it is.
  std::function<void(const timing::Launches&)> timed{};
  // Told before the launch is made again, for what findings come to: how often that was.
  std::function<void(int)> again{};
  // Told when the launch has come to its end, before it is made again.
  std::function<void(const run::RunResult&)> ended{};
};

// What turns keep in order under these options: strict ones no more than the manual promises.
machine::Promise order_kept(const run::Options& options);

using hazard::Level;
// "error", "note", "nothing".
std::string_view name_of(Level level);

// A finding, and what is to be said of it.
struct Weighed {
  findings::Found found;
  hazard::Way way;                               // what its data can come to, by the PTX
  const findings::Followed* followed = nullptr;  // what it came to; nullptr: nobody asked
  Level level;                                   // how serious that makes it
};

// The first byte of a process's memory that another schedule left otherwise, or how that ended.
struct Parting {
  std::string first, second;  // schedules, as describe has them
  std::string fault{};        // empty: a byte differs
  std::string buffer{};
  uint64_t address = 0, byte = 0;  // of that byte, and its place in the buffer
  std::byte of_first{}, of_second{};
};

class Races;

struct Answer {
  Answer();
  Answer(Answer&&) noexcept;
  ~Answer();

  std::optional<machine::Fault> fault;  // that it ended in: all else is as far as it came
  run::RunResult result;                // instructions, notes, the first launch's footprint
  std::optional<launch::Ran> ran;       // what stands in memory; nothing after a fault
  run::Residency residency;             // of the first launch
  std::string chance;                   // of a schedule that says who has each turn, in words
  std::vector<run::Losses> losses;      // by instruction
  std::vector<Weighed> findings;        // in the order in which they were found
  std::set<std::string> entries;        // that were launched
  hazard::Checker::Cost cost;           // of the race check
  std::optional<Parting> parting{};     // of a process's launch under several schedules
  double seconds = 0;                   // that the launch took by a clock on the wall, once it was in memory

  // Of the launch: by its whole name as soon as it has begun.
  const std::string& entry() const;
  // Whether it came to its end, and nothing was found that is an error; with `notes`, nor a note.
  bool holds(bool notes = false) const;

  std::shared_ptr<const launch::Launch> launch{};  // of a process, as a value
  std::unique_ptr<const Races> races;              // that the findings refer to
};

// Throws what simulate does but Fault, which is a part of the answer.
Answer ask(const Question& question);

}  // namespace bitwell::session
