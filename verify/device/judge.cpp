#include "verify/device/judge.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/strict_json/write.h"
#include "verify/device/children.h"
#include "verify/device/compare.h"
#include "verify/verdict/asked.h"

namespace bitwell::device {
namespace {

// One kernel on one architecture.
struct Piece {
  const suite::Suite* suite;
  const suite::Kernel* kernel;
  std::string arch;
};

std::vector<Piece> pieces_of(const std::vector<const suite::Suite*>& suites, const verdict::Plan& plan) {
  std::vector<Piece> out;
  for (const suite::Suite* suite : suites) {
    const verdict::Asked asked = verdict::asked_of(*suite, plan);
    for (size_t i = 0; i < asked.kernels.size(); ++i)
      for (const std::string& arch : asked.archs[i]) out.push_back({suite, asked.kernels[i], arch});
  }
  return out;
}

std::vector<suite::PlannedCase> cases_of(const suite::Kernel& kernel, bool full) {
  std::vector<suite::PlannedCase> out = kernel.cases();
  std::erase_if(out, [&](const suite::PlannedCase& c) { return c.full && !full; });
  return out;
}

// What a process tells of its piece; "digest" only where every recorded case ran.
nlohmann::json tell(Device& device, const Piece& piece, const verdict::Plan& plan,
                    std::chrono::milliseconds limit, bool& usable) {
  const std::vector<suite::PlannedCase> cases = cases_of(*piece.kernel, plan.full);
  const DeviceComparison c = compare_on_device(
      device, {plan.ptx, piece.arch}, cases, [](size_t) { return run::Schedule{}; }, limit);
  usable = c.usable;
  uint64_t ran = 0, left_out = 0, bytes = 0, differing = 0, wrong = 0;
  std::string first;
  std::vector<std::vector<std::byte>> recorded;
  bool all_recorded = true;
  for (size_t i = 0; i < cases.size(); ++i) {
    const ComparedCase& one = c.cases[i];
    ran += one.ran;
    left_out += !one.ran && one.difference.empty();
    bytes += one.bytes;
    differing += one.differing;
    if (!one.difference.empty() && wrong++ == 0) first = cases[i].name + ": " + one.difference;
    if (!cases[i].recorded) continue;
    recorded.push_back(one.result);
    all_recorded = all_recorded && one.ran;
  }
  nlohmann::json out{{"cases", ran},           {"left_out", left_out}, {"bytes", bytes},
                     {"differing", differing}, {"wrong", wrong},       {"first", first}};
  if (all_recorded && !recorded.empty()) out["digest"] = verdict::recorded_digest(*piece.suite, recorded);
  return out;
}

// The digests of a suite, where any are: of a part of its kernels in a file of another name.
void write_digests(const std::string& folder, const suite::Suite& suite, const DeviceReport& report,
                   const std::map<std::string, std::string>& digests) {
  if (digests.empty()) return;
  size_t judged = 0;
  for (const suite::Kernel& k : suite.kernels) judged += suite.judged_on(k, "sm_90a");
  std::filesystem::create_directories(folder);
  capture::write_capture(folder + "/" + suite.name + (digests.size() == judged ? ".json" : ".part.json"),
                         {report.device, report.driver, "13.0", digests});
}

}  // namespace

DeviceReport judge_on_device(const std::vector<const suite::Suite*>& suites, const verdict::Plan& plan,
                             std::chrono::milliseconds limit, const std::string& captures,
                             const std::function<void(const std::string& kernel)>& progress) {
  const std::vector<Piece> pieces = pieces_of(suites, plan);
  DeviceReport out;
  std::string no_device;
  int capability = 0;
  std::map<const suite::Suite*, std::map<std::string, std::string>> digests;
  std::unique_ptr<Device> device;  // of a child
  std::string why;
  const auto work = [&](size_t i) -> Answer {
    if (device == nullptr) device = Device::open(why);
    if (device == nullptr) return {strict_json::dumped(nlohmann::json{{"why", why}}), false};
    nlohmann::json told{{"device", device->name()},
                        {"driver", device->driver()},
                        {"capability", device->compute_capability()}};
    bool usable = true;
    if (i > 0 && runs_target(device->compute_capability(), pieces[i - 1].arch)) {
      try {
        told.update(tell(*device, pieces[i - 1], plan, limit, usable));
      } catch (const std::exception& e) {
        told["refused"] = e.what();
      }
    }
    return {strict_json::dumped(told), usable};
  };
  // The first piece is nothing but the device.
  each_in_children(pieces.size() + 1, work, [&](size_t i, const std::optional<std::string>& text) {
    const nlohmann::json told = text ? nlohmann::json::parse(*text) : nlohmann::json::object();
    if (told.contains("why")) no_device = told["why"];
    if (i == 0) {
      if (!text) no_device = "the process that opens the GPU died";
      if (!no_device.empty()) return;
      out.device = told["device"], out.driver = told["driver"], capability = told["capability"];
      return;
    }
    if (!no_device.empty()) return;
    const Piece& piece = pieces[i - 1];
    OnDevice row{piece.kernel->full_name, piece.arch, runs_target(capability, piece.arch)};
    if (told.contains("refused")) throw machine::InputError(told["refused"].get<std::string>());
    if (row.here && !told.contains("cases")) {
      row.wrong = 1;
      row.first = "the process that ran it on the GPU died";
    } else if (row.here) {
      row.cases = told["cases"], row.left_out = told["left_out"], row.bytes = told["bytes"];
      row.differing = told["differing"], row.wrong = told["wrong"], row.first = told["first"];
      if (told.contains("digest"))
        digests[piece.suite][verdict::recorded_name(*piece.suite, *piece.kernel, plan.full)] = told["digest"];
    }
    out.kernels.push_back(std::move(row));
    if (progress) progress(piece.kernel->full_name);
  });
  if (!no_device.empty()) throw machine::InputError("--device: no GPU to run on: " + no_device);
  if (!captures.empty())
    for (const auto& [suite, of_suite] : digests) write_digests(captures, *suite, out, of_suite);
  return out;
}

}  // namespace bitwell::device
