// bitwell prove
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "model/machine/failure.h"
#include "verify/cli/command.h"
#include "verify/device/driver.h"
#include "verify/launch/output/output_files.h"
#include "verify/prove/choose.h"
#include "verify/prove/report.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::end_progress;
using terminal::grouped;
using terminal::left;
using terminal::progress;
using terminal::table;
namespace {

constexpr const char* kSimulator = "the simulator";

using prove::Part;
using prove::Reply;

struct ProveOptions {
  std::vector<std::string> parts;
  std::string out = "bitwell-prove.json";
  std::string rehearse;
  std::string ptx;
  std::string accept;
  std::string by;
  int threads = 0;
  bool list = false;
};

std::vector<Part> wanted(const ProveOptions& o) {
  return prove::chosen(prove::parts(capture::share_folder("kernels")), o.parts);
}

struct PartRow {
  const Part* part;
  size_t questions = 0;
  std::vector<Reply> replies;  // none: not on this GPU
};

size_t count(const PartRow& row, std::initializer_list<Reply::Kind> kinds) {
  size_t n = 0;
  for (const Reply& r : row.replies)
    n += std::find(kinds.begin(), kinds.end(), r.kind) != kinds.end() ? 1 : 0;
  return n;
}

void print(const std::vector<PartRow>& rows, const std::string& device) {
  using Kind = Reply::Kind;
  constexpr size_t kTold = 5;  // of each part
  std::vector<std::vector<std::string>> lines;
  std::string details;
  for (const PartRow& row : rows) {
    uint64_t bytes = 0;
    size_t told = 0;
    for (const Reply& r : row.replies) {
      bytes += r.bytes;
      if (r.kind == Kind::agrees || r.kind == Kind::not_asked) continue;
      if (r.kind == Kind::left_open || ++told <= kTold)  // those that are open are few, and each is a count
        details += fmt::format("\n{}, {}: {}\n  {}\n", row.part->name, row.part->target, r.name, r.detail);
    }
    if (told > kTold) details += fmt::format("  ... and {} more of {}\n", told - kTold, row.part->name);
    lines.push_back({row.part->name, row.part->target, row.part->about, grouped(row.questions),
                     grouped(bytes / 4), grouped(count(row, {Kind::agrees})),
                     grouped(count(row, {Kind::differs, Kind::stopped, Kind::refused})),
                     grouped(count(row, {Kind::left_open})),
                     grouped(row.replies.empty() ? row.questions : count(row, {Kind::not_asked}))});
  }
  fmt::print("{}\n{}",
             table({{"part"},
                    {"target"},
                    {"asks about"},
                    {"questions", true},
                    {"words of 4 bytes compared", true},
                    {"agrees", true},
                    {"differs", true},
                    {"open", true},
                    {"not on " + device, true}},
                   lines),
             details);
}

// What the parts ask, for ptxas to read: a file a module.
void write_ptx(const std::vector<Part>& parts, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw machine::InputError("--ptx: cannot make the folder '" + folder + "': " + error.message());
  launch::OutputFiles files;
  std::map<std::string, std::string> texts;  // by path
  for (auto& [name, text] : prove::texts_of(parts))
    texts.emplace((std::filesystem::path(folder) / name).string(), std::move(text));
  for (const auto& [path, text] : texts) files.plan(path, "--ptx");
  for (const auto& [path, text] : texts) files.write(path, text);
  files.commit();
  fmt::print("{} modules in {}\n", texts.size(), folder);
}

void list(const std::vector<Part>& parts) {
  std::vector<std::vector<std::string>> lines;
  for (const Part& p : parts) lines.push_back({p.name, p.target, p.about, grouped(p.questions().size())});
  fmt::print("{}", table({{"part"}, {"target"}, {"asks about"}, {"questions", true}}, lines));
}

prove::AskProgress told(const Part& part) {
  return [&part, start = std::chrono::steady_clock::now()](size_t done, size_t all, const std::string& now) {
    progress(fmt::format("prove {}, {}: {} of {} ({}){}", part.name, part.target, done, all, now,
                         left(start, done, all)));
  };
}

std::set<std::string> targets() {
  std::set<std::string> out;
  for (const Part& p : prove::parts(capture::share_folder("kernels"))) out.insert(p.target);
  return out;
}

void ask_all(const ProveOptions& o, int& status) {
  const std::vector<Part> parts = wanted(o);
  const bool rehearsal = !o.rehearse.empty();
  std::string why;
  const std::unique_ptr<device::Device> device = rehearsal ? nullptr : device::Device::open(why);
  if (!rehearsal && device == nullptr)
    throw machine::InputError(
        "no GPU to ask: " + why +
        ". `bitwell prove --list` says what would be asked, --rehearse sm_100a asks the "
        "simulator in its place");
  launch::OutputFiles files;
  files.plan(o.out, "--out");
  prove::Report report{rehearsal ? kSimulator : device->name(),
                       rehearsal ? "none" : device->driver(),
                       rehearsal ? 0 : device->compute_capability(),
                       BITWELL_VERSION,
                       {},
                       {}};
  std::map<const isa::Module*, std::shared_ptr<device::Device::Module>> modules;
  std::vector<prove::SharedText> kept;  // whose addresses name the modules
  const prove::RunLaunch on_gpu = [&](const prove::SharedText& text, launch::Launch& launch) {
    if (rehearsal) return prove::simulate_launch(text, launch);
    if (modules.size() > 64) {
      modules.clear();
      kept.clear();
    }
    auto& module = modules[text.get()];
    if (module == nullptr) {
      module = device->load(text->text());
      kept.push_back(text);
    }
    device->run(*module, launch);
  };
  std::vector<PartRow> rows;
  status = held;
  for (const Part& part : parts) {
    const bool here =
        rehearsal ? part.target == o.rehearse : part.compute_capability == device->compute_capability();
    PartRow row{&part, 0, {}};
    if (here) {
      row.replies = prove::prove(part, on_gpu, told(part), o.threads);
      row.questions = row.replies.size();
      prove::add(report, part, row.replies);
    } else {
      row.questions = part.questions().size();
    }
    if (!prove::all_hold(row.replies)) status = failed;
    rows.push_back(std::move(row));
  }
  end_progress();
  files.write(o.out, prove::text_of(report));
  files.commit();
  print(rows, rehearsal ? kSimulator : "this GPU");
  if (rehearsal) return;
  fmt::print(
      "\n{} (driver {}). Every answer is in {}: send it, and `bitwell prove --accept {} --by NAME` makes it "
      "evidence.\n",
      report.device, report.driver, o.out, o.out);
}

void accept(const ProveOptions& o, int& status) {
  if (o.by.empty()) throw machine::InputError("--accept needs --by NAME: who asked the GPU");
  if (o.by.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .-_") !=
      std::string::npos)
    throw machine::InputError("--by: '" + o.by +
                              "' becomes a file's name: letters, digits, spaces and .-_ only");
  const prove::Report report = prove::read_report(o.accept);
  if (report.device == kSimulator)
    throw machine::InputError("'" + o.accept +
                              "' is a rehearsal: the simulator's own answers are no evidence");
  prove::check_is_a_gpus(report, o.accept);
  std::string file = o.by + "-" + report.device + ".json";
  std::replace(file.begin(), file.end(), ' ', '-');
  const std::string path = capture::share_folder("captures") + "/reported/" + file;
  std::vector<std::string> others;
  const capture::Capture capture = prove::evidence_of(
      report, o.by, capture::share_folder("kernels"),
      [start = std::chrono::steady_clock::now()](size_t done, size_t all, const std::string& now) {
        progress(fmt::format("prove --accept: {} of {} ({}){}", done, all, now, left(start, done, all)));
      },
      o.threads, others);
  end_progress();
  if (capture.digests.empty())
    throw machine::InputError("'" + o.accept + "': none of its " + std::to_string(report.digests.size()) +
                              " answers is what this bitwell gives: nothing is evidence");
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  capture::write_capture(path, capture);
  fmt::print("{} of {} answers of {} are bitwell's, bit for bit: evidence now, in {}\n",
             capture.digests.size(), report.digests.size(), capture.device, path);
  for (size_t i = 0; i < others.size(); ++i)
    if (i < 10)
      fmt::print("  not bitwell's: {}\n", others[i]);
    else if (i == 10)
      fmt::print("  ... and {} more\n", others.size() - 10);
  status = others.empty() ? held : failed;
}

}  // namespace

void add_prove(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "prove", "Ask the GPU that is there everything bitwell says of it, and write its answers to one file");
  const auto o = std::make_shared<ProveOptions>();
  command->add_option("--part", o->parts, "Only these parts (--list names them)");
  command->add_flag("--list", o->list, "What would be asked; needs no GPU");
  command->add_option("--out", o->out, "Where the answers go, as JSON")->capture_default_str();
  command
      ->add_option("--rehearse", o->rehearse,
                   "Ask the simulator in a GPU's place: runs the questions of a target")
      ->check(CLI::IsMember(targets()));
  command->add_option("--ptx", o->ptx,
                      "Write the PTX of the questions to this folder, for ptxas to read; asks nobody");
  command->add_option("--accept", o->accept,
                      "A file of --out, from whoever has such a GPU: what of it is bitwell's "
                      "too becomes evidence of verdicts");
  command->add_option("--by", o->by, "Who asked, for --accept");
  command->add_option("--threads", o->threads, "Host threads for the simulator's side (default: all)")
      ->check(whole(0, 4096));
  command->footer(
      "Every question is PTX that runs on the GPU and in the simulator; all memory that it writes is "
      "compared.\n"
      "An H200 (sm_90a) answers instructions, tensor-core dot products, matrix descriptors, TMA and "
      "bitwell's own\n"
      "kernels; a B200 (sm_100a) instructions, tensor memory, tcgen05.mma and kernels; an RTX Blackwell card "
      "(sm_120a)\n"
      "instructions, mma.sync with block scales and kernels. No B200 and no such card has been asked yet.\n"
      "What differs is a finding: send the file.\n"
      "A report is a text that anyone can write: --accept sees that bitwell gives the same answers, not that "
      "a\n"
      "GPU gave them. What it makes evidence is worth as much as the word of NAME, whom every verdict "
      "names.\n\n"
      "Example:  bitwell prove --out answers.json\n"
      "          bitwell prove --part instructions 'tensor memory' --rehearse sm_100a");
  command->callback([o, &status] {
    if (!o->accept.empty()) return accept(*o, status);
    if (o->list) return list(wanted(*o));
    if (!o->ptx.empty()) return write_ptx(wanted(*o), o->ptx);
    ask_all(*o, status);
  });
}

}  // namespace bitwell::cli
