// Registers of wgmma in random runs, beside a plain second version: each warp has the list of what it has
// issued and waited for, and of what it has reached since its last fence.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"
#include "trace.h"

namespace bitwell::hazard {
namespace {

constexpr int kFence = 12, kMmas[] = {10, 11};

const std::string kText = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k()
{
.reg .f32 %f<16>;
.reg .b32 %g<16>;
.reg .b64 %a<4>;

wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%g0,%g1,%g2,%g3}, %a1, 1, 1, 1, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4,%f5,%f6,%f7}, {%g4,%g5,%g6,%g7}, %a1, 1, 1, 1, 0;
wgmma.fence.sync.aligned;
mov.f32 %f0, %f8;
mov.f32 %f9, %f3;
mov.b32 %g1, 0;
mov.b32 %g9, %g2;
mov.f32 %f5, %f8;
mov.f32 %f9, %f6;
mov.b32 %g4, 0;
mov.b32 %g9, %g7;
mov.f32 %f10, %f11;
add.f32 %f9, %f1, %f4;
ret;
}
)";

// What an instruction reaches of an MMA.
struct Reached {
  int mma;
  bool of_d, written;
};
const std::map<int, std::vector<Reached>> kReached = {
    {13, {{10, true, true}}},   {14, {{10, true, false}}},  {15, {{10, false, true}}},
    {16, {{10, false, false}}}, {17, {{11, true, true}}},   {18, {{11, true, false}}},
    {19, {{11, false, true}}},  {20, {{11, false, false}}}, {22, {{10, true, false}, {11, true, false}}}};

struct Plain {
  struct Warp {
    std::map<int, uint64_t> issued;  // by line: which it was, from 1
    uint64_t count = 0, ended = 0;
    std::vector<uint64_t> groups;
    std::map<int, int> reached;  // since the last fence, by MMA: the line of the last that did
  };
  std::map<std::pair<uint32_t, int>, Warp> warps;
  std::map<std::pair<std::string, int>, int> told;
  std::set<std::string> known;
  Lines findings;

  void add(const std::string& name, int earlier, int later) {
    const std::string text = name + " " + std::to_string(earlier) + " " + std::to_string(later);
    if (known.insert(text).second) findings.push_back(text);
  }
  void reach(Warp& w, int line) {
    if (line == kFence) return w.reached.clear();
    const Reached* last = nullptr;
    uint64_t when = 0;
    for (const Reached& r : kReached.at(line)) {
      const uint64_t issued = w.issued.contains(r.mma) ? w.issued[r.mma] : 0;
      if (issued > w.ended && issued > when) last = &r, when = issued;
      if (r.of_d || r.written) w.reached[r.mma] = line;
    }
    if (last == nullptr) return;
    const std::string name(
        row_of(last->of_d || last->written ? Kind::mma_registers : Kind::mma_fragments).name);
    if (told.try_emplace({name, last->mma}, line).first->second == line) add(name, last->mma, line);
  }
  void issue(Warp& w, int mma) {
    w.issued[mma] = ++w.count;
    const auto at = w.reached.find(mma);
    if (at == w.reached.end()) return;
    const int by = at->second;
    add(std::string(row_of(Kind::mma_fence).name), by, mma);
    w.reached.erase(mma);
    std::erase_if(w.reached, [&](const auto& other) { return other.second == by; });
  }
  static void wait(Warp& w, uint64_t left) {
    if (w.groups.size() <= left) return;
    w.ended = w.groups[w.groups.size() - left - 1];
    w.groups = left == 0 ? std::vector<uint64_t>{}
                         : std::vector<uint64_t>(w.groups.end() - static_cast<long>(left), w.groups.end());
  }
};

TEST(WgmmaRegisters, AreThoseOfWhatIsUnderWay) {
  const isa::Program program = isa::compile(ptx::parse(kText), "k");
  std::mt19937 random(6);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  std::set<std::string> met;
  for (int round = 0; round < 400; ++round) {
    Trace t({2, 1, 1});
    t.checker.follow(MmaRegisters(program));
    Plain plain;
    for (int step = 0; step < 40; ++step) {
      const Who who{{below(2), 0, 0}, std::array{0, 1, 6}[below(3)], kAll};
      Plain::Warp& w = plain.warps[{who.cta[0], who.warp}];
      switch (below(8)) {
        case 0:
        case 1: {
          const int mma = kMmas[below(2)];
          t.meets(mma, who, Sync::mma_issued, w.count);
          plain.issue(w, mma);
          break;
        }
        case 2:
          t.meets(30, who, Sync::mma_committed);
          w.groups.push_back(w.count);
          break;
        case 3: {
          const uint32_t left = below(3);
          t.meets(31, who, Sync::mma_waited, left);
          Plain::wait(w, left);
          break;
        }
        default: {
          const int line = below(4) == 0 ? kFence : 13 + static_cast<int>(below(10));
          if (line == 21) break;  // which nobody is told of
          machine::Reached reached{};
          reached.cta = who.cta, reached.warp = who.warp, reached.lanes = kAll, reached.ptx_line = line;
          t.tell(who, reached);
          plain.reach(w, line);
        }
      }
    }
    ASSERT_EQ(t.kinds(), plain.findings) << "round " << round;
    met.insert(plain.findings.begin(), plain.findings.end());
  }
  EXPECT_GT(met.size(), 15u);
}

}  // namespace
}  // namespace bitwell::hazard
