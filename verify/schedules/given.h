// Schedules that say who has each turn, by the text that `bitwell run --schedule` takes: "pct", "pct:3",
// "order:0:0x3,0:1",
// "timed".
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "model/explore/order.h"
#include "model/explore/pct.h"
#include "model/timing/launches.h"
#include "verify/launch/start.h"

namespace bitwell::schedules {

// Whether the text is of such a schedule, well formed or not.
bool is_given(std::string_view text);
// Of pct without a number.
inline constexpr uint32_t kPctDepth = 3;

class Given {
 public:
  // For one run of a launch that nothing follows. pct runs it once before, to count its turns; a fault ends
  // that count. Throws InputError for a text that is none, naming what is wrong.
  Given(const std::string& text, uint64_t seed, const launch::Start& start, run::Options options);

  // `options` of the run, which this outlives.
  void attach(run::Options& options);
  // Of pct, one line: with what chance a run finds a bug, and of what depth; of an order nothing.
  std::string chance() const;
  // Of `timed`, who has the time; else nullptr.
  const timing::Launches* clocks() const { return timed_.get(); }

 private:
  std::unique_ptr<explore::Replay> replay_;
  std::unique_ptr<explore::Pct> pct_;
  std::unique_ptr<timing::Launches> timed_;
  uint32_t depth_ = 0;
  explore::Extent extent_;
};

}  // namespace bitwell::schedules
