#include "verify/bugs/catalogue/delay.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "model/ptx/parse.h"

namespace bitwell::bugs {
namespace {

// Straight code: a branch could keep lanes apart that the kernel has together. The upper 13 bits of a hash of
// the clock, the warp and the CTA; what of them lies above three quarters is slept.
constexpr std::string_view kSleep =
    "{ .reg .b32 late, place; mov.u32 late, %clock; mov.u32 place, %tid.x; shr.u32 place, place, 5; "
    "mad.lo.u32 late, place, 0x85EBCA6B, late; mov.u32 place, %ctaid.x; mad.lo.u32 late, place, 0xC2B2AE35, "
    "late; mul.lo.u32 late, late, 0x9E3779B1; shr.u32 place, late, 15; xor.b32 late, late, place; "
    "mul.lo.u32 late, late, 0x2C1B3C6D; shr.u32 late, late, 19; max.u32 late, late, 6144; "
    "sub.u32 late, late, 6144; nanosleep.u32 late; } ";

constexpr std::array<std::string_view, 16> kPlaces{
    "ld",     "st",    "atom",           "red",       "cp",       "bar",      "barrier", "mbarrier", "fence",
    "membar", "wgmma", "griddepcontrol", "tensormap", "ldmatrix", "stmatrix", "multimem"};

bool is_late(const ptx::Instruction& i) {
  if (std::find(kPlaces.begin(), kPlaces.end(), i.opcode) == kPlaces.end()) return false;
  if (i.opcode == "wgmma") return !i.modifiers.empty() && i.modifiers[0] == ".fence";
  return std::none_of(i.modifiers.begin(), i.modifiers.end(),
                      [](const std::string& m) { return m.starts_with(".param"); });
}

void places_in(const std::vector<ptx::Statement>& body, std::vector<ptx::Position>& out) {
  for (const ptx::Statement& s : body) {
    if (s.kind == ptx::Statement::Kind::instruction && is_late(s.instruction)) out.push_back(s.at);
    places_in(s.body, out);
  }
}

}  // namespace

std::string delayed(const std::string& ptx) {
  std::vector<ptx::Position> places;
  for (const ptx::Function& f : ptx::parse(ptx).functions) places_in(f.body, places);
  std::vector<size_t> lines{0};  // where each begins
  for (size_t at = ptx.find('\n'); at != std::string::npos; at = ptx.find('\n', at + 1))
    lines.push_back(at + 1);
  std::string out;
  size_t copied = 0;
  for (const ptx::Position& p : places) {  // in the order of the text
    const size_t at = lines[static_cast<size_t>(p.line - 1)] + static_cast<size_t>(p.column - 1);
    out.append(ptx, copied, at - copied).append(kSleep);
    copied = at;
  }
  return out.append(ptx, copied);
}

}  // namespace bitwell::bugs
