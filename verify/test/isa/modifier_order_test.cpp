// ptxas as the oracle of the order of modifiers: every form, spelled at random, is taken with its modifiers
// in exactly the orders in which ptxas takes it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "model/isa/compile/compile.h"
#include "model/isa/family/families.h"
#include "model/isa/form/form.h"
#include "model/isa/form/type.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "operand_candidates.h"

namespace bitwell::verify {
namespace {

// Operands as a form's roles say.
std::string operands_of_roles(const isa::Form& form, const isa::Match& match) {
  std::string out;
  int n = 0;
  for (const isa::Role& role : isa::roles_of(form, match)) {
    const int bits = role.type == ".pred" ? 1 : isa::find_type(role.type)->bits;
    const std::string prefix = bits == 1    ? "%p"
                               : bits == 16 ? "%h"
                               : bits == 32 ? "%r"
                               : bits == 64 ? "%d"
                                            : "%c";
    if (role.optional) break;
    out += (out.empty() ? "" : ", ") + (role.kind == 'i' ? "1" : prefix + std::to_string(++n));
  }
  return out;
}

// One way of writing a form for a target that has it.
constexpr const char* kTargets[] = {"sm_90a", "sm_100a", "sm_103a", "sm_120a"};
struct Spelling {
  const isa::Form* form;
  isa::Match match;
  std::string target;
  std::string operands{};
};

Spelling spell(const isa::Form& form, std::mt19937_64& random) {
  Spelling out{&form, {}, ""};
  for (const isa::Element& e : isa::elements_of(form)) {
    const size_t pick = random() % (e.alternatives.size() + (e.optional ? 1 : 0));
    const bool taken = pick < e.alternatives.size();
    if (taken) out.match.modifiers.push_back(e.alternatives[pick]);
    if (e.group) out.match.choice.push_back(taken ? e.alternatives[pick] : "");
  }
  return out;
}

std::string written(const Spelling& s, const std::vector<std::string>& modifiers,
                    const std::string& operands) {
  std::string out(isa::opcode_of(*s.form));
  for (const std::string& m : modifiers) out += m;
  return out + (operands.empty() ? "" : " " + operands) + ";";
}

// A module of one entry for each group of instructions, a line each; `line_of` gets their lines in order.
using Entries = std::vector<std::vector<std::string>>;
std::string module_of(const std::string& target, const Entries& entries, std::vector<int>& line_of) {
  std::string out = ".version 9.0\n.target " + target + "\n.address_size 64\n.func callee() { ret; }\n";
  int line = 5;
  for (size_t e = 0; e < entries.size(); ++e) {
    out +=
        ".visible .entry e" + std::to_string(e) +
        "(.param .b64 par) { .reg .pred %p<9>; .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<300>; .reg .f32 "
        "%f<300>; .reg .b64 %d<9>; .reg .b128 %q<9>;\n";
    out += "targets: .branchtargets label; label:\n";
    line += 2;
    for (const std::string& instruction : entries[e]) {
      out += instruction + "\n";
      line_of.push_back(line++);
    }
    out += "}\n";
    ++line;
  }
  return out;
}

// The lines that bitwell does not take; `unsupported`: whether it names one of them as that.
std::set<int> bitwell_refuses(const std::string& text, bool* unsupported = nullptr) {
  std::set<int> out;
  for (const isa::Finding& f : isa::check(ptx::parse(text))) {
    const bool names = f.kind == isa::Finding::Kind::unsupported;
    if (f.kind == isa::Finding::Kind::invalid || names) out.insert(f.line);
    if (unsupported != nullptr) *unsupported = *unsupported || names;
  }
  return out;
}

// ptxas 13.0 itself dies on some texts.
struct PtxasDied : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The lines that ptxas does not take: it is asked again without them, until it takes the rest.
std::set<int> ptxas_refuses(std::string text, const std::string& target) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("bitwell-orders-" + std::to_string(getpid()) + ".ptx"))
          .string();
  const std::string command =
      std::string(BITWELL_PTXAS) + " -arch=" + target + " -O0 -o /dev/null " + path + " 2>&1";
  std::set<int> out;
  while (true) {
    std::ofstream(path) << text;
    FILE* pipe = popen(command.c_str(), "r");
    std::set<int> refused;
    std::string said;
    char buffer[4096];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
      const std::string message = buffer;
      const size_t at = message.find(", line ");
      if (at != std::string::npos && message.find("; warning") == std::string::npos)
        refused.insert(std::atoi(message.c_str() + at + 7));
      said += message;
    }
    if (pclose(pipe) == 0) break;
    if (refused.empty()) throw PtxasDied(said);
    std::string rest;
    size_t from = 0;
    for (int line = 1; from < text.size(); ++line) {
      const size_t end = text.find('\n', from) + 1;
      rest += refused.contains(line) ? "\n" : text.substr(from, end - from);
      from = end;
    }
    text = rest;
    out.merge(refused);
  }
  std::filesystem::remove(path);
  return out;
}

// Gives the spelling a target and the first operands that bitwell takes with it. Whether there are some, or
// bitwell knows the spelling, and refuses it by name.
enum class Found { yes, no, unsupported };
Found find_operands(Spelling& s, std::mt19937_64& random) {
  static const std::vector<std::string> all = operand_candidates();
  const std::vector<std::string> candidates =
      s.form->operands == "*" ? all : std::vector{operands_of_roles(*s.form, s.match)};
  std::vector<std::string> lines;
  for (const std::string& operands : candidates) lines.push_back(written(s, s.match.modifiers, operands));
  const size_t first = random() % std::size(kTargets);
  bool unsupported = false;
  for (size_t t = 0; t < std::size(kTargets); ++t) {
    s.target = kTargets[(first + t) % std::size(kTargets)];
    std::vector<int> line_of;
    const std::set<int> refused = bitwell_refuses(module_of(s.target, {lines}, line_of), &unsupported);
    for (size_t n = 0; n < candidates.size(); ++n)
      if (!refused.contains(line_of[n])) {
        s.operands = candidates[n];
        return Found::yes;
      }
  }
  return unsupported ? Found::unsupported : Found::no;
}

struct Count {
  size_t taken = 0, refused = 0, died = 0;
};

// Holds bitwell against ptxas for each line; where ptxas dies, for each half of them.
void compare(const std::string& target, const Entries& entries, Count& count) {
  std::vector<int> line_of;
  const std::string text = module_of(target, entries, line_of);
  std::set<int> theirs;
  try {
    theirs = ptxas_refuses(text, target);
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
  size_t n = 0;
  for (const std::vector<std::string>& lines : entries)
    for (const std::string& line : lines) {
      const int at = line_of[n++];
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
  const size_t orders = from_environment("BITWELL_ORDERS", 6);
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
}  // namespace bitwell::verify
