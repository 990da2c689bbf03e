#include "verify/schedules/given.h"

#include <charconv>
#include <cstdio>

namespace bitwell::schedules {
namespace {

constexpr std::string_view kPct = "pct", kOrder = "order:", kTimed = "timed";
constexpr uint32_t kMostDepth = 64;

uint32_t depth_of(std::string_view text) {
  if (text == kPct) return kPctDepth;
  const std::string_view digits = text.substr(kPct.size() + 1);
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error != std::errc() || end != digits.data() + digits.size() || out == 0 || out > kMostDepth)
    throw machine::InputError("the schedule '" + std::string(text) +
                              "': the depth behind pct: must be 1 to " + std::to_string(kMostDepth));
  return out;
}

// The agents and turns of a launch under priorities that do not change.
explore::Extent measure(const launch::Start& start, run::Options options, uint64_t seed) {
  explore::Pct count(1, 0, seed);
  options.chooser = &count;
  options.observers.clear();
  options.print = nullptr;
  try {
    start.run(options, false);
  } catch (const machine::Fault&) {  // what comes of it is the run's to say
  }
  return count.extent();
}

}  // namespace

bool is_given(std::string_view text) {
  return text == kPct || text.starts_with(std::string(kPct) + ":") || text.starts_with(kOrder) ||
         text == kTimed;
}

Given::Given(const std::string& text, uint64_t seed, const launch::Start& start, run::Options options) {
  options.schedule = {};
  if (text == kTimed) {
    timed_ = std::make_unique<timing::Launches>(timing::device_for(start.program().target), 0,
                                                std::vector<timing::Shares>{});
    return;
  }
  if (text.starts_with(kOrder)) {
    replay_ =
        std::make_unique<explore::Replay>(run::full_shape(start.program(), start.launch().shape),
                                          explore::read_order(std::string_view(text).substr(kOrder.size())));
    return;
  }
  depth_ = depth_of(text);
  extent_ = measure(start, std::move(options), seed);
  pct_ = std::make_unique<explore::Pct>(depth_, extent_.turns, seed);
}

void Given::attach(run::Options& options) {
  options.schedule = {};
  if (pct_ != nullptr) options.chooser = pct_.get();
  if (timed_ != nullptr) options.chooser = timed_.get();
  if (replay_ == nullptr) return;
  options.chooser = replay_.get();
  options.observers.push_back(replay_->observer());
}

std::string Given::chance() const {
  if (pct_ == nullptr) return "";
  char number[32];
  std::snprintf(number, sizeof number, "%.3g", 1 / explore::chance(extent_, depth_));
  return "a bug of depth " + std::to_string(depth_) + " shows with a chance of at least 1 in " + number +
         " a run (" + std::to_string(extent_.agents) + " warps and operations, " +
         std::to_string(extent_.turns) + " turns)";
}

}  // namespace bitwell::schedules
