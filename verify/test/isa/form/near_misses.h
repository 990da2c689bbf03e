// Operands of an instruction, and what comes near them: one operand away or more than there are, of another
// kind or size, a constant at or behind a bound, a vector one longer or shorter. Most of it is no PTX; which
// is, ptxas says.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace bitwell::isa {

// The parts of "a, {b, c}, [d, {e}]" that commas outside of brackets and braces divide.
inline std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> out;
  int depth = 0;
  std::string part;
  for (const char c : list) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      out.push_back(std::move(part));
      part.clear();
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (!part.empty()) out.push_back(part);
  return out;
}

inline std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : ", ") + p;
  return out;
}

// What stands in an operand's place.
inline std::vector<std::string> instead_of(const std::string& operand) {
  std::vector<std::string> out = {"%p1",        "!%p1",       "%c1",
                                  "%h1",        "%r1",        "%f1",
                                  "%d1",        "%g1",        "%q1",
                                  "_",          "0",          "1",
                                  "2",          "3",          "4",
                                  "7",          "8",          "9",
                                  "15",         "16",         "17",
                                  "24",         "31",         "32",
                                  "33",         "64",         "127",
                                  "128",        "255",        "256",
                                  "257",        "512",        "1024",
                                  "65536",      "4294967296", "-1",
                                  "-2",         "0f3F800000", "0d3FF0000000000000",
                                  "gv",         "sv",         "lv",
                                  "par",        "callee",     "label",
                                  "targets",    "[gv]",       "[sv+4]",
                                  "[lv]",       "[%d1]",      "[%r1]",
                                  "[%h1]",      "[%d1+8]",    "[%r1+8]",
                                  "[64]",       "%laneid",    "%clock64",
                                  "{%r1}",      "{%r1, %r2}", "{%h1, %h2}",
                                  "{%f1, %f2}", "{%d1, %d2}", "{%r1, %r2, %r3, %r4}",
                                  "%r1|%p1",    "%p1|%p2",    "nowhere"};
  if (operand.empty() || (operand[0] != '{' && operand[0] != '[')) return out;
  const char close = operand[0] == '{' ? '}' : ']';
  const std::vector<std::string> inner = parts_of(operand.substr(1, operand.size() - 2));
  const auto add = [&](const std::vector<std::string>& parts) {
    out.push_back(operand[0] + joined(parts) + close);
  };
  add({inner.begin(), inner.end() - 1});
  std::vector<std::string> more = inner;
  more.push_back(inner.back());
  add(more);
  for (const size_t at : {size_t{0}, inner.size() - 1}) {
    if (operand[0] == '[' && inner[at][0] == '{') {
      for (const std::string& other : instead_of(inner[at])) {
        std::vector<std::string> parts = inner;
        parts[at] = other;
        add(parts);
      }
      continue;
    }
    for (const char* other : {"%p1", "%h1", "%r1", "%f1", "%d1", "%g1", "_", "0", "1", "-1", "0f3F800000",
                              "gv", "sv", "%r1+4", "%d1+4", "%r1+4294967296", "%d1+-8"}) {
      std::vector<std::string> parts = inner;
      parts[at] = other;
      add(parts);
    }
  }
  if (operand[0] == '{') add(std::vector<std::string>(inner.size(), "_"));
  return out;
}

// The operands themselves first; none twice.
inline std::vector<std::string> near_misses(const std::string& operands) {
  std::vector<std::string> out = {operands};
  const auto add = [&](const std::vector<std::string>& parts) {
    const std::string text = joined(parts);
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
  };
  const std::vector<std::string> parts = parts_of(operands);
  if (!parts.empty()) {
    add({parts.begin(), parts.end() - 1});
    add({parts.begin() + 1, parts.end()});
  }
  for (const char* last : {"%r1", "0", "%d1", "%p1", "[%r1]"}) {
    std::vector<std::string> more = parts;
    more.emplace_back(last);
    add(more);
  }
  for (size_t n = 0; n < parts.size(); ++n)
    for (const std::string& other : instead_of(parts[n])) {
      std::vector<std::string> changed = parts;
      changed[n] = other;
      add(changed);
    }
  return out;
}

}  // namespace bitwell::isa
