// Mistakes planted into the PTX of a suite's kernel.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "model/ptx/parse.h"
#include "verify/capture/captures.h"
#include "verify/suite/suite.h"

namespace bitwell::verify {

// The first failure of the quick cases of a kernel of suite `of` with the text of its module changed; empty
// if all hold.
inline std::string failure_of(const char* of, const char* name, const std::string& text) {
  std::map<std::string, isa::Program> programs;  // by entry
  const auto compiled = [&](const Launch& l) -> const isa::Program& {
    if (!programs.contains(l.entry))
      programs.emplace(l.entry, text.find(".entry " + l.entry + "(") != std::string::npos
                                    ? isa::compile(ptx::parse(text), l.entry)
                                    : load_program(l.ptx, l.entry));
    return programs.at(l.entry);
  };
  for (const PlannedCase& planned : kernel(suite(of), name).cases()) {
    if (planned.full) continue;
    const SuiteCase c =
        suite_case(planned, planned.draw(),
                   {share_folder("kernels"), suite(of).archs_of(kernel(suite(of), name)).front()});
    for (const isa::Schedule& schedule : c.schedules) {
      const Tried tried = try_case(c, schedule, compiled);
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

}  // namespace bitwell::verify
