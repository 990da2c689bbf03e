// ptxas as the oracle of the order of modifiers: every form, spelled at random, is taken with its modifiers
// in exactly the orders in which ptxas takes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "found_operands.h"
#include "model/isa/family/families.h"

namespace bitwell::isa {
namespace {

struct Count {
  size_t taken = 0, refused = 0, died = 0;
};

// Other types in the same places: bitwell knows the instruction, and leaves it for what ptxas makes of it.
bool left_for_its_code(const Finding& f) {
  return f.kind == Finding::Kind::unsupported && f.what.find("ptxas' code for it") != std::string::npos;
}

// Holds bitwell against ptxas for each line; where ptxas dies, for each half of them.
void compare(const std::string& target, const Entries& entries, Count& count) {
  std::vector<int> line_of;
  const std::string text = module_of(target, entries, line_of);
  std::set<int> theirs;
  try {
    theirs = ptxas_refuses(BITWELL_PTXAS, text, target);
  } catch (const PtxasDied&) {
    if (entries.size() == 1) {
      ++count.died;
      return;
    }
    const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(entries.size() / 2);
    compare(target, {entries.begin(), middle}, count);
    return compare(target, {middle, entries.end()}, count);
  }
  const std::set<int> ours = bitwell_refuses(text);
  std::set<int> left;
  for (const Finding& f : isa::check(ptx::parse(text)))
    if (left_for_its_code(f)) left.insert(f.line);
  size_t n = 0;
  for (const std::vector<std::string>& lines : entries)
    for (const std::string& line : lines) {
      const int at = line_of[n++];
      if (left.contains(at)) continue;
      ++(theirs.contains(at) ? count.refused : count.taken);
      EXPECT_EQ(ours.contains(at), theirs.contains(at))
          << line << " for " << target << ": ptxas " << (theirs.contains(at) ? "refuses" : "takes") << " it";
    }
}

size_t from_environment(const char* name, size_t usual) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

// BITWELL_SPELLINGS: of each form; BITWELL_ORDERS: of each spelling, the first as the form has it;
// BITWELL_SEED.
TEST(ModifierOrder, EveryFormIsTakenInTheOrdersInWhichPtxasTakesIt) {
  if (!std::filesystem::exists(BITWELL_PTXAS)) GTEST_SKIP() << "ptxas is not there";
  const size_t spellings = from_environment("BITWELL_SPELLINGS", 1);
  const size_t orders = from_environment("BITWELL_ORDERS", 3);
  std::mt19937_64 random(from_environment("BITWELL_SEED", 1));
  std::map<std::string, Entries> texts;
  for (const isa::Form* form : isa::all_forms()) {
    if (form->version > 90) continue;  // later than this ptxas
    size_t spelled = 0;
    bool known = false;
    for (size_t n = 0; spelled < spellings && n < 20 + spellings; ++n) {  // not every spelling is legal
      Spelling s = spell(*form, random);
      const Found found = find_operands(s, random);
      known = known || found != Found::no;
      if (found != Found::yes) continue;
      ++spelled;
      std::vector<std::string> lines;
      std::vector<std::string> modifiers = s.match.modifiers;
      for (size_t order = 0; order < orders; ++order) {
        lines.push_back(written(s, modifiers, s.operands));
        std::shuffle(modifiers.begin(), modifiers.end(), random);
      }
      texts[s.target].push_back(lines);
    }
    EXPECT_TRUE(known) << "no operands in the list fit " << form->pattern;
  }
  Count count;
  for (const auto& [target, entries] : texts) compare(target, entries, count);
  std::printf("%zu orders that ptxas takes and %zu that it refuses, it dies of %zu spellings\n", count.taken,
              count.refused, count.died);
}

}  // namespace
}  // namespace bitwell::isa
