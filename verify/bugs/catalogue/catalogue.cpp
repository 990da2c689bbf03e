#include "verify/bugs/catalogue/catalogue.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "model/machine/memory/memory.h"
#include "verify/findings/watch.h"
#include "verify/schedules/schedules.h"

namespace bitwell::bugs {
namespace {

using machine::InputError;

// What stands behind `mark` in a line, or nothing.
std::optional<std::string> behind(const std::string& line, const char* mark) {
  const size_t at = line.find(mark);
  if (at == std::string::npos) return std::nullopt;
  std::string out = line.substr(at + 3);
  const size_t first = out.find_first_not_of(' ');
  out = first == std::string::npos ? "" : out.substr(first);
  return out.substr(0, out.find("//") == std::string::npos ? out.size() : out.find("//"));
}

// Whether a name is one of those behind the mark.
bool marked(const std::string& line, const char* mark, const std::string& name) {
  const auto words = behind(line, mark);
  if (!words) return false;
  std::istringstream in(*words);
  for (std::string word; in >> word;)
    if (word == name) return true;
  return false;
}

void read_launch(const std::string& words, launch::Launch& launch, const std::string& place) {
  std::istringstream in(words);
  std::string what;
  for (std::string word; in >> word;) {
    const bool number = word.find_first_not_of("0123456789") == std::string::npos;
    if (!number) {
      what = word;
      continue;
    }
    const auto n = static_cast<uint32_t>(std::stoul(word));
    if (what == "block") {
      launch.shape.block[0] = n;
    } else if (what == "grid") {
      launch.shape.grid[0] = n;
    } else if (what == "cluster") {
      launch.shape.cluster[0] = n;
    } else if (what == "registers") {
      launch.shape.registers = n;
    } else if (what == "buffers" || what == "unwritten") {
      launch::Buffer b;
      b.name = "buffer " + std::to_string(launch.buffers.size());
      b.bytes.resize(n);
      b.defined = what == "buffers";
      b.output = !b.defined;
      launch.add_buffer(b);
    } else {
      throw InputError(place + ": '" + what +
                       "', it must be block, grid, cluster, registers, buffers or unwritten");
    }
  }
}

void read_comment(const std::string& words, Exhibit& out, const std::string& place) {
  std::istringstream in(words);
  std::string what, name, kind;
  in >> what;
  const std::string rest = words.size() > what.size() ? words.substr(what.size() + 1) : "";
  if (what == "launch") {
    read_launch(rest, out.launch, place);
  } else if (what == "once") {
    out.once = true;
  } else if (what == "again") {
    out.again = true;
  } else if (what == "about") {
    out.about += (out.about.empty() ? "" : " ") + rest;
  } else if (what == "bug" && in >> name >> kind) {
    out.bugs.push_back({name, kind, "", "", {}});
  } else if (what == "from" && !out.bugs.empty()) {
    out.bugs.back().from += (out.bugs.back().from.empty() ? "" : " ") + rest;
  } else if (what == "says" && !out.bugs.empty()) {
    out.bugs.back().says = rest;
  } else {
    throw InputError(place + ": '//: " + words +
                     "' says none of launch, once, again, about, bug NAME KIND, from, says");
  }
}

Exhibit read_exhibit(const std::filesystem::path& path) {
  Exhibit out;
  out.name = path.stem();
  out.text = launch::read_file(path);
  out.launch.entry = "kernel";
  std::istringstream in(out.text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (const auto words = behind(line, "//:"))
      read_comment(*words, out, path.string() + ":" + std::to_string(number));
    for (Bug& bug : out.bugs)
      if (marked(line, "//!", bug.name)) bug.lines.push_back(number);
  }
  for (const Bug& bug : out.bugs) {
    const bool told_in_words = bug.expected == "fault" || bug.expected == "note";
    if (told_in_words ? bug.says.empty() : bug.lines.empty())
      throw InputError(path.string() + ": bug '" + bug.name + "' has no " +
                       (told_in_words ? "'//: says'" : "line that '//! " + bug.name + "' marks"));
  }
  return out;
}

bool names_a_line(const hazard::Finding& f, const Bug& bug) {
  return std::any_of(bug.lines.begin(), bug.lines.end(), [&](int line) {
    return line == f.earlier.site.ptx_line || line == f.later.site.ptx_line;
  });
}

// What lies behind none of these windows of 2^40 generic addresses is global.
constexpr std::string_view kGlobal = "global memory";
constexpr std::pair<uint64_t, std::string_view> kWindows[] = {{machine::kSharedWindow, "shared memory"},
                                                              {machine::kLocalWindow, "local memory"},
                                                              {machine::kConstWindow, "constant memory"},
                                                              {machine::kParamWindow, "parameter memory"},
                                                              {machine::kTensorWindow, "tensor memory"}};

std::string memory_of(const hazard::Finding& f) {
  if (!f.where.empty()) return "";  // a register or a barrier, which has no address
  for (const auto& [window, name] : kWindows)
    if (f.address >> 40 == window >> 40) return std::string(name);
  return std::string(kGlobal);
}

// What a run said, as one finding: the expected one where it is there, or one that names other lines.
void weigh(const std::vector<findings::Found>& findings, const Bug* bug, Tally& out) {
  const findings::Found* told = nullptr;
  bool elsewhere = false;
  for (const findings::Found& found : findings) {
    const hazard::Finding& f = found.finding;
    const bool here = bug != nullptr && names_a_line(f, *bug);
    const bool expected = here && hazard::row_of(f.kind).name == bug->expected;
    if (told == nullptr || !here || (expected && !elsewhere)) told = &found;
    elsewhere = elsewhere || !here;
    out.as_expected = (out.as_expected || expected) && !elsewhere;
  }
  if (told != nullptr) {
    const hazard::Finding& f = told->finding;
    out.said = std::string(hazard::row_of(f.kind).name) + " at lines " +
               std::to_string(f.earlier.site.ptx_line) + " and " + std::to_string(f.later.site.ptx_line);
    out.where = findings::describe(*told);
    out.memory = memory_of(f);
  } else if (!out.said.empty()) {
    out.as_expected = bug != nullptr && bug->expected == out.said &&
                      out.where.find(bug->says) != std::string::npos &&
                      (bug->lines.empty() || std::any_of(bug->lines.begin(), bug->lines.end(), [&](int line) {
                         return out.where.find("PTX line " + std::to_string(line)) != std::string::npos;
                       }));
  }
}

}  // namespace

std::vector<Exhibit> read_catalogue(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  if (files.empty()) throw InputError("no .ptx file in '" + folder + "'");
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.filename() < b.filename(); });
  std::vector<Exhibit> out;
  for (const auto& file : files) out.push_back(read_exhibit(file));
  return out;
}

std::vector<std::string> memory_names() {
  std::vector<std::string> out{std::string(kGlobal)};
  for (const auto& [window, name] : kWindows) out.emplace_back(name);
  return out;
}

std::string ptx_of(const Exhibit& exhibit, const std::string& bug) {
  std::istringstream in(exhibit.text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const bool without = !bug.empty() && marked(line, "//-", bug);
    const bool only = behind(line, "//+").has_value() && (bug.empty() || !marked(line, "//+", bug));
    out += (without || only ? "" : line) + "\n";
  }
  return out;
}

Tally examine(const Exhibit& exhibit, const Bug* bug, size_t most) {
  const auto start = std::chrono::steady_clock::now();
  Tally out;
  const std::string text = ptx_of(exhibit, bug == nullptr ? "" : bug->name);
  const findings::SharedModule module = std::make_shared<const isa::Module>(text, exhibit.name);
  const findings::SharedProgram program = module->program("kernel");
  findings::Readings readings;
  for (const run::Schedule& schedule : launch::schedules(most)) {
    ++out.schedules;
    launch::Launch launch = exhibit.launch;
    launch.module = module;
    findings::Watch watch(exhibit.once);
    run::Options options;
    options.schedule = schedule;
    options.step_limit = 1 << 20;
    options.observers.push_back(watch.observer(readings.of(program).registers.lines()));
    try {
      for (const bool second : {false, true}) {
        if (second && !exhibit.again) break;
        watch.begin(*program, launch.shape, second);
        watch.follow(readings.of(program));
        const launch::Ran ran = launch::simulate(launch, options, true);  // at the same addresses
        ran.keep(launch);
        const run::RunResult& result = ran.result;
        if (!result.notes.empty()) {
          out.said = "note";
          out.where =
              "PTX line " + std::to_string(result.notes[0].place.ptx_line) + ": " + result.notes[0].text;
        }
      }
    } catch (const machine::Fault& fault) {
      out.said = "fault";
      out.where = fault.what();
    }
    const std::vector<findings::Found> findings = watch.findings();
    weigh(findings, bug, out);
    const bool suspected = bug == nullptr && !out.said.empty();
    if (out.as_expected || suspected || !findings.empty()) break;
  }
  if (bug == nullptr) out.as_expected = out.said.empty();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace bitwell::bugs
