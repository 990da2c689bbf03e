#include "experiments/study/shards.h"

#include <algorithm>
#include <memory>

#include "model/machine/failure.h"

namespace bitwell::study {
namespace {

std::string name_of(const Study& s, size_t piece) {
  return s.name + ": piece " + std::to_string(piece + 1) + " of " + std::to_string(s.pieces);
}

}  // namespace

journal::Question question_of(const Study& study, const std::string& version,
                              const std::vector<std::string>& words) {
  std::vector<std::string> command{"study"};
  command.insert(command.end(), words.begin(), words.end());
  return {version, command, {{"study", study.name}, {"asked", study.asked}, {"columns", study.columns}}};
}

std::vector<std::string> Kept::missing(const Study& study) const {
  std::vector<std::string> out;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (!pieces[i]) out.push_back(name_of(study, i));
  return out;
}

Rows Kept::rows() const {
  Rows out;
  for (const std::optional<Rows>& piece : pieces)
    if (piece) out.insert(out.end(), piece->begin(), piece->end());
  return out;
}

Kept read_kept(const Study& study, const std::string& folder, const journal::Question& question) {
  journal::Journals journals = journal::read(folder, question.version, question);
  Kept out{std::vector<std::optional<Rows>>(study.pieces), std::move(journals.notes)};
  for (size_t i = 0; i < study.pieces; ++i) {
    const auto at = journals.by_case.find(name_of(study, i));
    if (at == journals.by_case.end()) continue;
    try {
      out.pieces[i] = at->second.text.at("rows").get<Rows>();
    } catch (const nlohmann::json::exception& e) {
      throw machine::InputError(at->second.at() + " is no line of a study: " + e.what());
    }
    for (const std::vector<std::string>& row : *out.pieces[i])
      if (row.size() != study.columns.size())
        throw machine::InputError(at->second.at() + ": a row has " + std::to_string(row.size()) +
                                  " cells, the study " + std::to_string(study.columns.size()) + " columns");
  }
  return out;
}

Share share(const Study& study, const std::string& folder, const journal::Question& question,
            const journal::Shard& shard, const journal::Times& times) {
  const Kept kept = read_kept(study, folder, question);
  Share out;
  out.notes = kept.notes;
  std::vector<double> seconds(times.any() ? study.pieces : 0);
  for (size_t i = 0; i < seconds.size(); ++i) seconds[i] = times.of(name_of(study, i));
  for (const size_t piece : journal::part(study.pieces, seconds, shard)) {
    ++out.all;
    if (!kept.pieces[piece]) out.part.pieces.push_back(piece);
  }
  if (out.part.pieces.empty()) return out;
  const auto writer = std::make_shared<journal::Writer>(folder, question, shard);
  out.path = writer->path();
  out.part.keep = [writer, study, version = question.version](size_t piece, const Rows& rows, double took) {
    const std::string name = name_of(study, piece);
    writer->add({{"case", name},
                 {"fingerprint", journal::fingerprint({version, study.name, study.asked, name})},
                 {"seconds", took},
                 {"rows", rows}});
  };
  return out;
}

}  // namespace bitwell::study
