#include "verify/bugs/mutation/values.h"

#include <algorithm>
#include <array>
#include <map>

namespace bitwell::bugs {
namespace {

bool any(const Parts& p, std::initializer_list<const char*> bases) {
  return std::any_of(bases.begin(), bases.end(), [&](const char* b) { return p.is(b); });
}

bool writes(const Parts& p) {
  return p.operands.size() >= 2 &&
         !any(p, {"st", "red", "bra", "cp", "mbarrier", "bar", "barrier", "stmatrix", "wgmma"});
}

int bits_of(const Parts& p) { return p.has("64") ? 64 : p.has("16") ? 16 : 32; }

}  // namespace

// What is claimed of all registers at first is withdrawn where a definition does not bear it out, until
// nothing changes: loops then hold by induction.
Values::Values(std::string_view text) {
  std::map<std::string, std::vector<Parts>> definitions;
  std::set<std::string> unknown;  // written by what is not looked into
  for (const Line& l : instructions(text)) {
    counts_threads_ =
        counts_threads_ || (any(l.parts, {"bar.sync", "barrier.sync"}) && l.parts.operands.size() > 1);
    if (!writes(l.parts)) continue;
    const std::string& to = l.parts.operands[0];
    if (to.rfind("%r", 0) == 0 && to.rfind("%rs", 0) != 0 && to.find('|') == std::string::npos) {
      definitions[to].push_back(l.parts);
      continue;
    }
    for (size_t at = to.find('%'); at != std::string::npos; at = to.find('%', at + 1))
      unknown.insert(to.substr(at, to.find_first_of(",| }", at) - at));
  }
  for (const auto& [name, of] : definitions)
    if (unknown.count(name) == 0) {
      index_.insert(name);
      small_.insert(name);
      zero_.insert(name);
    }
  for (bool changed = true; changed;) {
    changed = false;
    const auto withdraw = [&](std::set<std::string>& claims, bool (Values::*holds)(const Parts&) const) {
      for (auto at = claims.begin(); at != claims.end();) {
        const std::vector<Parts>& of = definitions.at(*at);
        const bool all = std::all_of(of.begin(), of.end(), [&](const Parts& p) { return (this->*holds)(p); });
        changed = changed || !all;
        at = all ? std::next(at) : claims.erase(at);
      }
    };
    withdraw(index_, &Values::gives_index);
    withdraw(small_, &Values::gives_small);
    withdraw(zero_, &Values::gives_zero);
  }
}

bool Values::is_small(const std::string& operand) const {
  if (const auto v = integer(operand)) return *v >= 0 && *v < int64_t{1} << 30;
  return small_.count(operand) != 0;
}

bool Values::is_zero(const std::string& operand) const {
  if (const auto v = integer(operand)) return *v == 0;
  return zero_.count(operand) != 0;
}

// Computed from shapes and thread indices alone.
bool Values::gives_index(const Parts& p) const {
  const std::vector<std::string>& o = p.operands;
  if (p.is("ld")) return p.has(".param");
  if (p.is("mov") && o[1].front() == '%' && o[1].find('.') != std::string::npos) return true;  // %tid.x
  if (p.is("mov") && o[1].front() != '%' && !integer(o[1])) return true;                       // an address
  const auto index = [&](size_t i) { return integer(o[i]) ? is_small(o[i]) : index_.count(o[i]) != 0; };
  if (p.is("and")) return index_.count(o[1]) != 0 || index_.count(o[2]) != 0;
  if (p.is("sub")) return is_zero(o[2]) && index(1);
  if (any(p, {"mov", "cvt", "cvta", "add", "mul", "mad", "shl", "shr", "or", "xor", "min", "max", "selp",
              "div", "rem"})) {
    for (size_t i = 1; i < o.size(); ++i)
      if (o[i].rfind("%p", 0) != 0 && !index(i)) return false;
    return true;
  }
  return false;
}

bool Values::gives_small(const Parts& p) const {
  if (gives_index(p)) return true;
  const std::vector<std::string>& o = p.operands;
  const auto small = [&](size_t i) { return is_small(o[i]); };
  if (p.is("ld")) return p.has(".u8") || p.has(".u16");
  if (any(p, {"popc", "clz"})) return true;
  if (any(p, {"mov", "cvt"})) return p.is("cvt") && (p.has(".u16") || p.has(".u8")) ? true : small(1);
  if (p.is("and")) return small(1) || small(2);
  if (p.is("shr")) return small(1) || (!p.has(".s") && integer(o[2]) && *integer(o[2]) >= 2);
  if (any(p, {"or", "xor", "min", "max", "selp"})) return small(1) && small(2);
  return false;
}

bool Values::gives_zero(const Parts& p) const {
  const std::vector<std::string>& o = p.operands;
  if (any(p, {"mov", "cvt"})) return is_zero(o[1]);
  if (any(p, {"shl", "shr"})) {
    if (is_zero(o[1])) return true;
    const auto by = integer(o[2]);
    return p.is("shr") && by && is_small(o[1]) && *by >= bits_of(p) - 2;
  }
  if (any(p, {"and", "mul"})) return is_zero(o[1]) || is_zero(o[2]);
  if (any(p, {"add", "sub", "or", "xor", "min", "max"})) return is_zero(o[1]) && is_zero(o[2]);
  return false;
}

std::string Values::copies(const Parts& p) const {
  if (any(p, {"add", "or", "xor"})) {
    if (is_zero(p.operands[2])) return p.operands[1];
    if (is_zero(p.operands[1])) return p.operands[2];
  }
  if (any(p, {"sub", "shl", "shr"}) && is_zero(p.operands[2])) return p.operands[1];
  return "";
}

bool Values::same(const Parts& a, const Parts& b) const {
  if (a.guard != b.guard || a.operands.size() < 3 || b.operands.size() != a.operands.size() ||
      a.operands[0] != b.operands[0])
    return false;
  if (gives_zero(a) && gives_zero(b)) return true;
  if (!copies(a).empty() && copies(a) == copies(b)) return true;
  const auto mask_a = integer(a.operands[2]);
  const auto mask_b = integer(b.operands[2]);
  if (a.opcode == b.opcode && a.is("and") && mask_a && mask_b && a.operands[1] == b.operands[1] &&
      is_small(a.operands[1])) {
    const int bits = bits_of(a);
    const uint64_t top = uint64_t{3} << (bits - 2);
    return ((static_cast<uint64_t>(*mask_a ^ *mask_b) << (64 - bits) >> (64 - bits)) & ~top) == 0;
  }
  return false;
}

}  // namespace bitwell::bugs
