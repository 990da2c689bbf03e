// Work that may end its process, as a kernel may break a GPU's context: every other piece is done all the
// same.
#include "verify/device/children.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <map>

#include "verify/device/driver.h"

namespace bitwell::device {
namespace {

enum class End { well, unfit, death };

std::map<size_t, std::optional<std::string>> outcome(const std::vector<End>& ends) {
  std::map<size_t, std::optional<std::string>> out;
  size_t expected = 0;
  each_in_children(
      ends.size(),
      [&](size_t i) -> Answer {
        if (ends[i] == End::death) _exit(3);
        return {std::string(i * 5000, 'x') + std::to_string(i), ends[i] == End::well};
      },
      [&](size_t i, const std::optional<std::string>& text) {
        EXPECT_EQ(i, expected++);
        out[i] = text;
      });
  return out;
}

void expect_all(const std::vector<End>& ends) {
  const auto out = outcome(ends);
  ASSERT_EQ(out.size(), ends.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    ASSERT_EQ(out.at(i).has_value(), ends[i] != End::death) << i;
    EXPECT_EQ(out.at(i).value_or(""),
              ends[i] == End::death ? "" : std::string(i * 5000, 'x') + std::to_string(i));
  }
}

TEST(Children, NoPieceTheFirstTheLastAll) {
  expect_all({});
  expect_all({End::well});
  expect_all({End::death});
  expect_all({End::unfit});
  expect_all({End::death, End::well});
  expect_all({End::well, End::death});
  expect_all({End::unfit, End::death, End::death, End::unfit});
}

TEST(Children, EveryPieceIsToldOnceAndInOrder) {
  EXPECT_TRUE(rc::check("a piece has its text unless the process dies in that very piece", [] {
    std::vector<End> ends;
    for (const int n : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3)))
      if (ends.size() < 6) ends.push_back(static_cast<End>(n));
    expect_all(ends);
  }));
}

TEST(Targets, RunWhereTheManualSays) {
  EXPECT_TRUE(runs_target(90, "sm_90a"));
  EXPECT_FALSE(runs_target(100, "sm_90a"));  // 'a': that one alone
  EXPECT_TRUE(runs_target(100, "sm_90"));
  EXPECT_FALSE(runs_target(90, "sm_100a"));
  EXPECT_TRUE(runs_target(103, "sm_100f"));  // 'f': later ones of its family
  EXPECT_FALSE(runs_target(120, "sm_100f"));
  EXPECT_FALSE(runs_target(100, "sm_103f"));
}

}  // namespace
}  // namespace bitwell::device
