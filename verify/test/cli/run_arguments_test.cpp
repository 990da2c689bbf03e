// What the options of `bitwell run` come to, and which of them go together.
#include "verify/cli/run/run_arguments.h"

#include <gtest/gtest.h>

#include "run_line.h"

namespace bitwell::cli {
namespace {

using test::RunLine;

TEST(RunArguments, WithoutOptionsItIsOneLazyRunWithAllChecks) {
  const RunLine line("l.json");
  EXPECT_EQ(line.refused, "");
  const RunOptions& o = line.options;
  EXPECT_EQ(o.path, "l.json");
  EXPECT_FALSE(o.unchecked || o.races || o.once || o.numeric || o.explain || o.all || o.exhaust || o.json ||
               o.verbose || o.device || o.run.strict);
  EXPECT_EQ(o.policy, "lazy");
  EXPECT_EQ(o.schedules, 0u);
  EXPECT_EQ(o.error_on, "error");
  EXPECT_FALSE(o.memory_limit || o.numeric_bound || o.run.residents);
  EXPECT_EQ(replay_options(o), "");
}

TEST(RunArguments, OptionsThatDoNotStandAloneNameTheOneThatTheyNeed) {
  const std::pair<const char*, const char*> rows[] = {{"--once", "--races"},
                                                      {"--explain", "--races"},
                                                      {"--all", "--races"},
                                                      {"--error-on note", "--races"},
                                                      {"--sarif f", "--races"},
                                                      {"--baseline f", "--races"},
                                                      {"--write-baseline f", "--races"},
                                                      {"--numeric-bound 3", "--numeric"},
                                                      {"--most 3", "--exhaust"},
                                                      {"--dump-visit 2", "--dump"},
                                                      {"--dump-cta 1,0,0", "--dump"},
                                                      {"--dump-as f32", "--dump"},
                                                      {"--device-seconds 5", "--device"}};
  for (const auto& [option, needs] : rows) {
    const std::string said = RunLine(std::string("l.json ") + option).refused;
    const std::string name = std::string(option).substr(0, std::string(option).find(' '));
    EXPECT_NE(said.find(name), std::string::npos) << said;
    EXPECT_NE(said.find(needs), std::string::npos) << said;
    const std::string both = std::string("l.json ") + option + " " + needs;
    EXPECT_EQ(RunLine(both + (std::string(needs) == "--dump" ? " tmem@3" : "")).refused, "") << both;
  }
}

TEST(RunArguments, OptionsThatExcludeEachOtherAreBothNamed) {
  for (const char* other :
       {"--schedule random", "--seed 1", "--trace f", "--dump tmem@3", "--numeric", "--races", "--junit f"})
    for (const char* one : {"--schedules 2", "--exhaust"}) {
      const std::string said = RunLine(std::string("l.json ") + one + " " + other).refused;
      for (const std::string words : {one, other})
        EXPECT_NE(said.find(words.substr(0, words.find(' '))), std::string::npos) << said;
    }
  for (const char* words : {"--exhaust --schedules 2", "--exhaust --device", "--exhaust --unchecked",
                            "--device --schedules 2", "--dump tmem@3 --unchecked"})
    EXPECT_NE(RunLine(std::string("l.json ") + words).refused, "") << words;
}

TEST(RunArguments, NumbersStayInTheirRange) {
  struct Row {
    const char *option, *last, *beyond;
  };
  for (const Row& r : {Row{"--numeric --numeric-bound", "10", "11"},
                       {"--numeric --numeric-bound", "0", "-1"},
                       {"--schedules", "1", "0"},
                       {"--schedules", "1000000", "1000001"},
                       {"--exhaust --most", "1", "0"},
                       {"--exhaust --most", "18446744073709551615", "18446744073709551616"},
                       {"--resident", "4294967295", "4294967296"},
                       {"--resident", "1", "0"},
                       {"--step-limit", "1", "0"},
                       {"--device --device-seconds", "86400", "86401"},
                       {"--dump tmem@3 --dump-visit", "1", "0"},
                       {"--schedules", "2", "2x"},
                       {"--schedule", "pct:4", "pc:4"},
                       {"--schedule", "starve-stores", "starve"}}) {
    const std::string option = std::string("l.json ") + r.option + " ";
    EXPECT_EQ(RunLine(option + r.last).refused, "");
    const std::string said = RunLine(option + r.beyond).refused;
    EXPECT_NE(said.find(std::string("'") + r.beyond + "'"), std::string::npos) << r.option << ": " << said;
  }
}

TEST(RunArguments, SizesOfMemoryHaveBinaryUnits) {
  EXPECT_EQ(RunLine("l.json --memory-limit 64G").options.memory_limit, uint64_t{64} << 30);
  EXPECT_EQ(RunLine("l.json --memory-limit 3M").options.memory_limit, uint64_t{3} << 20);
  EXPECT_EQ(RunLine("l.json --memory-limit 7").options.memory_limit, 7u);
  for (const char* wrong : {"-1", "64Q", "G"})
    EXPECT_NE(RunLine(std::string("l.json --memory-limit ") + wrong).refused, "") << wrong;
}

// What a report prints to see a run again is read as the same schedule.
TEST(RunArguments, ReplayOptionsComeToTheSameSchedule) {
  for (const char* policy : {"lazy", "eager", "random", "starve-producer", "starve-consumer", "starve-stores",
                             "pct", "pct:5", "order:0:0x3,0:1"})
    for (const char* strict : {"", " --strict"}) {
      const RunOptions first = RunLine(std::string("l.json --seed 17 --schedule ") + policy + strict).options;
      const RunLine again("l.json" + replay_options(first));
      EXPECT_EQ(again.refused, "") << policy;
      EXPECT_EQ(again.options.policy, first.policy);
      const bool drawn = std::string(policy) == "random" || std::string(policy).starts_with("pct");
      EXPECT_EQ(seeded(first), drawn) << policy;
      EXPECT_EQ(again.options.run.schedule.seed, drawn ? 17u : 0u) << policy;
      EXPECT_EQ(again.options.run.strict, std::string(policy) == "random" && *strict != 0) << policy;
    }
}

TEST(RunArguments, ApproximateIsWhatStrictSaysWhereNothingElseDoes) {
  EXPECT_EQ(approximate_of(RunLine("l.json").options), isa::Approximate::h200);
  EXPECT_EQ(approximate_of(RunLine("l.json --strict").options), isa::Approximate::captured);
  EXPECT_EQ(approximate_of(RunLine("l.json --strict --approximate h200").options), isa::Approximate::h200);
  EXPECT_EQ(approximate_of(RunLine("l.json --approximate nearest").options), isa::Approximate::nearest);
  EXPECT_NE(RunLine("l.json --approximate neraest").refused.find("did you mean 'nearest'"),
            std::string::npos);
}

}  // namespace
}  // namespace bitwell::cli
