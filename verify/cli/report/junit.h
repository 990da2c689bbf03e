// Reports in JUnit's XML, which CI servers show as tests.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace bitwell::cli {

struct TestCase {
  std::string name, group;  // group: what JUnit calls a class
  double seconds = 0;
  struct Failure {
    std::string type, text;
  };
  std::optional<Failure> failure;
  std::string skipped;  // why, or empty
  std::string output;   // or empty
};

// One suite of that name. Characters that XML does not have are left out.
std::string junit(const std::string& suite, const std::vector<TestCase>& cases);

}  // namespace bitwell::cli
