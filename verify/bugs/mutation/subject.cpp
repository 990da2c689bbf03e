#include "verify/bugs/mutation/subject.h"

#include <algorithm>
#include <cstring>

#include "verify/schedules/schedules.h"

namespace bitwell::bugs {
namespace {

// The kernel's cases that launch the entry, but those that only a full run takes.
std::vector<suite::SuiteCase> cases_of(const suite::Kernel& kernel, const suite::Build& build,
                                       const std::string& entry) {
  std::vector<suite::SuiteCase> out;
  for (const suite::PlannedCase& planned : kernel.cases()) {
    if (planned.full) continue;
    const suite::DrawnCase drawn = planned.draw();
    const suite::Chain chain = drawn.chain(build);
    if (std::any_of(chain.launches.begin(), chain.launches.end(),
                    [&](const launch::Launch& l) { return l.entry == entry; }))
      out.push_back(suite::suite_case(planned, drawn, build));
  }
  return out;
}

// The two-stage pipeline of kernels/hang: sums[lane] of the words lane, lane + 32, ... of none to 160 tiles:
// each remainder of an unrolled loop, and enough that an arrival too many in every phase makes up one.
std::vector<suite::SuiteCase> pipeline_suite(const std::string& ptx) {
  constexpr uint32_t kWords = 256;  // of a tile
  constexpr size_t kSchedules = 24;
  std::vector<suite::SuiteCase> out;
  for (const uint32_t tiles : {0u, 1u, 3u, 4u, 7u, 160u}) {
    std::vector<uint32_t> words(kWords * tiles);
    std::vector<uint32_t> sums(32);
    for (uint32_t i = 0; i < words.size(); ++i) {
      words[i] = i * 2654435761u;
      sums[i % 32] += words[i];
    }
    const auto bytes = [](const std::vector<uint32_t>& v) {
      std::vector<std::byte> b(4 * v.size());
      if (!v.empty()) std::memcpy(b.data(), v.data(), b.size());
      return b;
    };
    launch::Launch l;
    l.ptx = ptx;
    l.entry = "pipeline";
    l.shape.block = {64, 1, 1};
    l.add_buffer({"words", bytes(words), true, true, false});
    l.add_buffer({"sums", std::vector<std::byte>(128), false, false, true});
    l.add_scalar(static_cast<int32_t>(tiles));
    suite::SuiteCase c;
    c.name = std::to_string(tiles) + " tiles";
    c.chain.launches.push_back(std::move(l));
    c.result = 1;
    c.element = 4;
    c.expected = bytes(sums);
    c.schedules = launch::schedules(kSchedules);
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace

std::vector<Subject> subjects(const std::string& kernels) {
  std::vector<Subject> out;
  const std::string pipeline = kernels + "/hang/correct.ptx";
  out.push_back({"hang/pipeline", pipeline, "pipeline", "", [=] { return pipeline_suite(pipeline); }});
  for (const suite::Suite& suite : suite::suites()) {
    for (const suite::Kernel& kernel : suite.kernels) {
      const suite::Build build{kernels, suite.archs_of(kernel).front()};
      for (const suite::Entry& e : kernel.entries)
        out.push_back({e.name, build.file(e.module), e.entry, e.unlike.empty() ? "" : build.file(e.unlike),
                       [&kernel, &e, build] { return cases_of(kernel, build, e.entry); }});
    }
  }
  return out;
}

}  // namespace bitwell::bugs
