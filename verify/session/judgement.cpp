#include "verify/session/judgement.h"

#include <algorithm>

#include "verify/terminal/table.h"

namespace bitwell::session {

namespace {

void add(std::string& to, const std::string& words) { to += (to.empty() ? "" : ", ") + words; }

void count(std::string& to, uint64_t n, const char* what) {
  add(to, terminal::grouped(n) + " " + what + (n == 1 ? "" : "s"));
}

}  // namespace

std::string Tally::words() const {
  std::string out;
  if (end != End::end) add(out, end == End::deadlock ? "a deadlock" : "a fault");
  if (races && (end == End::end || *races != 0)) count(out, *races, "race");
  if (notes) count(out, *notes, "note");
  if (wrong) count(out, *wrong, "wrong element");
  return out;
}

std::string Tally::line() const {
  const std::string all = words();
  return all.empty() ? all : (holds() ? "held: " : "FAILED: ") + all;
}

Tally::End end_of(const machine::Fault& fault) {
  return fault.waiters.empty() ? Tally::End::fault : Tally::End::deadlock;
}

Tally tally_of(const Findings& found, std::string_view error_on) {
  Tally out;
  out.races = found.errors;
  if (error_on == "note") out.notes = found.notes;
  out.failed = found.fail(error_on);
  return out;
}

std::optional<Judgement::Part> Judgement::next() const {
  const auto& [check, run, at_random, schedules] = came_;
  if (!check) return Part::check;
  if (!run) return check->held ? std::optional(Part::run) : std::nullopt;
  if (schedules || run->tally.end != Tally::End::end) return std::nullopt;
  if (at_random ? at_random->tally.end != Tally::End::end : run->held)
    return at_random ? std::nullopt : std::optional(Part::at_random);
  return Part::schedules;
}

void Judgement::take(bool part_held, const Tally& tally) {
  came_[static_cast<size_t>(next().value())] = Came{part_held, tally};
}

bool Judgement::held() const {
  return std::all_of(came_.begin(), came_.end(), [](const auto& c) { return !c || c->held; });
}

std::string Judgement::words() const {
  const auto& [check, run, at_random, schedules] = came_;
  const std::string head = held() ? "held: " : "FAILED: ";
  if (!run) return head + "the PTX cannot be run, see above";
  std::string out = run->tally.words();
  if (at_random && !at_random->held) add(out, at_random->tally.words() + " under --schedule random");
  if (schedules && !outputs_)
    add(out, "schedules not compared");
  else if (schedules && schedules->tally.end != Tally::End::end)
    add(out, "a fault under another schedule");
  else if (schedules)
    add(out, std::to_string(schedules_) + " schedules " + (schedules->tally.failed ? "differ" : "agree"));
  return head + out;
}

}  // namespace bitwell::session
