// Reports for CI servers: counts, and characters that XML has in another way or not at all.
#include "verify/cli/report/junit.h"

#include <gtest/gtest.h>

namespace bitwell::cli {
namespace {

TEST(JUnit, CountsWhatFailedAndWhatWasSkipped) {
  const std::string held =
      junit("run", {{"runs to its end", "k", 1.5, {}, "", "as it went"},
                    {"'y' is as expected", "k", 0.25, {{"expected", "2 of 4\nsecond line"}}, "", ""},
                    {"no races", "k", 0, {}, "not asked", ""}});
  EXPECT_NE(held.find(R"(<testsuite name="run" tests="3" failures="1" errors="0" skipped="1" time="1.750">)"),
            std::string::npos)
      << held;
  EXPECT_NE(held.find(R"(<failure type="expected" message="2 of 4">2 of 4&#10;second line</failure>)"),
            std::string::npos)
      << held;
  EXPECT_NE(held.find(R"(<skipped message="not asked"/>)"), std::string::npos) << held;
  EXPECT_NE(held.find("<system-out>as it went</system-out>"), std::string::npos) << held;
}

TEST(JUnit, EscapesNamesAndLeavesOutWhatXmlDoesNotHave) {
  const std::string text = junit("a<b>&\"c\"", {{"x\x01y\tz", "f<int>", 0, {}, "", ""}});
  EXPECT_NE(text.find("name=\"a&lt;b&gt;&amp;&quot;c&quot;\""), std::string::npos) << text;
  EXPECT_NE(text.find("classname=\"f&lt;int&gt;\" name=\"xy\tz\""), std::string::npos) << text;
}

}  // namespace
}  // namespace bitwell::cli
