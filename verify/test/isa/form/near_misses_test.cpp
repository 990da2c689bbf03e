// Every form with operands that it takes and what comes near them: bitwell takes what ptxas 13.0 takes, or
// calls it unsupported by name, and calls the rest wrong. What ptxas says is recorded in near_misses.txt. Not
// compared is where ptxas dies, and where the two differ: ptxas takes constants for predicates and registers,
// registers wider than a type, predicates for words, vectors of one register and of two halves, and constants
// beyond 32 bits, which bitwell calls wrong; bitwell takes special registers, and floating-point constants of
// another width than an untyped operand's, wherever a value may stand, `_` for some results, and .f32
// registers as member masks, which ptxas refuses.
#include "near_misses.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "model/isa/family/families.h"
#include "operand_candidates.h"
#include "spellings.h"

namespace bitwell::isa {
namespace {

// A line of the list: of each near miss whether ptxas takes it, '1' or '0', or '-' where it dies of it or we
// differ on purpose.
struct Row {
  std::string target, instruction, operands, taken;
};

// Four verdicts are a hexadecimal digit, behind them those that count for nothing.
std::string packed(const std::string& taken) {
  std::string out, left_out;
  for (size_t i = 0; i < taken.size(); i += 4) {
    int digit = 0;
    for (size_t k = 0; k < 4 && i + k < taken.size(); ++k) digit |= (taken[i + k] == '1' ? 1 : 0) << k;
    out += "0123456789abcdef"[digit];
  }
  for (size_t i = 0; i < taken.size(); ++i)
    if (taken[i] == '-') left_out += (left_out.empty() ? "\t" : " ") + std::to_string(i);
  return out + left_out;
}

std::vector<Row> rows() {
  std::vector<Row> out;
  std::ifstream file(BITWELL_NEAR_MISSES);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Row row;
    std::string hex, left_out;
    std::getline(fields, row.target, '\t');
    std::getline(fields, row.instruction, '\t');
    std::getline(fields, row.operands, '\t');
    std::getline(fields, hex, '\t');
    std::getline(fields, left_out);
    for (const char c : hex)
      for (int k = 0; k < 4; ++k)
        row.taken += (std::stoi(std::string(1, c), nullptr, 16) >> k & 1) != 0 ? '1' : '0';
    row.taken.resize(near_misses(row.operands).size(), '0');
    std::istringstream numbers(left_out);
    for (size_t n = 0; numbers >> n;) row.taken.at(n) = '-';
    out.push_back(row);
  }
  return out;
}

std::vector<std::string> lines_of(const Row& row) {
  std::vector<std::string> out;
  for (const std::string& operands : near_misses(row.operands))
    out.push_back(row.instruction + (operands.empty() ? "" : " " + operands) + ";");
  return out;
}

// What bitwell says of each line of the row: '1' that it takes it, 'u' that it is unsupported, '0' that it is
// wrong.
std::string ours(const Row& row, std::vector<std::string>& why) {
  std::vector<std::string> lines = lines_of(row);
  std::string out(lines.size(), '1');
  why.assign(lines.size(), "");
  for (size_t tries = 0; tries <= lines.size(); ++tries) {
    std::vector<int> line_of;
    const std::string text = module_of(row.target, {lines}, line_of);
    const auto wrong = [&](int line, const std::string& what, char verdict) {
      const auto at = static_cast<size_t>(line - line_of.front());
      if (at >= lines.size()) {
        ADD_FAILURE() << row.instruction << ": " << what;
        return;
      }
      out[at] = verdict;
      why[at] = what;
    };
    try {
      for (const Finding& f : isa::check(ptx::parse(text)))
        if (f.kind == Finding::Kind::invalid)
          wrong(f.line, f.what, '0');
        else if (f.kind == Finding::Kind::unsupported)
          wrong(f.line, f.what, 'u');
      return out;
    } catch (const ptx::SyntaxError& e) {  // "line 12, column 3: ...": the others without it
      const int line = std::atoi(e.what() + std::string_view("line ").size());
      wrong(line, e.what(), '0');
      lines.at(static_cast<size_t>(line - line_of.front())).clear();
    }
  }
  return out;
}

TEST(NearMisses, AreTakenAndRefusedAsPtxasDoes) {
  const std::vector<Row> all = rows();
  ASSERT_GT(all.size(), 500u) << BITWELL_NEAR_MISSES;
  for (const Row& row : all) {
    std::vector<std::string> why;
    const std::string said = ours(row, why);
    const std::vector<std::string> lines = lines_of(row);
    for (size_t n = 0; n < lines.size(); ++n) {
      const bool taken = row.taken[n] == '1';
      if (row.taken[n] == '-' || said[n] == (taken ? '1' : '0')) continue;
      EXPECT_EQ(said[n], 'u') << lines[n] << " for " << row.target << ", near miss " << n << " of '"
                              << row.operands << "', which ptxas " << (taken ? "takes: " : "refuses: ")
                              << why[n];
    }
  }
}

// ---- making the list -------------------------------------------------------------------------------------

std::string ptxas_on(const std::string& target, const std::vector<std::string>& lines) {
  std::vector<int> line_of;
  const std::string text = module_of(target, {lines}, line_of);
  std::string out(lines.size(), '1');
  try {
    for (const int line : ptxas_refuses(BITWELL_PTXAS, text, target))
      if (line >= line_of.front() && line <= line_of.back())
        out[static_cast<size_t>(line - line_of.front())] = '0';
  } catch (const PtxasDied&) {
    if (lines.size() == 1) return "-";
    const auto middle = lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2);
    return ptxas_on(target, {lines.begin(), middle}) + ptxas_on(target, {middle, lines.end()});
  }
  return out;
}

// Up to three operand lists that bitwell takes with a spelling, as different in length as there are.
std::vector<std::string> operands_for(const Spelling& s, const std::vector<std::string>& candidates) {
  std::vector<std::string> lines;
  for (const std::string& operands : candidates) lines.push_back(written(s, s.match.modifiers, operands));
  std::vector<int> line_of;
  const std::set<int> refused = bitwell_refuses(module_of(s.target, {lines}, line_of));
  std::map<size_t, std::string> by_length;
  for (size_t n = 0; n < candidates.size(); ++n)
    if (!refused.contains(line_of[n])) by_length.emplace(parts_of(candidates[n]).size(), candidates[n]);
  std::vector<std::string> out;
  for (const auto& [length, operands] : by_length)
    if (out.size() < 3) out.push_back(operands);
  return out;
}

// With BITWELL_RECORD, the name of the file to write; of forms that begin as BITWELL_FORMS says, if it is
// there.
TEST(RecordNearMisses, ByPtxas) {
  const char* const path = std::getenv("BITWELL_RECORD");
  if (path == nullptr || !std::filesystem::exists(BITWELL_PTXAS)) GTEST_SKIP() << "nothing to record";
  const char* const begins = std::getenv("BITWELL_FORMS");
  std::mt19937_64 random(1);
  const std::vector<std::string> all = operand_candidates();
  std::set<std::string> there;
  std::ofstream out(path);
  out << "# What ptxas 13.0 says of every form's near misses (near_misses.h): target, instruction, operands, "
         "verdicts by fours,\n"
         "# 1 for taken, the first in the lowest bit; then the places that are not compared. Written by "
         "near_misses_test.cpp.\n";
  for (const isa::Form* form : isa::all_forms()) {
    if (form->version > 90 || (begins != nullptr && !form->pattern.starts_with(begins))) continue;
    size_t ways = 1;
    for (const Element& e : isa::elements_of(*form)) ways *= e.alternatives.size() + (e.optional ? 1 : 0);
    const size_t wanted = ways > 100 ? 5 : ways > 8 ? 3 : 2;
    for (size_t n = 0, spelled = 0; spelled < wanted && n < 20; ++n) {
      Spelling s = spell(*form, random);
      const std::vector<std::string> candidates =
          form->operands == "*" ? all : std::vector{operands_of_roles(*form, s.match)};
      const std::string instruction = [&] {
        const std::string line = written(s, s.match.modifiers, "");
        return line.substr(0, line.size() - 1);
      }();
      if (there.contains(instruction)) continue;
      for (const char* target : kSpelledTargets) {
        s.target = target;
        const std::vector<std::string> found = operands_for(s, candidates);
        for (const std::string& operands : found) {
          Row row{s.target, instruction, operands, ""};
          row.taken = ptxas_on(row.target, lines_of(row));
          out << row.target << '\t' << row.instruction << '\t' << row.operands << '\t' << packed(row.taken)
              << std::endl;
        }
        if (found.empty()) continue;
        there.insert(instruction);
        ++spelled;
        break;
      }
    }
  }
}

}  // namespace
}  // namespace bitwell::isa
