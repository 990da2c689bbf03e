#include "verify/verdict/journal.h"

#include <algorithm>
#include <array>
#include <filesystem>
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

constexpr uint64_t kMostResult = uint64_t{1} << 30;  // bytes

std::string result_path(const std::string& folder, const std::string& digest) {
  return folder + "/results/" + digest;
}

Question question_of(const journal::Question& q, const std::string& folder) {
  try {
    const json& j = q.asked;
    return {q.version, j.at("verify"), j.at("kernels"), j.at("archs"), j.at("full"), j.at("races")};
  } catch (const json::exception&) {
    throw InputError("the journals in '" + folder + "' answer 'bitwell " + q.words() +
                     "', which is no question of verify's");
  }
}

// What a line's case came to; false where its result is gone.
bool read_line(const journal::Line& line, const std::string& folder, Judged& judged,
               std::vector<std::string>& notes) {
  judged = judged_of(line.text, folder);
  if (!judged.recorded) return true;
  const std::string digest = line.text.at("recorded"), path = result_path(folder, digest);
  std::error_code none;
  if (fs::is_regular_file(path, none)) {
    const std::string text = launch::read_file(path, kMostResult);
    const auto bytes = std::as_bytes(std::span(text));
    judged.recorded->assign(bytes.begin(), bytes.end());
  }
  if (digest_of(*judged.recorded) == digest) return true;
  notes.push_back(path + ", the result of '" + suite::text_of(judged.of) +
                  "', is not there or not whole: the case counts as not judged");
  return false;
}

Journals read(const std::string& folder, journal::Journals journals) {
  Journals out;
  out.question = question_of(journal::question_of(journals, folder), folder);
  out.notes = std::move(journals.notes);
  std::map<suite::Case, const journal::Line*> by_case;
  for (const auto& [text, line] : journals.by_case) by_case.emplace(suite::read_case(text), &line);
  for (const suite::Case& c : cases_of(out.question, {}, {})) {
    const auto at = by_case.find(c);
    Judged judged;
    try {
      if (at == by_case.end() || !read_line(*at->second, folder, judged, out.notes)) {
        out.missing.push_back(c);
        continue;
      }
      out.fingerprints[c] = at->second->text.at("fingerprint");
    } catch (const json::exception& e) {
      throw InputError(at->second->file + " is no journal: " + e.what());
    }
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

journal::Question Question::as_asked() const {
  std::vector<std::string> command{"verify", subject};
  for (const std::string& kernel : kernels) command.insert(command.end(), {"--kernel", kernel});
  for (const std::string& arch : archs) command.insert(command.end(), {"--arch", arch});
  if (full) command.emplace_back("--full");
  if (races) command.emplace_back("--races");
  return {version,
          command,
          {{"verify", subject}, {"kernels", kernels}, {"archs", archs}, {"full", full}, {"races", races}}};
}

Plan Question::plan(Plan with) const {
  with.kernels = kernels;
  with.archs = archs;
  with.full = full;
  with.races = races;
  return with;
}

std::vector<suite::Case> cases_of(const Question& question, const Plan& plan, const journal::Shard& shard,
                                  const journal::Times& times) {
  std::vector<suite::Case> all;
  std::vector<std::vector<size_t>> pieces;  // each drawn at once
  std::map<std::array<std::string, 3>, size_t> seen;
  for (const suite::Suite* suite : question.suites())
    for (suite::Case& c : cases_of(*suite, question.plan(plan))) {
      const auto [at, added] = seen.emplace(std::array{c.suite, c.kernel, c.of}, pieces.size());
      if (added) pieces.emplace_back();
      pieces[at->second].push_back(all.size());
      all.push_back(std::move(c));
    }
  std::vector<double> seconds(times.any() ? pieces.size() : 0);
  for (size_t i = 0; i < seconds.size(); ++i)
    for (const size_t c : pieces[i]) seconds[i] += times.of(suite::text_of(all[c]));
  std::set<size_t> taken;
  for (const size_t i : journal::part(pieces.size(), seconds, shard))
    taken.insert(pieces[i].begin(), pieces[i].end());
  std::vector<suite::Case> out;
  for (const size_t i : taken) out.push_back(std::move(all[i]));
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
  return journal::fingerprint({question.version, question.races ? "races" : "", suite::text_of(c), modules});
}

Journals read_journals(const std::string& folder, const std::string& version) {
  return read(folder, journal::read(folder, version));
}
Journals read_journals(const std::string& folder, const Question& question) {
  return read(folder, journal::read(folder, question.version, question.as_asked()));
}

Journal::Journal(const std::string& folder, const Question& question, const journal::Shard& shard)
    : folder_(folder), question_(question), writer_(folder, question.as_asked(), shard) {
  std::error_code error;
  fs::create_directories(folder + "/results", error);
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
  writer_.add(line);
}

}  // namespace bitwell::verdict
