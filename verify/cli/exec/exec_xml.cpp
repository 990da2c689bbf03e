#include "verify/cli/exec/exec_xml.h"

#include <array>

#include "verify/cli/report/xml.h"
#include "verify/launch/file/names.h"

namespace bitwell::cli {
namespace {

using nlohmann::json;

std::string element(const std::string& name, const std::string& text) {
  return "<" + name + ">" + xml_escaped(text) + "</" + name + ">";
}

std::string axes(const std::string& name, const json& of) {
  std::string out;
  constexpr std::array names{"x", "y", "z"};
  for (size_t d = 0; d < names.size(); ++d)
    out += element(names[d], std::to_string(of.at(d).get<uint64_t>()));
  return "<" + name + ">" + out + "</" + name + ">";
}

// "kernel.cu:8"
std::string where(const std::string& kernel, const json& of) {
  std::string out = element("func", launch::as_written(kernel));
  const std::string source = of.value("source", "");
  const size_t colon = source.rfind(':');
  if (colon != std::string::npos)
    out += element("path", source.substr(0, colon)) + element("line", source.substr(colon + 1));
  return "<where>" + out + "</where>";
}

std::string record(const std::string& kind, const std::string& inside) {
  return "<record>" + element("kind", kind) + "<level>Error</level>" + inside + "</record>\n";
}

std::string of_fault(const std::string& kernel, const json& fault) {
  std::string what = element("text", fault.value("message", ""));
  if (fault.contains("access")) {
    const json& a = fault["access"];
    what += element("space", a.value("space", "")) +
            element("size", std::to_string(a.value("bytes", uint64_t{0}))) +
            element("address", std::to_string(a.value("address", uint64_t{0})));
  }
  std::string who;
  if (fault.contains("thread"))
    who = "<who>" + axes("threadIdx", fault["thread"]) + axes("blockIdx", fault["cta"]) + "</who>";
  return record("Precise", "<what>" + what + "</what>" + where(kernel, fault) + who);
}

}  // namespace

std::string xml_of(const ProgramRun& run) {
  std::string out = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ComputeSanitizerOutput>\n";
  for (const json& launch : run.launches) {
    const std::string kernel = launch.value("kernel", "");
    size_t told = 0;
    if (launch.contains("fault")) out += of_fault(kernel, launch["fault"]), ++told;
    for (const json& error : launch.value("findings", json::array())) {
      out += record(error.value("kind", ""),
                    "<what>" + element("text", error.value("text", "")) + "</what>" + where(kernel, error));
      ++told;
    }
    if (told == 0 && launch.value("errors", size_t{0}) != 0)
      out += record("Error", "<what>" + element("text", launch.value("words", "")) + "</what>" +
                                 where(kernel, json::object()));
  }
  for (const std::string& mistake : run.mistakes)
    out += record("Api error", "<what>" + element("text", mistake) + "</what>");
  return out + "</ComputeSanitizerOutput>\n";
}

}  // namespace bitwell::cli
