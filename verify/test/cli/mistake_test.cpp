// What is said of a command line that is not understood: what is wrong, the name that is near, and where the
// help is.
#include "verify/cli/shell/mistake.h"

#include <gtest/gtest.h>

#include "run_line.h"

namespace bitwell::cli {
namespace {

TEST(Mistake, OfAnOptionOrAValueNamesWhatIsNear) {
  const std::pair<const char*, const char*> rows[] = {
      {"l.json --raecs", "run has no option '--raecs'; did you mean '--races'? (bitwell run --help)"},
      {"l.json --raecs=3", "run has no option '--raecs'; did you mean '--races'? (bitwell run --help)"},
      {"l.json --quite-another", "run has no option '--quite-another' (bitwell run --help)"},
      {"l.json --seed", "--seed needs a value (bitwell run --help)"},
      {"l.json --races --error-on nte",
       "--error-on: 'nte' is not one of error, note, none; did you mean 'note'? (bitwell run --help)"},
      {"l.json m.json", "run does not know what to do with 'm.json' (bitwell run --help)"},
      {"", "run needs LAUNCH.json: The launch (bitwell run --help)"}};
  for (const auto& [words, said] : rows) EXPECT_EQ(test::RunLine(words).refused, said) << words;
}

std::string of_commands(const std::string& words) {
  CLI::App app{"", "bitwell"};
  app.require_subcommand(1);
  CLI::App* study = app.add_subcommand("study", "studies");
  study->require_subcommand(1);
  study->add_subcommand("accumulate", "sums");
  study->add_subcommand("quantise", "formats");
  app.add_subcommand("check", "a file");
  app.add_subcommand("hidden", "not for readers")->group("");
  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    return mistake(app, e);
  }
  return "";
}

TEST(Mistake, OfACommandNamesWhatIsNearOrWhichThereAre) {
  EXPECT_EQ(of_commands("chekc"), "there is no 'chekc'; did you mean 'check'? (bitwell --help)");
  EXPECT_EQ(of_commands("elsewhere"), "there is no 'elsewhere'; there are study, check (bitwell --help)");
  EXPECT_EQ(of_commands("study quantize"),
            "study has no 'quantize'; did you mean 'quantise'? (bitwell study --help)");
  EXPECT_EQ(of_commands("study"), "study needs one of accumulate, quantise (bitwell study --help)");
  EXPECT_EQ(of_commands("study quantise"), "");
}

}  // namespace
}  // namespace bitwell::cli
