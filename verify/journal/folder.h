// What processes on any number of machines have found out, as one folder: a line a case, each process a file
// of its own, to which it adds lines as it goes. Who stops leaves what it has done.
#pragma once
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "verify/journal/shard.h"

namespace bitwell::journal {

// What all processes of a folder are asked.
struct Question {
  std::string version;               // of bitwell: others judge otherwise
  std::vector<std::string> command;  // words that ask it: {"verify", "gemv", "--full"}
  nlohmann::json asked;              // an object with all that the results depend on

  // Of the same version, whatever the words.
  bool same(const Question& other) const;
  // "verify gemv --full", for a shell.
  std::string words() const;
};

struct Line {
  std::string file;
  size_t number = 0;
  nlohmann::json text;
  std::string at() const { return file + ", line " + std::to_string(number); }
};

// What a folder has.
struct Journals {
  std::optional<Question> question;     // where there is a journal
  std::map<std::string, Line> by_case;  // each once
  std::vector<std::string> notes;       // of lines that are torn
};
// Throws InputError where a journal is of another version than `version`, or of another question than another
// of them or `question`, where a line is none, where two say different things of one case, and where two are
// of other modules for the same kernel.
Journals read(const std::string& folder, const std::string& version,
              const std::optional<Question>& question = std::nullopt);
// The line that must be there, else InputError, with what writes one.
const Question& question_of(const Journals& journals, const std::string& folder);
// The first words of the commands that the journals answer, of any version: {"verify"}. None where there is
// none.
std::string kind_of(const std::string& folder);
// All lines that are objects, of any version and question.
std::vector<nlohmann::json> whatever_lines(const std::string& folder);

// Which case it was, of which texts, by which bitwell: who has the same may take its result.
std::string fingerprint(const std::vector<std::string>& parts);

// The journal of one process.
class Writer {
 public:
  // A new file of the folder, which is made where it is not there. InputError where that cannot be.
  Writer(const std::string& folder, const Question& question, const Shard& shard);
  // An object with "case", "fingerprint" and "seconds"; with "modules" where it is of PTX, a digest of that
  // of the kernel that its case names before ": ". When it returns, the line is written. Throws InputError.
  void add(const nlohmann::json& line);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

}  // namespace bitwell::journal
