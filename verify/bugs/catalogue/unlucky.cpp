// Counts how often a GPU shows the catalogue's bugs: launches of each kernel that leave bytes which the
// kernel without the bug never leaves, without delays and with warps that are late now and then.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "model/strict_json/write.h"
#include "verify/bugs/catalogue/delay.h"
#include "verify/bugs/catalogue/device_counts.h"
#include "verify/bugs/catalogue/legal_ends.h"
#include "verify/device/between.h"
#include "verify/device/children.h"
#include "verify/device/repeat.h"
#include "verify/suite/parallel.h"

namespace {

using namespace bitwell;
using bugs::Counted;
using bugs::DeviceCount;
using bugs::Exhibit;

constexpr int kSkipped = 77;  // of ctest

struct Options {
  std::string catalogue = BITWELL_CATALOGUE, out, ptx;
  std::vector<std::string> only;
  uint64_t launches = 100'000;
};

// One row: a bug, or the kernel without any (nullptr).
struct Piece {
  const Exhibit* exhibit;
  const bugs::Bug* bug;
  std::string bug_name() const { return bug == nullptr ? "" : bug->name; }
  std::string title() const { return exhibit->name + (bug == nullptr ? " (clean)" : ": " + bug->name); }
};

std::string target_of(const Exhibit& e) { return ptx::parse(bugs::ptx_of(e)).target; }

bool asked_for(const Options& options, const Exhibit& e) {
  return options.only.empty() || std::any_of(options.only.begin(), options.only.end(), [&](const auto& part) {
           return e.name.find(part) != std::string::npos;
         });
}

struct Gpu {
  std::string name, why;  // why there is none
  int capability = 0;
};

// Asked in a process of its own: this one must have no GPU open.
Gpu gpu_of_this_machine() {
  Gpu out;
  device::each_in_children(
      1,
      [](size_t) -> device::Answer {
        std::string why;
        const auto device = device::Device::open(why);
        if (device == nullptr) return {strict_json::dumped(nlohmann::json{{"why", why}})};
        return {strict_json::dumped(
            nlohmann::json{{"name", device->name()}, {"capability", device->compute_capability()}})};
      },
      [&](size_t, const std::optional<std::string>& text) {
        const nlohmann::json told =
            text ? nlohmann::json::parse(*text) : nlohmann::json{{"why", "the process that opens it died"}};
        out.why = told.value("why", "");
        out.name = told.value("name", "");
        out.capability = told.value("capability", 0);
      });
  return out;
}

nlohmann::json json_of(const device::Repeated& r) {
  return {{"launches", r.launches}, {"wrong", r.wrong},
          {"hangs", r.hangs},       {"faults", !r.fault.empty() && !r.hangs},
          {"example", r.example},   {"fault", r.fault}};
}

Counted counted(const nlohmann::json& j) { return {j["launches"], j["wrong"], j["hangs"], j["faults"]}; }

// A child's, from its first piece on.
struct Opened {
  std::unique_ptr<device::Device> device;
  std::optional<device::Repeater> repeater;
};

// In a child: without delays and then, unless that has broken the device, with them.
device::Answer launch_both(Opened& opened, const std::string& ptx, const bugs::LegalEnds& ends,
                           uint64_t launches) {
  nlohmann::json told;
  bool usable = true;
  try {
    std::string why;
    if (opened.device == nullptr) opened.device = device::Device::open(why);
    if (opened.device == nullptr) throw machine::InputError(why);
    if (!opened.repeater) opened.repeater.emplace(*opened.device);
  } catch (const std::exception& e) {
    return {strict_json::dumped(nlohmann::json{{"broken", e.what()}}), false};
  }
  try {
    for (const char* way : {"plain", "delayed"}) {
      if (!usable) break;
      const device::Repeated r = opened.repeater->run(*way == 'p' ? ptx : bugs::delayed(ptx), ends.launch,
                                                      {ends.ends, ends.compared}, launches);
      told[way] = json_of(r);
      usable = r.fault.empty();
    }
  } catch (const machine::InputError& refused) {
    told["refused"] = refused.what();
  }
  return {strict_json::dumped(told), usable};
}

// What a child has told, for people.
std::string said_of(const nlohmann::json& told) {
  if (told.contains("refused")) return "refused: " + told["refused"].get<std::string>();
  std::string out;
  for (const char* way : {"plain", "delayed"}) {
    if (!told.contains(way)) continue;
    const nlohmann::json& r = told[way];
    out += (out.empty() ? "" : "; delayed ") + std::to_string(r["wrong"].get<uint64_t>()) + " of " +
           std::to_string(r["launches"].get<uint64_t>());
    for (const char* what : {"example", "fault"})
      if (const auto text = r[what].get<std::string>(); !text.empty()) out += ", " + text;
  }
  return out;
}

DeviceCount row_of(const Piece& piece, const nlohmann::json& told, const std::string& device) {
  DeviceCount out;
  out.kernel = piece.exhibit->name;
  out.bug = piece.bug_name();
  out.expected = piece.bug == nullptr ? "nothing" : piece.bug->expected;
  out.device = device;
  out.digest = bugs::digest_of(*piece.exhibit, out.bug);
  if (told.contains("refused")) {
    out.not_counted = "refused";
  } else {
    out.plain = counted(told["plain"]);
    if (told.contains("delayed")) out.delayed = counted(told["delayed"]);
  }
  return out;
}

void write_counts(const std::string& path, const std::vector<DeviceCount>& counts) {
  std::ofstream file(path);
  file << bugs::device_counts_header();
  for (const DeviceCount& c : counts) file << bugs::line_of(c);
  if (!file.flush()) throw machine::InputError("'" + path + "' cannot be written");
}

// Rows in the order of the pieces. Each exhibit's clean kernel comes first: where it goes wrong, nothing is
// said of its bugs.
std::vector<DeviceCount> count_all(const Options& options, const std::vector<Piece>& pieces,
                                   const std::map<const Exhibit*, bugs::LegalEnds>& ends, const Gpu& gpu) {
  std::vector<DeviceCount> out;
  Opened opened;
  const auto work = [&](size_t i) {
    return launch_both(opened, bugs::ptx_of(*pieces[i].exhibit, pieces[i].bug_name()),
                       ends.at(pieces[i].exhibit), options.launches);
  };
  bool is_void = false;
  auto last = std::chrono::steady_clock::now();
  device::each_in_children(pieces.size(), work, [&](size_t i, const std::optional<std::string>& text) {
    nlohmann::json told{{"plain", json_of({0, 0, "", false, "the process that ran it died"})}};
    if (text) told = nlohmann::json::parse(*text);
    if (told.contains("broken"))
      throw machine::InputError("the GPU takes nothing: " + told["broken"].get<std::string>());
    const auto now = std::chrono::steady_clock::now();
    std::printf("%-44s %5.2f s  %s\n", pieces[i].title().c_str(),
                std::chrono::duration<double>(now - last).count(), said_of(told).c_str());
    last = now;
    std::fflush(stdout);
    out.push_back(row_of(pieces[i], told, gpu.name));
    if (pieces[i].bug == nullptr) is_void = bugs::shows(out.back()) || !out.back().not_counted.empty();
    if (is_void && out.back().not_counted.empty()) out.back().not_counted = "void";
    if (!options.out.empty()) write_counts(options.out, out);  // as far as it has come
  });
  return out;
}

// Every text that a device is given, as files: NAME.BUG.ptx and NAME.BUG.delayed.ptx, and the kernel between.
void write_texts(const std::string& folder, const std::vector<Piece>& pieces) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/between.ptx") << device::between_launches();
  for (const Piece& piece : pieces) {
    const std::string ptx = bugs::ptx_of(*piece.exhibit, piece.bug_name());
    const std::string stem =
        folder + "/" + piece.exhibit->name + "." + (piece.bug == nullptr ? "clean" : piece.bug->name);
    std::ofstream(stem + ".ptx") << ptx;
    if (!(std::ofstream(stem + ".delayed.ptx") << bugs::delayed(ptx)).flush())
      throw machine::InputError("'" + stem + ".delayed.ptx' cannot be written");
  }
}

int measure(const Options& options) {
  const std::vector<Exhibit> catalogue = bugs::read_catalogue(options.catalogue);
  const Gpu gpu = options.ptx.empty() ? gpu_of_this_machine() : Gpu{"", "", 90};
  if (!gpu.why.empty()) {
    std::printf("skipped: no GPU to run on: %s\n", gpu.why.c_str());
    return kSkipped;
  }
  std::vector<const Exhibit*> here;  // but for those whose bugs are between two launches that overlap
  for (const Exhibit& e : catalogue)
    if (!e.again && asked_for(options, e) && device::runs_target(gpu.capability, target_of(e)))
      here.push_back(&e);
  if (here.empty()) throw machine::InputError("no kernel of the catalogue is asked for that this GPU runs");
  std::vector<Piece> pieces;
  for (const Exhibit* e : here) {
    pieces.push_back({e, nullptr});
    for (const bugs::Bug& bug : e->bugs) pieces.push_back({e, &bug});
  }
  if (!options.ptx.empty()) {
    write_texts(options.ptx, pieces);
    return 0;
  }
  std::vector<bugs::LegalEnds> all(here.size());
  suite::each_in_parallel(here.size(), 0, [&](size_t i) { all[i] = bugs::legal_ends(*here[i]); });
  std::map<const Exhibit*, bugs::LegalEnds> ends;
  for (size_t i = 0; i < here.size(); ++i) ends.emplace(here[i], std::move(all[i]));
  const std::vector<DeviceCount> counts = count_all(options, pieces, ends, gpu);
  std::fputs(bugs::summary_of(counts).c_str(), stdout);
  const bool held = std::none_of(counts.begin(), counts.end(), [](const DeviceCount& c) {
    return c.bug.empty() && !c.not_counted.empty();
  });
  return held ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Counts how often a GPU shows the catalogue's bugs: launches that leave bytes which the kernel without "
      "the bug never leaves, and hangs and errors, each bug without delays and with warps that are late now "
      "and then. Shared memory holds random words before each launch, inputs distinct ones.\n"
      "Exit status 0: the kernels without bugs left the right bytes in all launches; 1: one did not, and its "
      "bugs' rows are void; 77: no GPU, nothing was counted."};
  app.add_option("--launches", options.launches, "Of each bug, and as many with delays")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app.add_option("--only", options.only, "Only kernels whose names contain one of these");
  app.add_option("--catalogue", options.catalogue, "Folder of the catalogue")->capture_default_str();
  app.add_option("--out", options.out,
                 "Write the counts to this file, as verify/bugs/catalogue/device.csv has them");
  app.add_option("--ptx", options.ptx, "Launch nothing; write each kernel, with delays and without, here");
  CLI11_PARSE(app, argc, argv);
  // The driver's connections to the GPU, over which launches that stand side by side go; default: 8.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  try {
    return measure(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "unlucky: %s\n", error.what());
    return 2;
  }
}
