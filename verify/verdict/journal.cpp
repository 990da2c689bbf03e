#include "verify/verdict/journal.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "model/machine/failure.h"
#include "verify/capture/digest.h"
#include "verify/launch/output/output_files.h"
#include "verify/verdict/journal_line.h"

namespace bitwell::verdict {
namespace {

namespace fs = std::filesystem;
using machine::InputError;
using nlohmann::json;

constexpr const char* kSchema = "bitwell-journal-1";
constexpr const char* kEnding = ".jsonl";
constexpr uint64_t kMostJournal = uint64_t{1} << 30;  // bytes

json head_of(const Question& q, const Shard& shard) {
  return {{"schema", kSchema},    {"version", q.version}, {"verify", q.subject},
          {"kernels", q.kernels}, {"archs", q.archs},     {"full", q.full},
          {"races", q.races},     {"shard", shard.index}, {"shards", shard.of}};
}

std::string host() {
  std::array<char, 65> name{};
  gethostname(name.data(), name.size() - 1);
  std::string out = name.data();
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  return out.empty() ? "host" : out;
}

std::string result_path(const std::string& folder, const std::string& digest) {
  return folder + "/results/" + digest;
}

// A line of a file, and where it stands.
struct Line {
  std::string file;
  size_t number;
  json text;
  std::string at() const { return file + ", line " + std::to_string(number); }
};

// Of one journal; who is stopped while it writes leaves the last line torn.
std::vector<Line> lines_of(const std::string& file, std::vector<std::string>& notes) {
  const std::string text = launch::read_file(file, kMostJournal);
  std::vector<Line> out;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    json line = json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                            text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    ++number;
    if (end == text.size()) {
      notes.push_back("the last line of " + file + " is torn: its case counts as not judged");
      return out;
    }
    if (!line.is_object())
      throw InputError(file + ", line " + std::to_string(number) + " is no line of a journal: remove it");
    out.push_back({file, number, std::move(line)});
    begin = end + 1;
  }
  return out;
}

Question question_of(const Line& head, const std::string& version) {
  const json& j = head.text;
  if (j.value("schema", json()) != kSchema)
    throw InputError(head.file +
                     " is no journal of this version of bitwell: its first line does not say \"schema\": \"" +
                     std::string(kSchema) + "\"");
  Question out{j.at("version"), j.at("verify"), j.at("kernels"), j.at("archs"), j.at("full"), j.at("races")};
  if (out.version != version)
    throw InputError(head.file + " is of '" + out.version + "', this is '" + version +
                     "': judge its cases again, or merge with that one");
  const uint64_t index = j.at("shard"), of = j.at("shards");
  if (index < 1 || index > of)
    throw InputError(head.file + " is of shard " + std::to_string(index) + " of " + std::to_string(of) +
                     ", which there is not");
  return out;
}

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == kEnding) out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

Journals read(const std::string& folder, const std::string& version, std::optional<Question> question) {
  Journals out;
  std::map<suite::Case, Line> by_case;
  std::map<std::string, Line> modules;  // by kernel and architecture
  for (const std::string& file : files_of(folder)) {
    const std::vector<Line> lines = lines_of(file, out.notes);
    if (lines.empty()) continue;
    try {
      const Question asked = question_of(lines.front(), version);
      if (!question) question = asked;
      if (asked != *question)
        throw InputError(file + " answers 'bitwell " + asked.words() + "', and others there 'bitwell " +
                         question->words() + "': give each question a folder of its own");
      for (size_t i = 1; i < lines.size(); ++i) {
        const Line& line = lines[i];
        const suite::Case of = suite::read_case(line.text.at("case").get<std::string>());
        const auto [text, added] = modules.emplace(of.suite + "/" + of.kernel + "." + of.arch, line);
        if (!added && text->second.text.at("modules") != line.text.at("modules"))
          throw InputError(line.at() + ": '" + text->first + "' is another PTX than " + text->second.at() +
                           " has: remove the journal of the one that is not meant");
        const auto [first, new_one] = by_case.emplace(of, line);
        if (!new_one && !same(first->second.text, line.text))
          throw InputError(line.at() + ": '" + suite::text_of(of) + "' came out otherwise than " +
                           first->second.at() +
                           " has it: one of these machines is broken, or bitwell is; the same case gives the "
                           "same bits everywhere");
      }
    } catch (const json::exception& e) {
      throw InputError(file + " is no journal: " + e.what());
    }
  }
  if (!question)
    throw InputError("no journal in '" + folder + "': 'bitwell verify SUITE --journal " + folder +
                     "' writes one");
  out.question = *question;
  for (const suite::Case& c : cases_of(*question, {}, {})) {
    const auto at = by_case.find(c);
    if (at == by_case.end()) {
      out.missing.push_back(c);
      continue;
    }
    const Line& line = at->second;
    Judged judged = judged_of(line.text, folder);
    if (judged.recorded) {
      const std::string digest = line.text.at("recorded"), path = result_path(folder, digest);
      std::error_code none;
      if (fs::is_regular_file(path, none)) {
        const std::string text = launch::read_file(path, kMostJournal);
        const auto bytes = std::as_bytes(std::span(text));
        judged.recorded->assign(bytes.begin(), bytes.end());
      }
      if (digest_of(*judged.recorded) != digest) {
        out.notes.push_back(path + ", the result of '" + suite::text_of(c) +
                            "', is not there or not whole: the case counts as not judged");
        out.missing.push_back(c);
        continue;
      }
    }
    out.fingerprints[c] = line.text.at("fingerprint");
    out.judged.push_back(std::move(judged));
  }
  return out;
}

}  // namespace

std::vector<const suite::Suite*> Question::suites() const {
  std::vector<const suite::Suite*> out;
  if (subject != "all") return {&suite::suite(subject)};
  for (const suite::Suite& s : suite::suites()) out.push_back(&s);
  return out;
}

std::string Question::words() const {
  std::string out = "verify " + subject;
  for (const std::string& kernel : kernels) out += " --kernel " + kernel;
  for (const std::string& arch : archs) out += " --arch " + arch;
  return out + (full ? " --full" : "") + (races ? " --races" : "");
}

Plan Question::plan(Plan with) const {
  with.kernels = kernels;
  with.archs = archs;
  with.full = full;
  with.races = races;
  return with;
}

std::vector<suite::Case> cases_of(const Question& question, const Plan& plan, const Shard& shard) {
  std::vector<suite::Case> out;
  std::set<std::array<std::string, 3>> seen;  // those drawn at once
  uint64_t number = 0;
  for (const suite::Suite* suite : question.suites())
    for (suite::Case& c : cases_of(*suite, question.plan(plan))) {
      if (seen.insert({c.suite, c.kernel, c.of}).second) ++number;
      if ((number - 1) % shard.of + 1 == shard.index) out.push_back(std::move(c));
    }
  return out;
}

std::string modules_of(const suite::Case& c, const std::string& folder) {
  capture::Digest out;
  for (const suite::Entry& entry : suite::kernel(suite::suite(c.suite), c.kernel).entries) {
    const std::string text = launch::read_file(suite::Build{folder, c.arch}.file(entry.module));
    out.add(std::as_bytes(std::span(text)));
  }
  return out.hex();
}

std::string fingerprint(const Question& question, const suite::Case& c, const std::string& modules) {
  const std::string text =
      question.version + (question.races ? "\nraces\n" : "\n") + suite::text_of(c) + "\n" + modules;
  capture::Digest out;
  out.add(std::as_bytes(std::span(text)));
  return out.hex();
}

Journals read_journals(const std::string& folder, const std::string& version) {
  return read(folder, version, std::nullopt);
}
Journals read_journals(const std::string& folder, const Question& question) {
  return read(folder, question.version, question);
}

Journal::Journal(const std::string& folder, const Question& question, const Shard& shard)
    : folder_(folder), question_(question) {
  std::error_code error;
  fs::create_directories(folder + "/results", error);
  const std::string stem = folder + "/" + question.subject + "." + std::to_string(shard.index) + "-of-" +
                           std::to_string(shard.of) + "." + host() + ".";
  for (int number = 1; file_ == nullptr; ++number) {
    path_ = stem + std::to_string(number) + kEnding;
    file_.reset(std::fopen(path_.c_str(), "wx"));
    if (file_ == nullptr && errno != EEXIST)
      throw InputError("the journal '" + path_ + "' cannot be written: " + std::strerror(errno));
  }
  write(head_of(question, shard).dump());
}

void Journal::add(const Judged& judged, const std::string& modules) {
  json line = as_json(judged, folder_);
  line["modules"] = modules;
  line["fingerprint"] = fingerprint(question_, judged.of, modules);
  if (judged.recorded) {
    const std::string path = result_path(folder_, line.at("recorded"));
    std::error_code none;
    if (!fs::exists(path, none))
      launch::replace_file(path, "--journal",
                           {reinterpret_cast<const char*>(judged.recorded->data()), judged.recorded->size()});
  }
  write(line.dump());
}

void Journal::write(const std::string& line) {
  if (std::fputs((line + "\n").c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
    throw InputError("the journal '" + path_ + "' cannot be written: " + std::strerror(errno));
}

}  // namespace bitwell::verdict
