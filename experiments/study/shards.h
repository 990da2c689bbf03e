// A study whose pieces any number of processes share by a folder of journals.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "experiments/study/table.h"
#include "verify/journal/folder.h"
#include "verify/journal/parts.h"

namespace bitwell::study {

// Of bitwell of that version; `words`: those of the command `study` that ask it.
journal::Question question_of(const Study& study, const std::string& version,
                              const std::vector<std::string>& words);

// What a folder has of a study.
struct Kept {
  std::vector<std::optional<Rows>> pieces;
  std::vector<std::string> notes;  // of lines that are torn

  std::vector<std::string> missing(const Study& study) const;  // their names
  Rows rows() const;
};
// Throws InputError as journal::read does, and where a line is of no piece of the study.
Kept read_kept(const Study& study, const std::string& folder, const journal::Question& question);

// Of the shard's pieces what the folder does not have yet.
struct Share {
  size_t all = 0;  // of the shard
  std::vector<std::string> notes;
  std::string path;  // of the journal; empty where nothing is left
  Part part;         // what there is to do, which writes it
};
Share share(const Study& study, const std::string& folder, const journal::Question& question,
            const journal::Shard& shard, const journal::Times& times);

}  // namespace bitwell::study
