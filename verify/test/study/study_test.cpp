// Claims of the studies, and that a study's file can be trusted.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "experiments/study/accumulate.h"
#include "experiments/study/gemm_error.h"
#include "experiments/study/quantise_study.h"
#include "experiments/study/recommend.h"
#include "model/machine/failure.h"
#include "model/number/half.h"
#include "model/number/quantise.h"

namespace bitwell::study {
namespace {

std::vector<Answer> recommend(const Question& q) { return answers(q, run(recommend_study(q), {})); }

// What the contest entry of kernels/README.md found by trial: packed fp16 sums and an fp16 or fp32
// combination hold for two shapes, and the third, with the same four threads, needs an fp32 sum that takes
// over every 128 elements.
TEST(ContestEntry, FindsTheCombinationThatEachShapeNeeds) {
  const auto outside = [](int m, int k, int l, const char* order) {
    Question q;
    q.m = m;
    q.k = k;
    q.l = l;
    q.orders = {order};
    q.problems = 1;
    return recommend(q).at(0);
  };
  EXPECT_EQ(outside(512, 16384, 1, "contest_k16384").outside, 0u);
  EXPECT_EQ(outside(512, 2048, 4, "contest_k2048").outside, 0u);
  const Answer fails = outside(512, 7168, 8, "contest_k2048");
  EXPECT_GT(fails.outside, 0u);
  // Four sums of about 500, each nearly exact, meet in fp16, whose unit is 1 from 1024 and 2 from 2048 on.
  EXPECT_NE(fails.why.find("the sums "), std::string::npos) << fails.why;
  EXPECT_NE(fails.why.find("in fp16"), std::string::npos) << fails.why;
  EXPECT_EQ(outside(512, 7168, 8, "contest_k7168").outside, 0u);
}

TEST(Recommend, NamesTheCheapestThatHolds) {
  Question q;
  q.m = 256;
  q.k = 7168;
  q.l = 8;
  q.orders = {"f32_sequential", "contest_k2048", "contest_k7168"};
  const auto answers = recommend(q);
  ASSERT_NE(cheapest(answers), nullptr);
  EXPECT_EQ(cheapest(answers)->order, "contest_k7168");
  EXPECT_NEAR(answers[1].most_failing, 1 - std::pow(0.01, 1.0 / static_cast<double>(answers[1].outputs)),
              1e-9);
}

// Of several pieces: counts are added, the worst is the worst of all, and the first that fails is told of.
TEST(Recommend, AddsUpItsPieces) {
  Question q;
  q.m = 1100;
  q.k = 2048;
  q.orders = {"f16_sequential", "fused"};
  q.problems = 1;
  const Study study = recommend_study(q);
  ASSERT_EQ(study.pieces, 3u);
  const Rows all = run(study, {});
  ASSERT_EQ(all.size(), 6u);
  const auto one = answers(q, all);
  EXPECT_EQ(one[0].order, "f16_sequential");
  EXPECT_EQ(one[0].outputs, 1100u * 16);
  EXPECT_EQ(one[1].outside, 0u);
  uint64_t outside = 0;
  double worst = 0;
  for (size_t piece = 0; piece < 3; ++piece) {
    const auto part = answers(q, study.rows(piece));
    EXPECT_EQ(part[0].outputs, (piece == 2 ? 76u : 512u) * 16);
    outside += part[0].outside;
    worst = std::max(worst, part[0].worst);
    EXPECT_LT(part[0].outside, part[0].outputs);
    EXPECT_NE(part[0].why, "");
    if (piece == 0)
      EXPECT_EQ(one[0].why, part[0].why);
    else
      EXPECT_NE(one[0].why, part[0].why);
  }
  EXPECT_EQ(one[0].outside, outside);
  EXPECT_EQ(one[0].worst, worst);
  EXPECT_EQ(one[1].why, "");
}

TEST(Bounds, HoldForEveryOrderAndFamily) {
  AccumulatePlan plan;
  plan.least_k = 64;
  plan.most_k = 512;
  plan.dots = 256;
  for (const auto& row : run(accumulate_study(plan), {})) {
    const AccumulatePoint p = accumulate_point(row);
    EXPECT_EQ(p.statistics.beyond_worst, 0u) << p.family << " " << p.order << " k " << p.k;
  }
}

// The search ends with errors no smaller than any that the families' own dot products have, and larger ones
// in fp16.
TEST(Adversarial, IsWorseThanEveryFamily) {
  AccumulatePlan plan;
  plan.orders = {"f16_sequential", "f16_tree", "f16x2_promoted_128", "fused"};
  plan.least_k = plan.most_k = 256;
  plan.dots = 256;
  std::map<std::string, double> families_worst;
  std::map<std::string, double> searched;
  for (const auto& row : run(accumulate_study(plan), {})) {
    const AccumulatePoint p = accumulate_point(row);
    double& worst = (p.family == "adversarial" ? searched : families_worst)[p.order];
    worst = std::max(worst, p.statistics.max_relative);
  }
  for (const std::string& order : plan.orders) EXPECT_GE(searched[order], families_worst[order]) << order;
  for (const char* order : {"f16_sequential", "f16_tree", "f16x2_promoted_128"})
    EXPECT_GT(searched[order], 1.5 * families_worst[order]) << order;
}

// That a bound can be violated, and that the run then says so.
TEST(Bounds, AreMissedByWrongResults) {
  const Sample s = sample(Family::gaussian, 256, 64, 3);
  const Order& order = find_order("fused");
  const std::vector<Truth> exact = truths(s.a, s.b);
  std::vector<uint16_t> got = results(order, s.a, Columns(s.b));
  EXPECT_EQ(statistics(got, exact, bound(order, 256), {}).beyond_worst, 0u);
  got[5] = number::float_to_half(static_cast<float>(exact[5].value + exact[5].magnitude / 16));
  const Statistics wrong = statistics(got, exact, bound(order, 256), {});
  EXPECT_EQ(wrong.beyond_worst, 1u);
  EXPECT_EQ(wrong.outside, 1u);
}

TEST(Statistics, CountWhatLeavesTheRange) {
  const std::vector<Truth> exact{{1000, 1000}, {1e-3, 1e-3}, {1e6, 1e6}, {2, 2}};
  const std::vector<uint16_t> got{0x7C00, 0x0000, 0x7C00, 0x4001};  // infinity, 0, infinity, 2 + one unit
  const Statistics s = statistics(got, exact, {}, {1e-4, 1e-4});
  EXPECT_EQ(s.overflows, 1u);  // the third is out of fp16's range by itself
  EXPECT_EQ(s.underflows, 1u);
  EXPECT_EQ(s.outside, 3u);
  EXPECT_EQ(s.ulp99, s.max_ulp);
  EXPECT_GT(s.max_ulp, 1000);
  EXPECT_EQ(statistics(std::span(got).subspan(3), std::span(exact).subspan(3), {}, {}).max_ulp, 1);
}

std::string text_of(const std::filesystem::path& path) {
  std::stringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("bitwell-study-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

AccumulatePlan small() {
  AccumulatePlan plan;
  plan.most_k = 128;
  plan.dots = 64;
  plan.orders = {"fused", "f16_sequential", "blackwell_nvfp4"};
  plan.families = {"problem", "gaussian", "cancelling"};
  return plan;
}

TEST(Study, AFilesBytesDependOnNoNumberOfThreads) {
  const Folder folder;
  for (const int threads : {1, 5}) {
    Running running;
    running.threads = threads;
    running.csv = folder / (threads == 1 ? "one.csv" : "five.csv");
    run(accumulate_study(small()), running);
  }
  EXPECT_GT(text_of(folder / "one.csv").size(), 1000u);
  EXPECT_EQ(text_of(folder / "one.csv"), text_of(folder / "five.csv"));
}

// However a run was cut off, the next one ends with the same bytes, and keeps whole pieces.
RC_GTEST_PROP(Study, GoesOnWhereItWasCutOff, ()) {
  const Folder folder;
  Running running;
  running.csv = folder / "whole.csv";
  const auto rows = run(accumulate_study(small()), running);
  const std::string whole = text_of(running.csv);
  const auto cut = *rc::gen::inRange<size_t>(0, whole.size() + 1).as("bytes left");
  running.csv = folder / "cut.csv";
  const size_t head = whole.find('\n', whole.find('\n') + 1) + 1;
  RC_PRE(cut == 0 || cut >= head);
  std::ofstream(running.csv, std::ios::binary) << whole.substr(0, cut);
  size_t earlier = 0;
  running.progress = [&](const Progress& p) { earlier = p.earlier; };
  RC_ASSERT(run(accumulate_study(small()), running) == rows);
  RC_ASSERT(text_of(running.csv) == whole);
  size_t wholes = 0;
  for (size_t at = whole.find(" is whole\n"); at != std::string::npos && at + 10 <= cut;
       at = whole.find(" is whole\n", at + 1))
    ++wholes;
  RC_ASSERT(wholes == earlier || cut == whole.size());
}

TEST(Study, AnotherQuestionsFileIsLeftAlone) {
  const Folder folder;
  Running running;
  running.csv = folder / "a.csv";
  run(accumulate_study(small()), running);
  const std::string before = text_of(running.csv);
  AccumulatePlan other = small();
  other.seed = 2;
  EXPECT_THROW(run(accumulate_study(other), running), machine::InputError);
  EXPECT_EQ(text_of(running.csv), before);
}

TEST(Study, StopsBetweenPiecesAndKeepsThem) {
  const Folder folder;
  Running running;
  running.csv = folder / "a.csv";
  running.threads = 1;
  int left = 3;
  running.stop = [&] { return left-- == 0; };
  const size_t some = run(accumulate_study(small()), running).size();
  EXPECT_EQ(some, 9u);
  running.stop = nullptr;
  EXPECT_GT(run(accumulate_study(small()), running).size(), some);
}

// A study's rows, found by what their columns say.
class Table {
 public:
  Table(std::vector<std::string> columns, std::vector<std::vector<std::string>> rows)
      : columns_(std::move(columns)), rows_(std::move(rows)) {}
  explicit Table(const Study& study) : Table(study.columns, run(study, {})) {}

  using Key = std::map<std::string, std::string>;  // column and what stands there
  // The one row that has them all, by column.
  Key row(const Key& key) const {
    std::vector<const std::vector<std::string>*> found;
    for (const auto& cells : rows_)
      if (std::all_of(key.begin(), key.end(),
                      [&](const auto& want) { return cells.at(column(want.first)) == want.second; }))
        found.push_back(&cells);
    if (found.size() != 1) throw std::out_of_range(std::to_string(found.size()) + " rows of that name");
    Key out;
    for (const std::string& name : columns_) out[name] = found[0]->at(column(name));
    return out;
  }
  double number(const Key& key, const std::string& name) const { return std::stod(row(key).at(name)); }
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  size_t column(const std::string& name) const {
    const auto at = std::find(columns_.begin(), columns_.end(), name);
    if (at == columns_.end()) throw std::out_of_range("no column '" + name + "'");
    return static_cast<size_t>(at - columns_.begin());
  }

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A results file, without the number of the piece that each row came with.
Table results_file(const std::string& name) {
  std::ifstream file(std::string(BITWELL_RESULTS) + "/" + name);
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    lines.emplace_back(cells.begin() + 1, cells.end());
  }
  return {lines.at(0), {lines.begin() + 1, lines.end()}};
}

// What experiments/README.md rests on is what this program gives: k up to 256, of the search k = 16.
TEST(Results, AreWhatTheStudiesGive) {
  const Table kept = results_file("accumulate.csv");
  size_t compared = 0;
  for (const NamedFamily& family : families()) {
    AccumulatePlan plan;
    plan.families = {std::string(family.name)};
    plan.most_k = family.family == Family::adversarial ? 16 : 256;
    const Table now(accumulate_study(plan));
    ASSERT_EQ(now.columns(), kept.columns());
    for (size_t k = 16; k <= plan.most_k; k *= 2)
      for (const Order& order : orders()) {
        const Table::Key key{{"family", std::string(family.name)},
                             {"k", std::to_string(k)},
                             {"order", std::string(order.name)}};
        EXPECT_EQ(now.row(key), kept.row(key)) << family.name << ", k " << k << ", " << order.name;
        ++compared;
      }
  }
  EXPECT_EQ(compared, (5 * (families().size() - 1) + 1) * orders().size());
}

// Against what other implementations of the recipes gave, run once over 2048x1024 of N(0,1) in bf16: dB.
TEST(Quantise, SignalToNoiseIsWhatOthersMeasured) {
  const std::vector<std::pair<std::string, double>> expected{{"nvfp4", 20.44},
                                                             {"single_level", 20.43},
                                                             {"four_over_six_mse", 21.22},
                                                             {"four_over_six_mae", 21.08},
                                                             {"always_four", 20.16},
                                                             {"scale_up", 19.99},
                                                             {"scale_down", 20.37},
                                                             {"scale_f32", 20.53},
                                                             {"mxfp4", 18.75},
                                                             {"e8m0_16", 18.96},
                                                             {"stochastic", 17.25},
                                                             {"hadamard", 20.43}};
  for (const auto& [recipe, decibel] : expected) {
    QuantisePlan plan;
    plan.recipes = {recipe};
    plan.rows = 256;
    const Table measured(quantise_study(plan));
    EXPECT_NEAR(measured.number({{"input", "gaussian"}, {"recipe", recipe}}, "sqnr_db"), decibel, 0.06)
        << recipe;
  }
}

// Dequantising what was quantised and quantising again changes nothing, where elements are rounded to
// nearest.
RC_GTEST_PROP(Quantise, ValuesOfTheFormatStay, ()) {
  const number::Recipe& r = *number::find_recipe("single_level");
  const auto x =
      draw_values(Family::heavy_tailed, true, *rc::gen::inRange<size_t>(0, 1000).as("vector"), 256, 5);
  const auto once = number::dequantise(r, number::quantise(r, x, 0));
  const number::Quantised q = number::quantise(r, x, 0);
  for (size_t b = 0; b < 16; ++b) {
    bool six = false;
    for (size_t i = 16 * b; i < 16 * b + 16; ++i) six = six || (q.codes[i] & 7) == 7;
    RC_ASSERT(six);  // the largest is mapped to 6
  }
  RC_ASSERT(number::dequantise(r, number::quantise(r, once, 0)) == once);
}

// RMS errors against A of one row of the study: the tcgen05 sum of a family.
double rms(const Table& study, const char* family, const char* split, const char* handed,
           const char* output) {
  return study.number({{"family", family},
                       {"sum", "blackwell_nvfp4"},
                       {"split", split},
                       {"handed_over", handed},
                       {"output", output}},
                      "rms_relative");
}

// Sums of Gaussian blocks stay below 2^24 of their units; a split that is added in fp32 loses no more than
// one sum; bf16 between splits loses a thousand times as much.
TEST(GemmError, WhatSplitsHandOverDecides) {
  GemmErrorPlan plan;
  plan.m = plan.n = 32;
  plan.least_k = plan.most_k = 4096;
  const Table study(gemm_error_study(plan));
  EXPECT_EQ(rms(study, "gaussian", "1", "f32", "f32"), 0);
  const double one = rms(study, "outlier_channels", "1", "f32", "f32");
  EXPECT_GT(one, 1e-8);
  EXPECT_LT(rms(study, "outlier_channels", "8", "f32", "f32"), 1.5 * one);
  EXPECT_GT(rms(study, "outlier_channels", "8", "bf16", "bf16"), 1000 * one);
}

TEST(Plan, UnknownNamesAndLengthsAreNamed) {
  AccumulatePlan plan;
  plan.orders = {"fp64"};
  EXPECT_THROW(accumulate_study(plan), machine::InputError);
  plan = {};
  plan.families = {"cauchy"};
  EXPECT_THROW(accumulate_study(plan), machine::InputError);
  plan = {};
  plan.most_k = 1 << 21;
  EXPECT_THROW(accumulate_study(plan), machine::InputError);
}

}  // namespace
}  // namespace bitwell::study
