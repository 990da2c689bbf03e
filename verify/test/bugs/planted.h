// Mistakes planted into the PTX of a suite's kernel.
#pragma once
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "verify/capture/captures.h"
#include "verify/suite/suite.h"

namespace bitwell::bugs {

// The first failure of the quick cases of a kernel of suite `of` with the text of its module changed; empty
// if all hold.
inline std::string failure_of(const char* of, const char* name, const std::string& text) {
  const auto changed = std::make_shared<const isa::Module>(text);
  launch::Modules as_built;
  const auto modules = [&](const launch::Launch& l) {
    return text.find(".entry " + l.entry + "(") != std::string::npos ? changed : as_built(l);
  };
  for (const suite::PlannedCase& planned : suite::kernel(suite::suite(of), name).cases()) {
    if (planned.full) continue;
    const suite::SuiteCase c =
        suite::suite_case(planned, planned.draw(),
                          {capture::share_folder("kernels"),
                           suite::suite(of).archs_of(suite::kernel(suite::suite(of), name)).front()});
    for (const run::Schedule& schedule : c.schedules) {
      const suite::Tried tried = suite::try_case(c, schedule, modules);
      if (tried.failure) return tried.failure->what;
    }
  }
  return "";
}

// `text` with every match of `pattern`, of which there is one, put otherwise.
inline std::string replaced(const std::string& text, const std::string& pattern, const std::string& by) {
  const std::regex from(pattern);
  EXPECT_TRUE(std::regex_search(text, from)) << pattern;
  return std::regex_replace(text, from, by);
}

}  // namespace bitwell::bugs
