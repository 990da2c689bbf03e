// What waited for what: a link for each turn, and the way back from the one that ended last.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace bitwell::timing {

enum class Cause : uint8_t {
  executes,  // instructions, one after the other
  load,      // a warp needs what it has loaded
  copy,      // a copy's latency
  l2,        // copies and loads queue for L2
  dram,      // or for DRAM
  tensor,    // the tensor core multiplies
  store      // a bulk copy to global memory
};
inline constexpr std::string_view kCauses[] = {
    "executes instructions", "waits for its loads",  "copy, latency", "copy, L2", "copy, DRAM",
    "tensor core",           "copy to global memory"};

// What a warp is by what it has done so far. Warps that multiply by wgmma or mma.sync have the accumulators
// themselves.
enum class Role : uint8_t { other, copies, multiplies, both, reads };
inline constexpr std::string_view kRoles[] = {"other warps", "warps that copy", "warps that multiply",
                                              "warps that copy and multiply", "warps that read accumulators"};

class Path {
 public:
  static constexpr int32_t kNone = -1;
  // A turn that ended then, of an instruction of that PTX line. `before`: the turn without which it could
  // not.
  int32_t add(int32_t before, double end, int line, Role role, Cause cause) {
    if (count_ >= kMost) return before;
    if (count_ % kTogether == 0) links_.push_back(std::make_unique_for_overwrite<Link[]>(kTogether));
    links_.back()[count_ % kTogether] = {before, static_cast<float>(end), line, role, cause};
    return static_cast<int32_t>(count_++);
  }
  struct Part {
    Role role;
    Cause cause;
    int line;
    double cycles;
    uint64_t times;
  };
  // The way to that turn, by role, cause and line; the longest first.
  std::vector<Part> to(int32_t last) const {
    std::map<std::tuple<Role, Cause, int>, std::pair<double, uint64_t>> all;
    for (int32_t at = last; at != kNone; at = link(at).before) {
      const Link& l = link(at);
      const double begin = l.before == kNone ? 0 : link(l.before).end;
      auto& [cycles, times] = all[{l.role, l.cause, l.line}];
      cycles += l.end - begin;
      ++times;
    }
    std::vector<Part> out;
    for (const auto& [key, sum] : all)
      out.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), sum.first, sum.second});
    std::sort(out.begin(), out.end(), [](const Part& a, const Part& b) { return a.cycles > b.cycles; });
    return out;
  }

 private:
  static constexpr size_t kMost = 1 << 25;
  struct Link {
    int32_t before;
    float end;
    int line;
    Role role;
    Cause cause;
  };
  const Link& link(int32_t number) const {
    const auto at = static_cast<size_t>(number);
    return links_[at / kTogether][at % kTogether];
  }
  // One for each turn: they stay where they are.
  static constexpr size_t kTogether = 1 << 14;
  std::vector<std::unique_ptr<Link[]>> links_;
  size_t count_ = 0;
};

}  // namespace bitwell::timing
