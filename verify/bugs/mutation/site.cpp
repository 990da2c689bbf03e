#include "verify/bugs/mutation/site.h"

#include <optional>

namespace bitwell::bugs {

std::string Braces::text() const {
  std::string out = before + "{";
  for (size_t i = 0; i < elements.size(); ++i) out += (i == 0 ? "" : ", ") + elements[i];
  return out + "}" + after;
}

Braces braces(const std::string& operand) {
  const size_t open = operand.find('{');
  const size_t close = operand.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  Braces out{operand.substr(0, open), operand.substr(close + 1), {}};
  out.elements = split("x " + operand.substr(open + 1, close - open - 1)).operands;
  return out;
}

Site::Site(const Line& line, std::vector<Mutant>& out)
    : line_(line.number), at_(line.at), length_(line.length), p_(line.parts), before_(p_.text()), out_(out) {}

void Site::add(const char* kind, const std::string& after) {
  if (after != before_) out_.push_back({kind, line_, before_, after, at_, length_});
}

void Site::operand(const char* kind, size_t i, const std::string& value) {
  Parts q = p_;
  q.operands[i] = value;
  add(kind, q.text());
}

void Site::opcode(const char* kind, const std::string& from, const std::string& to) {
  const size_t at = p_.opcode.find(from);
  if (at == std::string::npos) return;
  const size_t end = at + from.size();
  if (end < p_.opcode.size() && p_.opcode[end] != '.' && from.back() != ':') return;  // part of a longer name
  Parts q = p_;
  q.opcode.replace(at, from.size(), to);
  add(kind, q.text());
}

void Site::computed(const char* kind, size_t i, const std::string& value, const std::string& type,
                    const std::string& compute, const std::string& from) {
  Parts q = p_;
  q.operands[i] = value;
  const size_t space = compute.find(' ');
  std::string operands = compute.substr(space);
  operands.replace(operands.find('$'), 1, from);
  add(kind, "{ .reg " + type + " planted; " + compute.substr(0, space) + " planted," + operands + "; " +
                q.text() + " }");
}

void Site::around(const char* kind, size_t i, int64_t by) {
  for (const int64_t d : {by, -by}) {
    if (const auto v = integer(p_.operands[i]))
      operand(kind, i, std::to_string(*v + d));
    else
      wrapped(kind, i, ".b32", "add.s32 $, " + std::to_string(d));
  }
}

void Site::halved(const char* kind, size_t i) {
  if (const auto v = integer(p_.operands[i]))
    operand(kind, i, std::to_string(*v / 2));
  else
    wrapped(kind, i, ".b32", "shr.u32 $, 1");
}

void Site::moved(const char* kind, size_t i, int64_t by) {
  const std::string& o = p_.operands[i];
  const size_t plus = o.find('+');
  const std::string base = plus == std::string::npos ? o.substr(0, o.size() - 1) : o.substr(0, plus);
  const std::optional<int64_t> offset =
      plus == std::string::npos ? 0 : integer(o.substr(plus + 1, o.size() - plus - 2));
  if (offset) operand(kind, i, base + "+" + std::to_string(*offset + by) + "]");
}

}  // namespace bitwell::bugs
