#include "verify/verdict/time.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <sstream>
#include <tuple>

#include "model/machine/failure.h"
#include "verify/suite/parallel.h"

namespace bitwell::verdict {
namespace {

bool has_table(const std::string& target) {
  return std::any_of(timing::devices().begin(), timing::devices().end(),
                     [&](const timing::Device& d) { return timing::runs(d, target); });
}

TimedCase time_case(const suite::Case& of, const Plan& plan, const std::string& device) {
  TimedCase out{of, shape_of(of.of), {}, {}};
  if (device.empty() && !has_table(of.arch)) {
    out.why_not = "no table of costs for " + of.arch;
    return out;
  }
  try {
    const suite::Chain chain = suite::planned(of).draw().chain({plan.ptx, of.arch});
    launch::Modules modules;
    session::TimeQuestion question = time_question(chain, modules);
    question.device = device.empty() ? timing::device_for(of.arch).name : device;
    const session::TimeAnswer answer = session::time_of(question);
    out.device = answer.device->called;
    out.us = answer.us;
    out.low = answer.low;
    out.high = answer.high;
    out.by_code = std::all_of(answer.launches.begin(), answer.launches.end(),
                              [](const auto& l) { return l.launch.code != nullptr; });
    const auto longest =
        std::max_element(answer.launches.begin(), answer.launches.end(),
                         [](const auto& a, const auto& b) { return a.estimate.us < b.estimate.us; });
    if (longest != answer.launches.end()) out.bound_by = longest->estimate.kind;
    if (!answer.foreign.empty()) out.why_not = "no " + out.device + " runs " + of.arch;
  } catch (const machine::Fault& e) {
    out.why_not = e.what();
  } catch (const machine::Unsupported& e) {
    out.why_not = e.what();
  }
  return out;
}

}  // namespace

session::TimeQuestion time_question(const suite::Chain& chain, launch::Modules& modules) {
  session::TimeQuestion out;
  out.run = [&chain, &modules](const run::Options& options, const session::TimeQuestion::Begins& begins) {
    suite::Chain copy = chain;
    suite::simulate(
        copy, [&](const launch::Launch& l) { return modules(l); }, options, false,
        [&](const launch::Launch& one, const std::shared_ptr<const isa::Module>& module,
            const std::shared_ptr<const isa::Program>& program) { begins(program, *module, one.entry); });
  };
  return out;
}

std::string shape_of(const std::string& text) {
  std::stringstream words(text);
  std::string out;
  for (std::string word; words >> word;) {
    const size_t at = word.find('=');
    if (at == std::string::npos || at + 1 == word.size() ||
        !std::all_of(word.begin() + static_cast<std::ptrdiff_t>(at) + 1, word.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }))
      break;
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

double size_of(const std::string& shape) {
  double out = 1;
  for (size_t at = shape.find('='); at != std::string::npos; at = shape.find('=', at + 1))
    out *= std::strtod(shape.c_str() + at + 1, nullptr);
  return out;
}

std::vector<TimedCase> time_suite(const suite::Suite& suite, const Plan& plan, const std::string& device) {
  if (!device.empty()) session::check_device(device);
  // Data changes little of what a kernel takes: one case of the largest shape.
  std::vector<suite::Case> largest;
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (const suite::Case& c : cases_of(suite, plan)) {
    const auto [at, is_new] = known.try_emplace({c.kernel, c.arch}, largest.size());
    if (is_new)
      largest.push_back(c);
    else if (size_of(shape_of(c.of)) > size_of(shape_of(largest[at->second].of)))
      largest[at->second] = c;
  }
  std::vector<TimedCase> out(largest.size());
  suite::each_in_parallel(largest.size(), plan.threads,
                          [&](size_t i) { out[i] = time_case(largest[i], plan, device); });
  std::stable_sort(out.begin(), out.end(), [](const TimedCase& a, const TimedCase& b) {
    const auto key = [](const TimedCase& t) {
      return std::tuple(t.device.empty(), t.of.arch, size_of(t.shape), t.shape, t.us);
    };
    return key(a) < key(b);
  });
  return out;
}

}  // namespace bitwell::verdict
