#include "model/explore/order.h"

#include <algorithm>
#include <charconv>

namespace bitwell::explore {
namespace {

using machine::InputError;

// A number at the start of `text`, which is then behind it.
std::optional<uint32_t> number(std::string_view& text) {
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return out;
}

bool skip(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::pair<Actor, uint32_t>> read_part(std::string_view text) {
  const auto cluster = number(text);
  if (!cluster || !skip(text, ':')) return std::nullopt;
  const auto warp = number(text);
  if (!warp) return std::nullopt;
  std::optional<uint32_t> operation = 0, turns = 1;
  if (skip(text, '.')) operation = number(text);
  if (skip(text, 'x')) turns = number(text);
  if (!operation || !turns || *turns == 0 || !text.empty()) return std::nullopt;
  return std::pair{Actor{*cluster, *warp, *operation}, *turns};
}

}  // namespace

Actor default_of(const std::vector<Actor>& can, const std::optional<Actor>& before) {
  return before && std::count(can.begin(), can.end(), *before) != 0 ? *before : can.front();
}

std::string text_of(const Order& order) {
  std::string out;
  for (const auto& [actor, turns] : order)
    out += (out.empty() ? "" : ",") + name_of(actor) + (turns == 1 ? "" : "x" + std::to_string(turns));
  return out;
}

Order read_order(std::string_view text) {
  Order out;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const auto read = read_part(part);
    if (!read)
      throw InputError("an order of turns: '" + std::string(part) +
                       "' is no CLUSTER:WARP[.OPERATION][xTURNS], as 0:1x4 or 0:1.2");
    out.push_back(*read);
    text.remove_prefix(part.size());
    if (skip(text, ',') && text.empty()) throw InputError("an order of turns ends with a comma");
  }
  return out;
}

size_t Replay::choose(std::span<const run::Taker> takers) {
  const std::vector<Actor> can = actors_of(takers);
  const Actor actor = at_ < order_.size() ? order_[at_].first : default_of(can, before_);
  const auto at = std::find(can.begin(), can.end(), actor);
  if (at == can.end())
    throw InputError("an order of turns of another launch: turn " + std::to_string(turns_ + 1) + " is of " +
                     name_of(actor) + ", which cannot go on then");
  if (at_ < order_.size() && ++had_ == order_[at_].second) {
    ++at_;
    had_ = 0;
  }
  ++turns_;
  before_ = actor;
  witness_.begin(actor);
  return static_cast<size_t>(at - can.begin());
}

}  // namespace bitwell::explore
