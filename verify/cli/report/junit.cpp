#include "verify/cli/report/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/cli/report/xml.h"

namespace bitwell::cli {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string junit(const std::string& suite, const std::vector<TestCase>& cases) {
  double seconds = 0;
  for (const TestCase& c : cases) seconds += c.seconds;
  const auto failures =
      std::count_if(cases.begin(), cases.end(), [](const TestCase& c) { return c.failure.has_value(); });
  const auto skipped =
      std::count_if(cases.begin(), cases.end(), [](const TestCase& c) { return !c.skipped.empty(); });
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3f}\">\n",
      xml_escaped(suite), cases.size(), failures, skipped, seconds);
  for (const TestCase& c : cases) {
    out += fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">\n", xml_escaped(c.group),
                       xml_escaped(c.name), c.seconds);
    if (c.failure)
      out += fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>\n", xml_escaped(c.failure->type),
                         xml_escaped(first_line(c.failure->text)), xml_escaped(c.failure->text));
    if (!c.skipped.empty()) out += fmt::format("<skipped message=\"{}\"/>\n", xml_escaped(c.skipped));
    if (!c.output.empty()) out += fmt::format("<system-out>{}</system-out>\n", xml_escaped(c.output));
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n</testsuites>\n";
}

}  // namespace bitwell::cli
