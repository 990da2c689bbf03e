#include "verify/journal/folder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include "model/machine/failure.h"
#include "model/strict_json/write.h"
#include "verify/capture/digest.h"
#include "verify/launch/launch.h"

namespace bitwell::journal {
namespace {

namespace fs = std::filesystem;
using machine::InputError;
using nlohmann::json;

constexpr const char* kSchema = "bitwell-journal-2";
constexpr const char* kEnding = ".jsonl";
constexpr uint64_t kMostJournal = uint64_t{1} << 30;  // bytes
// Of a journal's first line, what is no part of the question.
constexpr std::array kAround{"schema", "version", "command", "shard", "shards"};

json head_of(const Question& q, const Shard& shard) {
  json out = q.asked;
  out.update({{"schema", kSchema},
              {"version", q.version},
              {"command", q.command},
              {"shard", shard.index},
              {"shards", shard.of}});
  return out;
}

std::string host() {
  std::array<char, 65> name{};
  gethostname(name.data(), name.size() - 1);
  std::string out = name.data();
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  return out.empty() ? "host" : out;
}

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == kEnding) out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

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
  Question out{j.at("version"), j.at("command"), j};
  for (const char* key : kAround) out.asked.erase(key);
  if (out.version != version)
    throw InputError(head.file + " is of '" + out.version + "', this is '" + version +
                     "': judge its cases again, or merge with that one");
  const uint64_t index = j.at("shard"), of = j.at("shards");
  if (index < 1 || index > of)
    throw InputError(head.file + " is of shard " + std::to_string(index) + " of " + std::to_string(of) +
                     ", which there is not");
  return out;
}

// How long it took, and whether a launch file could be written there, is nobody's matter.
bool same(json a, json b) {
  for (json* j : {&a, &b}) {
    j->erase("seconds");
    if (j->contains("failure")) (*j)["failure"].erase("replay_error");
  }
  return a == b;
}

// As a shell takes it.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("-_./,:=+", c) != nullptr;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

bool Question::same(const Question& other) const { return version == other.version && asked == other.asked; }

std::string Question::words() const {
  std::string out;
  for (const std::string& word : command) out += (out.empty() ? "" : " ") + quoted(word);
  return out;
}

Journals read(const std::string& folder, const std::string& version,
              const std::optional<Question>& question) {
  Journals out;
  out.question = question;
  std::map<std::string, const Line*> modules;  // by kernel
  for (const std::string& file : files_of(folder)) {
    std::vector<Line> lines = lines_of(file, out.notes);
    if (lines.empty()) continue;
    try {
      const Question asked = question_of(lines.front(), version);
      if (!out.question) out.question = asked;
      if (!asked.same(*out.question))
        throw InputError(file + " answers 'bitwell " + asked.words() + "', and others there 'bitwell " +
                         out.question->words() + "': give each question a folder of its own");
      for (size_t i = 1; i < lines.size(); ++i) {
        const std::string of = lines[i].text.at("case");
        const auto [first, new_one] = out.by_case.emplace(of, lines[i]);
        const Line& line = lines[i];
        if (line.text.contains("modules")) {
          const auto [text, added] = modules.emplace(of.substr(0, of.find(": ")), &first->second);
          if (!added && text->second->text.at("modules") != line.text.at("modules"))
            throw InputError(line.at() + ": '" + text->first + "' is another PTX than " + text->second->at() +
                             " has: remove the journal of the one that is not meant");
        }
        if (!new_one && !journal::same(first->second.text, line.text))
          throw InputError(line.at() + ": '" + of + "' came out otherwise than " + first->second.at() +
                           " has it: one of these machines is broken, or bitwell is; the same case gives the "
                           "same bits everywhere");
      }
    } catch (const json::exception& e) {
      throw InputError(file + " is no journal: " + e.what());
    }
  }
  return out;
}

const Question& question_of(const Journals& journals, const std::string& folder) {
  if (!journals.question)
    throw InputError("no journal in '" + folder + "': 'bitwell verify SUITE --journal " + folder +
                     "' writes one");
  return *journals.question;
}

std::string kind_of(const std::string& folder) {
  for (const json& line : whatever_lines(folder))
    if (const auto command = line.find("command");
        command != line.end() && command->is_array() && !command->empty() && command->front().is_string())
      return command->front();
  return "";
}

std::vector<json> whatever_lines(const std::string& folder) {
  std::vector<json> out;
  for (const std::string& file : files_of(folder)) {
    const std::string text = launch::read_file(file, kMostJournal);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      json line = json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                              text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
      if (line.is_object()) out.push_back(std::move(line));
      begin = end + 1;
    }
  }
  return out;
}

std::string fingerprint(const std::vector<std::string>& parts) {
  capture::Digest out;
  for (const std::string& part : parts) {
    const std::string line = part + "\n";
    out.add(std::as_bytes(std::span(line)));
  }
  return out.hex();
}

Writer::Writer(const std::string& folder, const Question& question, const Shard& shard) {
  std::error_code error;
  fs::create_directories(folder, error);
  const std::vector<std::string>& words = question.command;
  const std::string name = words.size() < 2 || words[1].starts_with("-") ? words.front() : words[1];
  const std::string stem = folder + "/" + name + "." + std::to_string(shard.index) + "-of-" +
                           std::to_string(shard.of) + "." + host() + ".";
  for (int number = 1; file_ == nullptr; ++number) {
    path_ = stem + std::to_string(number) + kEnding;
    file_.reset(std::fopen(path_.c_str(), "wx"));
    if (file_ == nullptr && errno != EEXIST)
      throw InputError("the journal '" + path_ + "' cannot be written: " + std::strerror(errno));
  }
  add(head_of(question, shard));
}

void Writer::add(const json& line) {
  if (std::fputs((strict_json::dumped(line) + "\n").c_str(), file_.get()) < 0 ||
      std::fflush(file_.get()) != 0)
    throw InputError("the journal '" + path_ + "' cannot be written: " + std::strerror(errno));
}

}  // namespace bitwell::journal
