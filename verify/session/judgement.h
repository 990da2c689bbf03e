// Everything about one launch: what is asked of it in turn, and what the answers come to, in one line.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/machine/failure.h"
#include "verify/session/findings.h"

namespace bitwell::session {

// What a run or a comparison of runs comes to. What nobody looked at is not there.
struct Tally {
  enum class End : uint8_t { end, fault, deadlock };
  End end = End::end;
  std::optional<uint64_t> races{};  // findings that are errors
  std::optional<uint64_t> notes{};  // of findings, where they fail too
  std::optional<uint64_t> wrong{};  // elements that are not as expected
  bool failed = false;              // for another reason, which is told elsewhere

  bool holds() const { return end == End::end && wrong.value_or(0) == 0 && !failed; }
  // "1 race, 0 wrong elements"; empty where nobody looked.
  std::string words() const;
  // "FAILED: 1 race, 0 wrong elements"; empty where nobody looked.
  std::string line() const;
};
Tally::End end_of(const machine::Fault& fault);
// Of findings; `error_on`: what of them fails.
Tally tally_of(const Findings& found, std::string_view error_on);

// What `bitwell judge` asks: whether all is supported, one run with the race check, one more with turns given
// at random, as CTAs that share out their work do other parts of it then, and whether other schedules come to
// the same.
class Judgement {
 public:
  enum class Part : uint8_t { check, run, at_random, schedules };

  // `outputs`: whether the launch has any that schedules can be compared by.
  Judgement(bool outputs, size_t schedules) : outputs_(outputs), schedules_(schedules) {}

  // What is to be asked now; nothing: all is known. What is not supported is not run; a launch that ended in
  // a fault is not run again, as the first of the schedules is the one that it had. What has failed is not
  // looked at once more.
  std::optional<Part> next() const;
  // Whether the next part is left out, as there is nothing to compare.
  bool left_out() const { return next() == Part::schedules && !outputs_; }
  // What that came to; one that was left out has held.
  void take(bool part_held, const Tally& tally = {});
  bool held() const;
  // "held: 0 races, 8 schedules agree".
  std::string words() const;

 private:
  struct Came {
    bool held;
    Tally tally;
  };
  bool outputs_;
  size_t schedules_;
  std::array<std::optional<Came>, 4> came_{};  // by part
};

}  // namespace bitwell::session
