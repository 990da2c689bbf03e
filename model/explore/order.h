// One schedule as text, and a run by it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/explore/follower.h"

namespace bitwell::explore {

// Actors, each with the turns that it has in a row. Behind the last, and as long as nobody else is named, who
// went before goes on; where it cannot, the first that can.
using Order = std::vector<std::pair<Actor, uint32_t>>;

// Who goes on where nobody is named; `can` is not empty.
Actor default_of(const std::vector<Actor>& can, const std::optional<Actor>& before);

// "0:0x3,0:1.1x2"; empty for an empty one. The other direction throws InputError naming what is no actor.
std::string text_of(const Order& order);
Order read_order(std::string_view text);

// Gives the turns that an order says. Throws InputError where one that it names cannot go on.
class Replay : public Follower {
 public:
  Replay(const run::Shape& shape, Order order) : Follower(shape), order_(std::move(order)) {}

  size_t choose(std::span<const run::Taker> can) override;
  void took(const run::Took& turn) override { witness_.end({}, changed(turn.changes)); }

 private:
  Order order_;
  size_t at_ = 0;     // in `order_`
  uint32_t had_ = 0;  // turns of that actor
  uint64_t turns_ = 0;
  std::optional<Actor> before_;
};

}  // namespace bitwell::explore
