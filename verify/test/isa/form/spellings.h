// Forms as instructions: spelled at random, in modules of which bitwell and ptxas say which lines they do not
// take.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/isa/compile/compile.h"
#include "model/isa/form/form.h"
#include "model/isa/form/type.h"
#include "model/ptx/parse.h"

namespace bitwell::isa {

// Operands as a form's roles say.
inline std::string operands_of_roles(const isa::Form& form, const Match& match) {
  std::string out;
  int n = 0;
  for (const Role& role : isa::roles_of(form, match)) {
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
inline constexpr const char* kSpelledTargets[] = {"sm_90a", "sm_100a", "sm_103a", "sm_120a"};
struct Spelling {
  const isa::Form* form;
  Match match;
  std::string target;
  std::string operands{};
};

inline Spelling spell(const isa::Form& form, std::mt19937_64& random) {
  Spelling out{&form, {}, ""};
  for (const Element& e : isa::elements_of(form)) {
    const size_t pick = random() % (e.alternatives.size() + (e.optional ? 1 : 0));
    const bool taken = pick < e.alternatives.size();
    if (taken) out.match.modifiers.push_back(e.alternatives[pick]);
    if (e.group) out.match.choice.push_back(taken ? e.alternatives[pick] : "");
  }
  return out;
}

inline std::string written(const Spelling& s, const std::vector<std::string>& modifiers,
                           const std::string& operands) {
  std::string out(isa::opcode_of(*s.form));
  for (const std::string& m : modifiers) out += m;
  return out + (operands.empty() ? "" : " " + operands) + ";";
}

// A module of one entry for each group of instructions, a line each; `line_of` gets their lines in order.
using Entries = std::vector<std::vector<std::string>>;
inline std::string module_of(const std::string& target, const Entries& entries, std::vector<int>& line_of) {
  std::string out = ".version 9.0\n.target " + target +
                    "\n.address_size 64\n.global .align 128 .b8 gv[1024]; "
                    ".func callee() { ret; }\n";
  int line = 5;
  for (size_t e = 0; e < entries.size(); ++e) {
    out +=
        ".visible .entry e" + std::to_string(e) +
        "(.param .b64 par) { .reg .pred %p<9>; .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<300>; .reg .f32 "
        "%f<300>; .reg .b64 %d<9>; .reg .f64 %g<9>; .reg .b128 %q<9>; .shared .align 128 .b8 sv[1024]; "
        ".local .align 16 .b8 lv[64];\n";
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
inline std::set<int> bitwell_refuses(const std::string& text, bool* unsupported = nullptr) {
  std::set<int> out;
  for (const Finding& f : isa::check(ptx::parse(text))) {
    const bool names = f.kind == Finding::Kind::unsupported;
    if (f.kind == Finding::Kind::invalid || names) out.insert(f.line);
    if (unsupported != nullptr) *unsupported = *unsupported || names;
  }
  return out;
}

// ptxas 13.0 itself dies on some texts.
struct PtxasDied : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The lines that ptxas does not take: it is asked again without them, until it takes the rest.
inline std::set<int> ptxas_refuses(const std::string& ptxas, std::string text, const std::string& target) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("bitwell-orders-" + std::to_string(getpid()) + ".ptx"))
          .string();
  const std::string command = ptxas + " -arch=" + target + " -O0 -o /dev/null " + path + " 2>&1";
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

}  // namespace bitwell::isa
