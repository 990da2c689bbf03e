#include "verify/journal/parts.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <queue>

#include "model/machine/failure.h"
#include "verify/journal/folder.h"

namespace bitwell::journal {

Times::Times(const std::string& folder, const std::string& written) {
  if (folder.empty()) return;
  std::error_code none;
  if (std::filesystem::equivalent(folder, written, none))
    throw machine::InputError("--times and --journal name the same folder, '" + folder +
                              "': its times change while the shards write to it");
  for (const nlohmann::json& line : whatever_lines(folder)) {
    const auto seconds = line.find("seconds");
    const auto of = line.find("case");
    if (seconds == line.end() || of == line.end() || !seconds->is_number() || !of->is_string()) continue;
    seconds_[of->get<std::string>()] = std::max(0.0, seconds->get<double>());
  }
  if (seconds_.empty())
    throw machine::InputError("--times: no journal in '" + folder + "' says how long a case took");
  for (const auto& [c, s] : seconds_) mean_ += s / static_cast<double>(seconds_.size());
}

double Times::of(const std::string& c) const {
  const auto at = seconds_.find(c);
  return at == seconds_.end() ? mean_ : at->second;
}

std::vector<size_t> part(size_t count, const std::vector<double>& seconds, const Shard& shard) {
  std::vector<size_t> out;
  if (seconds.empty()) {
    for (size_t i = shard.index - 1; i < count; i += shard.of) out.push_back(i);
    return out;
  }
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return seconds[a] > seconds[b]; });
  using Load = std::pair<double, uint64_t>;  // seconds, shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (uint64_t i = 1; i <= std::min<uint64_t>(shard.of, count); ++i) least.emplace(0, i);
  for (const size_t i : order) {
    const auto [load, who] = least.top();
    least.pop();
    least.emplace(load + seconds[i], who);
    if (who == shard.index) out.push_back(i);
  }
  return out;
}

}  // namespace bitwell::journal
