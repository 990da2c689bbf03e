#include "verify/bugs/mutation/findings_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "verify/bugs/mutation/parts.h"
#include "verify/launch/launch.h"

namespace bitwell::bugs {
namespace {

constexpr std::array<std::string_view, 8> kNames{"named", "wrong bits",  "runs for ever", "race check",
                                                 "noted", "unsupported", "not PTX",       "nothing"};

// Fields between tabs, empty ones too.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line)
    if (c == '\t')
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

}  // namespace

std::string_view name_of(Found found) { return kNames[static_cast<size_t>(found)]; }

std::optional<Found> found_of(std::string_view name) {
  const auto at = std::find(kNames.begin(), kNames.end(), name);
  if (at == kNames.end()) return std::nullopt;
  return static_cast<Found>(at - kNames.begin());
}

FindingsLog::FindingsLog(const std::string& path, bool resume) {
  if (path.empty()) return;
  std::ifstream in;
  if (resume) in.open(path);
  std::string line;
  for (int number = 1; in.is_open() && std::getline(in, line); ++number) {
    const std::vector<std::string> f = fields_of(line);
    const auto found = found_of(f[0]);
    const auto at = f.size() == 8 ? integer(f[3]) : std::nullopt;
    if (!found || !at)
      throw machine::InputError("'" + path + "', line " + std::to_string(number) +
                                ": not a mutant's, of --log; without --resume the file is written anew");
    known_[{f[2], static_cast<int>(*at), f[4], f[6]}] = {*found, f[7]};
  }
  file_.open(path, resume ? std::ios::app : std::ios::trunc);
}

std::optional<Finding> FindingsLog::known(const std::string& kernel, const Mutant& m) const {
  const auto found = known_.find({kernel, m.line, m.kind, m.after});
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

void FindingsLog::add(const std::string& kernel, const Mutant& m, const Finding& f, double seconds) {
  const std::scoped_lock lock(mutex_);
  if (!file_.is_open()) return;
  file_ << fmt::format("{}\t{:.3f}\t{}\t{}\t{}\t{}\t{}\t{}\n", name_of(f.found), seconds, kernel, m.line,
                       m.kind, m.before, m.after, f.what.substr(0, f.what.find('\n')));
  file_.flush();
}

}  // namespace bitwell::bugs
