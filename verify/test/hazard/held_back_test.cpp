// What is held back from a shadow, and forgotten where all threads meet: random runs of one CTA, of which two
// checkers are told. One holds back; they find the same, word for word.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <random>

#include "../kernel.h"
#include "apart.h"
#include "checker/trace.h"

namespace bitwell::hazard {
namespace {

class Both {
 public:
  Both(uint64_t seed, const Checker& of_launch, bool once, std::unique_ptr<HeldBack> spare)
      : random_(seed),
        trace_({1, 1, 1}, {1, 1, 1}, once),
        holds_(of_launch.of_one_cluster(std::move(spare))) {
    trace_.checker.keep(1000);
    trace_.also = [this, rows = seed % 2 == 0](const machine::Event& event) {
      rows ? tell_as_rows(*holds_, event) : holds_->tell(event);
    };
    warps_ = 1 + draw(4);
    mostly_clean_ = draw(3) != 0;
    strong_ = draw(4) == 0;
    past_cache_ = draw(4) == 0;
    ends_ = draw(4) == 0;
    partial_ = draw(3) == 0;
    fine_ = draw(3) == 0;
  }

  void step() {
    switch (draw(16)) {
      case 0: return meet_in_warp();
      case 1:
      case 2: return meet_in_cta();
      case 3: return strong_ ? flag() : row();
      case 4: return ends_ && draw(4) == 0 ? end() : row();
      case 5:
      case 6:
      case 7:
      case 8:
      case 9: return row();
      default: return lanes();
    }
  }
  struct End {
    std::string told, held;
    bool forgot_too_much;
    std::unique_ptr<HeldBack> spare;
  };
  End end_of_cluster() {
    trace_.meets(200, {{}, 0, 0}, Sync::cluster_ended);
    End out;
    for (const Finding& f : trace_.checker.findings()) out.told += text_of(f);
    Checker::OfCluster held = holds_->of_cluster();
    for (const Finding& f : held.findings) out.held += text_of(f);
    out.forgot_too_much = held.forgot_too_much;
    out.spare = std::move(held.spare);
    return out;
  }

 private:
  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  // One that has not ended.
  uint32_t warp() {
    for (uint32_t w = draw(warps_);; w = (w + 1) % warps_)
      if ((ended_ >> w & 1) == 0) return w;
  }
  Who who(uint32_t w, uint32_t lanes) const { return {{}, static_cast<int>(w), lanes}; }
  int line() { return 10 + static_cast<int>(draw(20)); }

  void meet_in_warp() {
    const uint32_t lanes = draw(2) == 0 ? kAll : static_cast<uint32_t>(random_()) | 1;
    trace_.meets(100, who(warp(), lanes), Sync::warp_met, draw(8) == 0 ? 1 : 0);
  }
  // All that have not ended; or some, at a barrier of so many.
  void meet_in_cta() {
    const bool some = partial_ && draw(2) == 0;
    std::vector<Who> all;
    for (uint32_t w = 0; w < warps_; ++w)
      if ((ended_ >> w & 1) == 0 && (!some || draw(2) == 0)) all.push_back(who(w, kAll));
    const uint32_t amount = some ? static_cast<uint32_t>(32 * all.size()) : 0;
    if (!all.empty()) trace_.bar(101, all, draw(2), amount, draw(2) == 0);
  }
  void end() {
    if (ended_ == 0 && warps_ > 1) ended_ = 1u << draw(warps_);
  }
  void flag() {
    const uint64_t address = draw(2) == 0 ? shared(0, 4096 + 4 * draw(2)) : global(8192 + 4 * draw(2));
    const Who one = who(warp(), 1u << draw(4));
    constexpr Semantics kAll[] = {Semantics::release, Semantics::acquire, Semantics::acq_rel,
                                  Semantics::relaxed, Semantics::volatile_};
    const Semantics semantics = kAll[draw(5)];
    const AccessKind kind = semantics == Semantics::release   ? AccessKind::write
                            : semantics == Semantics::acquire ? AccessKind::read
                            : semantics == Semantics::acq_rel ? AccessKind::update
                                                              : static_cast<AccessKind>(draw(2));
    trace_.access(110 + static_cast<int>(semantics), one, kind, address, {semantics, Scope::gpu});
  }
  // All lanes side by side: mostly each warp its own.
  void row() {
    const uint32_t w = warp();
    const uint64_t bytes =
        mostly_clean_ && draw(30) != 0 ? 4 : uint64_t{1} << (fine_ ? draw(5) : 2 + draw(3));
    const uint32_t of = mostly_clean_ && draw(60) != 0 ? w : draw(warps_);
    const uint64_t shift = !mostly_clean_ && draw(6) == 0 ? bytes * draw(32) : 0;
    const uint64_t at = 1024 + 1024 * of + shift, far = draw(2) == 0 ? 0 : 65536 * draw(60);
    trace_.access(line(), who(w, draw(4) == 0 ? static_cast<uint32_t>(random_()) | 1 : kAll), kind(),
                  draw(2) == 0 ? shared(0, at) : global(at + far), {}, bytes,
                  !mostly_clean_ && draw(8) == 0 ? 2 * bytes : bytes);
  }
  // Some lanes, each at a word that is mostly its own. No two of them write one word: which of them the
  // shadow has for the writer then is no rule.
  void lanes() {
    const uint32_t w = warp();
    const bool inside = draw(2) == 0, own = mostly_clean_ && draw(60) != 0;
    const uint64_t bytes = own ? 4 : uint64_t{1} << (fine_ ? draw(5) : 2 + draw(2));
    const AccessKind does = kind();
    const uint64_t words = 512 / bytes;
    std::vector<uint64_t> word(words);
    std::iota(word.begin(), word.end(), 0);
    if (!own) std::shuffle(word.begin(), word.end(), random_);
    const uint32_t factor = draw(40) == 0 ? draw(64) | 1 : 5;
    // Or as far from each other as the next ones, in their order or the other way round.
    const bool even = draw(3) == 0, back = draw(4) == 0;
    const uint32_t apart = does == AccessKind::read && draw(8) == 0 ? 0 : own ? 1u << draw(6) : 1 + draw(6);
    const uint32_t from = own ? 512 + 1024 * w + draw(apart + 1) : draw(64);
    std::array<uint64_t, machine::kLanes> addresses{};
    for (uint32_t i = 0; i < machine::kLanes; ++i) {
      const uint64_t mine = even                        ? from + (back ? 31 - i : i) * apart
                            : own                       ? i * factor % 32 + w * 32
                            : does == AccessKind::write ? word[i]
                                                        : draw(static_cast<uint32_t>(words));
      addresses[i] = (inside ? shared(0, 0) : global(0)) + mine * bytes;
    }
    Order order;
    if (past_cache_ && !inside && does == AccessKind::read && draw(4) == 0) order.proxy = Proxy::non_coherent;
    trace_.access(line(), who(w, draw(2) == 0 ? kAll : static_cast<uint32_t>(random_()) | 1), does, addresses,
                  order, bytes);
  }
  AccessKind kind() { return draw(3) == 0 ? AccessKind::write : AccessKind::read; }

  std::mt19937_64 random_;
  Trace trace_;
  std::unique_ptr<Checker> holds_;
  uint32_t warps_ = 1, ended_ = 0;
  bool mostly_clean_ = false, strong_ = false, past_cache_ = false, ends_ = false, partial_ = false,
       fine_ = false;
};

TEST(HeldBack, WhatIsFoundIsWhatAShadowFindsThatIsToldOfAll) {
  Checker of_launch({1, 1, 1}, {1, 1, 1}), with_once({1, 1, 1}, {1, 1, 1}, true);
  for (Checker* const c : {&of_launch, &with_once}) {
    c->keep(1000);
    c->reached_by_lanes();
  }
  std::unique_ptr<HeldBack> spare;
  size_t found = 0, clean = 0, forgot_too_much = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const bool once = seed % 8 == 7;
    if (seed % 6 == 5) spare = std::make_unique<HeldBack>(seed % 30);  // which soon keeps no more
    if (seed % 6 == 0) spare = nullptr;
    Both both(seed, once ? with_once : of_launch, once, std::move(spare));
    const uint64_t steps = seed % 50 == 49 ? 400 : 12 + seed % 60;
    for (uint64_t i = 0; i < steps; ++i) both.step();
    Both::End end = both.end_of_cluster();
    spare = std::move(end.spare);
    if (end.forgot_too_much) {
      ++forgot_too_much;
      continue;
    }
    ++(end.told.empty() ? clean : found);
    const auto apart = std::ranges::mismatch(end.held, end.told);
    ASSERT_TRUE(end.held == end.told)
        << "seed " << seed << ", held back: " << std::string(apart.in1, end.held.end()).substr(0, 300)
        << "\ntold: " << std::string(apart.in2, end.told.end()).substr(0, 300);
  }
  std::cout << clean << " runs without findings, " << found << " with some, " << forgot_too_much
            << " that forgot too much\n";
  EXPECT_GT(clean, 1000U);
  EXPECT_GT(found, 1000U);
  EXPECT_GT(forgot_too_much, 10U);
}

// Of all others what an operation reaches, or what an mbarrier orders, is not known by lanes alone.
TEST(HeldBack, OfProgramsThatReachMemoryByLanes) {
  const auto by_lanes = [](const std::string& body) {
    const auto module = test::module_of(
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<4>;\n.reg .b64 %a<4>;\n.shared .align 128 .b8 word[512];\n"
        "ld.param.u64 %a0, [p];\n" +
        body + "\nret;\n}\n");
    return reached_by_lanes(*module->program("k"));
  };
  for (const char* const body :
       {"ld.global.u32 %r0, [%a0];\nst.shared.u32 [word], %r0;\nbar.sync 0;", "ld.global.nc.u32 %r0, [%a0];",
        "atom.global.add.u32 %r0, [%a0], 1;", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [word];",
        "red.global.add.u32 [%a0], 1;\nfence.acq_rel.gpu;\nbar.warp.sync -1;"})
    EXPECT_TRUE(by_lanes(body)) << body;
  for (const char* const body :
       {"cp.async.ca.shared.global [word], [%a0], 4;", "mbarrier.init.shared.b64 [word], 1;",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [word], [%a0], 16, [word+64];",
        "cp.async.bulk.global.shared::cta.bulk_group [%a0], [word], 16;",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r1];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a0], [word], 16;"})
    EXPECT_FALSE(by_lanes(body)) << body;
}

}  // namespace
}  // namespace bitwell::hazard
