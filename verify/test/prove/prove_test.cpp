// bitwell prove: a GPU that lies, stops or refuses is found out, and what it answered becomes evidence only
// where it is bitwell's own answer. No GPU: the simulator stands in for one, and is made to lie.
#include "verify/prove/prove.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "verify/prove/report.h"
#include "verify/schedules/schedules.h"
#include "verify/verdict/judge.h"

namespace bitwell::prove {
namespace {

using Kind = Reply::Kind;

Part part_named(const std::string& name, const std::string& target) {
  for (Part& p : parts(capture::share_folder("kernels")))
    if (p.name == name && p.target == target) return p;
  throw machine::InputError("no part " + name);
}
// The first few questions of a part.
Part some(Part part, size_t count) {
  part.questions = [all = part.questions, count] {
    std::vector<Question> out = all();
    out.resize(std::min(count, out.size()));
    return out;
  };
  return part;
}
size_t count(const std::vector<Reply>& replies, Kind kind) {
  return static_cast<size_t>(
      std::count_if(replies.begin(), replies.end(), [&](const Reply& r) { return r.kind == kind; }));
}

TEST(Prove, EveryQuestionOfAPartHasItsOwnNameAndLeavesSomething) {
  for (const auto& [name, target] : {std::pair{"tensor memory", "sm_100a"},
                                     {"tensor products", "sm_100a"},
                                     {"warp products", "sm_120a"}}) {
    const Part part = part_named(name, target);
    const std::vector<Reply> replies = prove(part, simulate_launch, nullptr, 0);
    EXPECT_GE(replies.size(), 100u);
    EXPECT_EQ(count(replies, Kind::agrees), replies.size()) << name;
    std::set<std::string> names;
    std::set<std::string> digests;
    for (const Reply& r : replies) {
      EXPECT_TRUE(names.insert(r.name).second) << r.name;
      EXPECT_GT(r.bytes, 0u) << r.name;
      digests.insert(r.digest);
    }
    // Questions that leave the same tell nothing apart: loads from the first and the second 16 lanes differ,
    // and so on.
    EXPECT_GT(digests.size(), 3 * replies.size() / 4) << name;
  }
}

// What the manual orders leaves the same words under every schedule. What it leaves open some schedule shows,
// but for what bitwell cannot see: a missing proxy fence.
TEST(Prove, WhatIsOrderedNeverDiffersAndWhatIsOpenMay) {
  for (const char* target : {"sm_90a", "sm_100a", "sm_120a"})
    for (const Question& q : ordering_questions(target)) {
      const Trial trial = q.trials().front();
      launch::Launch launch = trial.chain.launches.front();
      launch.module = trial.texts.front();
      std::optional<launch::Ran> first;
      const auto differs =
          schedules::disagreement(launch::Start(launch), {}, launch::schedules(8), nullptr, &first);
      const bool fence = q.name.find("no proxy fence") != std::string::npos;
      EXPECT_EQ(differs.has_value(), q.open && !fence)
          << q.name << (differs ? ": " + launch::describe(differs->second) + " " + differs->fault : "");
      uint32_t last = 0;  // word of the last thread's in the last round
      std::memcpy(&last, &first->buffer(launch, 1)[launch.buffers[1].size() - 4], 4);
      EXPECT_EQ(last, q.name.find("place") == std::string::npos ? 256u * 512 - 1 : 0x02020202u) << q.name;
    }
}

// A GPU whose words of an open question are others is no liar: they are counted.
TEST(Prove, WhatIsOpenIsCountedAndIsNoEvidence) {
  const Part part = part_named("ordering", "sm_90a");
  const std::vector<Reply> replies = prove(
      part,
      [](const SharedText& text, launch::Launch& launch) {
        simulate_launch(text, launch);
        for (const size_t at : {size_t{0}, size_t{7}, size_t{4096}})
          launch.buffers[1].bytes[at] ^= std::byte{1};
      },
      nullptr, 0);
  EXPECT_EQ(count(replies, Kind::left_open), replies.size() / 2);
  EXPECT_EQ(count(replies, Kind::differs), replies.size() / 2);
  Report report;
  add(report, part, replies);
  for (const Reply& r : replies) {
    EXPECT_NE(r.detail.find("(3 words differ)"), std::string::npos) << r.detail;
    EXPECT_EQ(report.digests.contains(answer_name(part, r.name)), r.kind == Kind::differs) << r.name;
    EXPECT_EQ(report.differs.at(answer_name(part, r.name)), r.detail);
  }
  for (const Reply& r : prove(part, simulate_launch, nullptr, 0))
    EXPECT_EQ(r.detail, r.kind == Kind::left_open ? "no word differs" : "") << r.name;
}

TEST(Prove, EveryKernelHasRecordedCases) {
  for (const char* target : {"sm_100a", "sm_120a"})
    for (const Question& q : kernel_questions(target, capture::share_folder("kernels")))
      EXPECT_FALSE(q.trials().empty()) << q.name;
}

// What a card of sm_120a would be asked, of the thousands of single instructions every 50th, answered by the
// simulator in its place, which lies about one question in each part. `prove_rehearsal` asks them all.
TEST(Prove, OfEachPartForAnRtxCardALieIsFound) {
  std::set<std::string> names;
  Report report;
  size_t closed = 0;
  for (Part part : parts(capture::share_folder("kernels"))) {
    if (part.target != "sm_120a") continue;
    names.insert(part.name);
    std::vector<Question> questions = part.questions();
    if (part.name == "instructions") {
      std::vector<Question> fewer;
      for (size_t i = 0; i < questions.size(); i += 50) fewer.push_back(questions[i]);
      questions = std::move(fewer);
    }
    part.questions = [questions] { return questions; };
    std::vector<size_t> known;  // what the manual does not leave open
    for (size_t i = 0; i < questions.size(); ++i)
      if (!questions[i].open) known.push_back(i);
    ASSERT_FALSE(known.empty()) << part.name;
    const size_t lie = known[known.size() / 2];
    std::string now;
    size_t asked = 0;
    const std::vector<Reply> replies = prove(
        part,
        [&](const SharedText& text, launch::Launch& l) {
          ++asked;
          simulate_launch(text, l);
          if (now != questions[lie].name) return;
          for (launch::Buffer& b : l.buffers)
            if (b.output) b.bytes.front() ^= std::byte{1};
        },
        [&](size_t, size_t, const std::string& name) { now = name; }, 1);
    ASSERT_EQ(replies.size(), questions.size());
    EXPECT_GE(asked, questions.size()) << part.name;
    for (size_t i = 0; i < replies.size(); ++i) {
      const Reply& r = replies[i];
      EXPECT_EQ(r.name, questions[i].name);
      EXPECT_GT(r.bytes, 0u) << r.name;
      EXPECT_EQ(r.kind, i == lie            ? Kind::differs
                        : questions[i].open ? Kind::left_open
                                            : Kind::agrees)
          << part.name << ", " << r.name << ": " << r.detail;
      EXPECT_EQ(r.detail.find("GPU 0x") != std::string::npos, i == lie) << r.detail;
    }
    closed += known.size();
    add(report, part, replies);
  }
  EXPECT_EQ(names, (std::set<std::string>{"instructions", "warp products", "ordering", "kernels"}));
  EXPECT_EQ(report.digests.size(), closed);
}

TEST(Prove, OneWrongBitIsNamed) {
  const Part part = some(part_named("tensor memory", "sm_100a"), 4);
  std::atomic<int> launches = 0;
  const std::vector<Reply> replies = prove(
      part,
      [&](const SharedText& text, launch::Launch& l) {
        simulate_launch(text, l);
        if (launches++ == 2) l.buffers.back().bytes[4 * 5] ^= std::byte{1};
      },
      nullptr, 1);
  EXPECT_EQ(count(replies, Kind::agrees), 3u);
  ASSERT_EQ(replies[2].kind, Kind::differs);
  EXPECT_EQ(replies[2].detail.find("word 5: GPU 0x"), 0u) << replies[2].detail;
}

TEST(Prove, AfterAGpuThatStopsNothingIsAsked) {
  const Part part = some(part_named("tensor memory", "sm_100a"), 6);
  int asked = 0;
  const std::vector<Reply> replies = prove(
      part,
      [&](const SharedText& text, launch::Launch& l) {
        if (++asked == 3) throw machine::Fault("CUDA_ERROR_ILLEGAL_INSTRUCTION");
        simulate_launch(text, l);
      },
      nullptr, 1);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(replies[2].kind, Kind::stopped);
  EXPECT_EQ(count(replies, Kind::not_asked), 3u);
}

TEST(Prove, ADriverThatRefusesTheTextIsAReply) {
  const Part part = some(part_named("tensor memory", "sm_100a"), 2);
  const std::vector<Reply> replies = prove(
      part, [&](const SharedText&, launch::Launch&) { throw machine::InputError("ptxas: line 7"); }, nullptr,
      1);
  EXPECT_EQ(count(replies, Kind::refused), 2u);
  EXPECT_EQ(replies[0].detail, "ptxas: line 7");
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("bitwell-prove-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_ / "reported");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& file) const { return (path_ / file).string(); }

 private:
  std::filesystem::path path_;
};

// What a report says and bitwell does not give is no evidence; the rest is, and a verdict names who reported
// it.
TEST(Prove, AReportIsEvidenceAsFarAsItIsOurs) {
  const Part products = part_named("tensor products", "sm_100a");
  Report report{"NVIDIA B200", "580.1", 100, "0", {}, {}};
  std::vector<Reply> replies = prove(some(products, 3), {}, nullptr, 0);
  replies[1].kind = Kind::differs;
  replies[1].digest = "0123456789abcdef";
  replies[1].detail = "word 0: GPU 0x1, bitwell 0x2";
  add(report, products, replies);
  const Folder folder;
  std::ofstream(folder / "report.json") << text_of(report);
  const Report again = read_report(folder / "report.json");
  EXPECT_EQ(again.digests, report.digests);
  EXPECT_EQ(again.differs, report.differs);
  std::vector<std::string> others;
  const capture::Capture evidence =
      evidence_of(again, "A. Reader", capture::share_folder("kernels"), nullptr, 0, others);
  EXPECT_EQ(evidence.device, "NVIDIA B200, reported by A. Reader");
  EXPECT_EQ(evidence.digests.size(), 2u);
  EXPECT_EQ(others, std::vector<std::string>{answer_name(products, replies[1].name)});
}

TEST(Prove, AVerdictNamesWhoReportedItsBits) {
  const suite::Suite& dense = suite::suite("dense");
  const suite::Kernel& kernel = dense.kernels.front();
  verdict::Plan plan;
  plan.kernels = {kernel.name};
  plan.ptx = capture::share_folder("kernels");
  plan.captures = capture::share_folder("captures");
  const verdict::Verdict alone = verdict::judge(dense, plan).front();
  const std::string name = verdict::reported_name("sm_100a", verdict::recorded_name(dense, kernel, false));
  verdict::Verdict v = alone;
  verdict::add_reported(v, {{"NVIDIA B200, reported by X", "", "", {{name, "another"}}}}, name);
  EXPECT_EQ(v.evidence, alone.evidence);
  verdict::add_reported(v, {{"NVIDIA B200, reported by X", "", "", {{name, v.digest}}}}, name);
  EXPECT_NE(v.evidence.find("device: NVIDIA B200, reported by X"), std::string::npos) << v.evidence;
  // The digest that prove asks for is the one that the verdict has.
  for (const Question& q : kernel_questions("sm_100a", capture::share_folder("kernels")))
    if (answer_name(part_named("kernels", "sm_100a"), q.name) == name) {
      Part one = part_named("kernels", "sm_100a");
      one.questions = [&] { return std::vector<Question>{q}; };
      EXPECT_EQ(prove(one, {}, nullptr, 0).front().digest, alone.digest);
    }
}

TEST(Prove, WhatIsNoReportIsRefusedByName) {
  const Folder folder;
  const auto refusal = [&](const std::string& text) -> std::string {
    std::ofstream(folder / "r.json") << text;
    try {
      read_report(folder / "r.json");
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refusal("{}").find("r.json' is no report of bitwell prove"), std::string::npos);
  EXPECT_NE(refusal("{\"bitwell_prove\": 7}").find("a report of format 7"), std::string::npos);
  EXPECT_NE(refusal("no").find("r.json' is not JSON"), std::string::npos);
  EXPECT_NE(refusal("[2]").find("r.json' is no report of bitwell prove"), std::string::npos);
  // Every key that is missing or holds something else is named, in our words.
  const std::map<std::string, std::string> whole = {{"bitwell_prove", "2"},  {"device", "\"NVIDIA B200\""},
                                                    {"driver", "\"580.1\""}, {"compute_capability", "100"},
                                                    {"version", "\"0\""},    {"digests", "{\"a\": \"b\"}"},
                                                    {"differs", "{}"}};
  const auto written = [](const std::map<std::string, std::string>& fields) {
    std::string out;
    for (const auto& [key, value] : fields) out += (out.empty() ? "{\"" : ", \"") + key + "\": " + value;
    return out + "}";
  };
  EXPECT_EQ(refusal(written(whole)), "");
  for (const auto& [key, value] : whole) {
    auto changed = whole;
    changed.erase(key);
    EXPECT_NE(refusal(written(changed)).find("is no report of bitwell prove: it has no '" + key + "'"),
              std::string::npos)
        << refusal(written(changed));
    if (key == "bitwell_prove") continue;
    for (const char* other : {"null", "[]", "-1", "{\"a\": 1}"}) {
      changed[key] = other;
      EXPECT_NE(refusal(written(changed)).find("its '" + key + "' is not what prove writes there"),
                std::string::npos)
          << key << ": " << other << ": " << refusal(written(changed));
    }
  }
}

TEST(Prove, WhatNoGpuGaveIsNoEvidence) {
  const auto refusal = [](const Report& report) -> std::string {
    try {
      check_is_a_gpus(report, "r.json");
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  for (const auto& [part, target, capability] :
       {std::tuple("tensor products", "sm_100a", 100), {"instructions", "sm_90a", 90}}) {
    const std::string name = answer_name(part_named(part, target), "any");
    Report report{"NVIDIA X", "580.1", capability, "0", {{name, "1"}}, {}};
    EXPECT_EQ(refusal(report), "");
    for (const char* none : {"none", ""}) {
      report.driver = none;
      EXPECT_NE(refusal(report).find("'r.json' has no driver"), std::string::npos);
    }
    report.driver = "580.1";
    for (const int other : {0, 75, 86, 89, 90, 100, 103, 120}) {
      if (other == capability) continue;
      report.compute_capability = other;
      EXPECT_NE(
          refusal(report).find(std::string("for ") + target + ", which NVIDIA X of compute capability " +
                               std::to_string(other) + " does not run"),
          std::string::npos)
          << refusal(report);
    }
  }
}

}  // namespace
}  // namespace bitwell::prove
