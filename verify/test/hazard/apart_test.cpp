// The race check of clusters that are told of apart, on any number of host threads, finds what one checker
// finds that is told of all of them in order: bugs of the catalogue, each in many clusters with memory of
// their own, and what clusters do to each other.
#include <gtest/gtest.h>

#include <regex>

#include "../kernel.h"
#include "verify/bugs/catalogue/catalogue.h"
#include "verify/findings/watch.h"
#include "verify/session/words.h"

namespace bitwell::hazard {
namespace {

constexpr uint32_t kTimes = 18;           // a launch of the catalogue becomes so many beside each other
constexpr size_t kEvery = 4;              // of the catalogue's launches one in so many is run
constexpr size_t kOwn = size_t{1} << 14;  // bytes from one's buffer to the next one's

std::string text_of(const Party& p) {
  return std::to_string(p.site.ptx_line) + " by " + std::to_string(static_cast<int>(p.site.actor)) + " " +
         machine::triple(p.cta) + " warp " + std::to_string(p.warp) + " lane " + std::to_string(p.lane);
}

std::string text_of(const Finding& f) {
  std::string out(row_of(f.kind).name);
  const auto add = [&](const auto&... words) { ((out += ", ", out += words), ...); };
  const auto number = [](auto n) { return std::to_string(n); };
  add(text_of(f.earlier), text_of(f.later), number(static_cast<int>(f.side)), number(f.address),
      number(f.bytes), number(f.count) + " times", f.object.name, text_of(f.made), f.where);
  for (const Finding::Met& m : f.met)
    add(number(m.access), number(m.address), number(m.bytes), text_of(m.earlier), text_of(m.later));
  return out + "\n";
}

// What one comes to who watches a launch.
struct End {
  std::string found, fault;
  std::vector<std::vector<std::byte>> left;
  uint64_t lanes = 0;
  Checker::Cost cost;
  run::HostThreads host;

  bool as(const End& o) const {
    return found == o.found && fault == o.fault && left == o.left && lanes == o.lanes;
  }
};

// threads: 0 where all is told in order.
End ended(launch::Launch launch, bool once, unsigned threads) {
  End out;
  const findings::SharedProgram program = launch.module->program(launch.entry);
  findings::Readings readings;
  findings::Watch watch(once);
  watch.keep(1000);
  run::Options options;
  options.threads = std::max(threads, 1U);
  options.step_limit = 1 << 20;
  options.observers.push_back(watch.observer(readings.of(program).registers.lines(), threads != 0));
  watch.begin(*program, launch.shape);
  watch.follow(readings.of(program));
  try {
    const launch::Ran ran = launch::simulate(launch, options, false);
    ran.keep(launch);
    out.host = ran.result.host;
    out.lanes = ran.result.lane_instructions;
    for (const launch::Buffer& b : launch.buffers) out.left.push_back(b.bytes);
  } catch (const machine::Fault& fault) {
    out.fault = fault.what();
  }
  for (const findings::Found& f : watch.findings()) out.found += text_of(f.finding);
  out.cost = watch.cost();
  return out;
}

// Each of the many has buffers of its own; it counts for a while first, so that there is work for several
// host threads. Lines keep their numbers.
launch::Launch many(const bugs::Exhibit& e, const bugs::Bug* bug) {
  launch::Launch out = e.launch;
  const std::string ctas = std::to_string(out.shape.grid[0]);
  const std::string own =
      "ld.param.$1 $2, [$3]; { .reg .b32 %apart<3>; .reg .b64 %to_own; .reg .pred %on; "
      "mov.u32 %apart1, %ctaid.x; div.u32 %apart1, %apart1, " +
      ctas + "; mul.wide.u32 %to_own, %apart1, " + std::to_string(kOwn) +
      "; add.u64 $2, $2, %to_own; mov.u32 %apart2, 0; count: add.u32 %apart2, %apart2, 1; "
      "setp.lt.u32 %on, %apart2, 400; @%on bra count; }";
  static const std::regex kParameter(R"(ld\.param\.([ub]64) (%\w+), \[(\w+)\];)");
  const std::string text = bugs::ptx_of(e, bug == nullptr ? "" : bug->name);
  out.module = std::make_shared<const isa::Module>(std::regex_replace(text, kParameter, own), e.name);
  out.entry = "kernel";
  out.shape.grid[0] *= kTimes;
  for (launch::Buffer& b : out.buffers) {
    const std::vector<std::byte> one = b.bytes;
    b.bytes.resize(kTimes * kOwn);
    for (uint32_t i = 0; i < kTimes; ++i) std::copy(one.begin(), one.end(), b.bytes.begin() + i * kOwn);
  }
  return out;
}

TEST(Apart, BugsOfTheCatalogue) {
  size_t number = 0, launches = 0, apart = 0, found_apart = 0;
  for (const bugs::Exhibit& e : bugs::read_catalogue(BITWELL_CATALOGUE)) {
    const auto large = [](const launch::Buffer& b) { return b.bytes.size() > kOwn || !b.written.empty(); };
    if (e.launch.shape.grid[1] != 1 || e.launch.shape.grid[2] != 1 || e.again ||
        std::any_of(e.launch.buffers.begin(), e.launch.buffers.end(), large))
      continue;
    std::vector<const bugs::Bug*> all{nullptr};
    for (const bugs::Bug& bug : e.bugs) all.push_back(&bug);
    for (const bugs::Bug* bug : all) {
      if (number++ % kEvery != 0) continue;
      const launch::Launch launch = many(e, bug);
      const End want = ended(launch, e.once, 0), one = ended(launch, e.once, 1);
      ++launches;
      for (const unsigned threads : {1U, 2U, 7U, 16U}) {
        if ((threads == 2 || threads == 16) && launches % 8 != 0) continue;
        const End got = threads == 1 ? one : ended(launch, e.once, threads);
        const std::string who = e.name + " " + (bug == nullptr ? "clean" : bug->name) + ", " +
                                std::to_string(threads) + " threads, " + got.host.why_not_all;
        EXPECT_TRUE(got.as(want)) << who << "\n"
                                  << got.found << got.fault << "\nin order\n"
                                  << want.found << want.fault;
        EXPECT_EQ(got.cost.shadow, one.cost.shadow) << who;
        EXPECT_EQ(got.cost.touched, one.cost.touched) << who;
        if (threads != 7 || got.host.clusters == 0) continue;
        EXPECT_EQ(got.host.why_not_all, "");
        ++apart;
        found_apart += got.found.empty() ? 0 : 1;
      }
    }
  }
  std::cout << launches << " launches, " << apart << " apart, of which " << found_apart << " with findings\n";
  EXPECT_GE(apart, 200 / kEvery);
  EXPECT_GE(found_apart, 120 / kEvery);
}

}  // namespace
}  // namespace bitwell::hazard
