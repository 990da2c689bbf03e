// How the lane loops treat bits that were never written.
#include "model/isa/lanes/tracks.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace bitwell::isa {
namespace {

// Bytes of a lane that holds a value of such a type: "u16", "b128", "s8" (which lives in 16 bits).
uint16_t lane_bytes(std::string_view type) {
  const size_t digits = type.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 0;
  const int bits = std::stoi(std::string(type.substr(digits)));
  return static_cast<uint16_t>(std::max(bits, 16) / 8);
}

struct TracksRow {
  std::string_view opcode;
  Tracks tracks;
};
constexpr TracksRow kTracks[] = {
    {"mov", Tracks::moves_a},   {"not", Tracks::bit_xor},   {"brev", Tracks::moves_a},
    {"shl", Tracks::moves_a},   {"shr", Tracks::moves_a},   {"bfe", Tracks::moves_a},
    {"szext", Tracks::moves_a}, {"cvt", Tracks::moves_a},   {"unpack", Tracks::moves_a},
    {"shf", Tracks::moves_ab},  {"prmt", Tracks::moves_ab}, {"bfi", Tracks::moves_ab},
    {"selp", Tracks::moves_ab}, {"pack", Tracks::packs},    {"and", Tracks::bit_and},
    {"or", Tracks::bit_or},     {"xor", Tracks::bit_xor},   {"lop3", Tracks::lop3},
    {"add", Tracks::adds},      {"sub", Tracks::subtracts}, {"mul", Tracks::carries},
    {"mad", Tracks::carries},   {"neg", Tracks::carries},   {"dp2a", Tracks::half_of_b}};

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> out;
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    out.push_back(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return out;
}

bool integral(std::string_view type) {
  return type.size() >= 2 && (type[0] == 'u' || type[0] == 's' || type[0] == 'b') &&
         std::all_of(type.begin() + 1, type.end(), [](char c) { return std::isdigit(c) != 0; });
}

// Arithmetic of two elements in a register: "add.ftz.f16x2", not a conversion to one.
bool of_halves(const std::vector<std::string_view>& parts) {
  static constexpr std::string_view kOpcodes[] = {"add", "sub", "mul", "fma", "min", "max", "abs", "neg"};
  static constexpr std::string_view kTypes[] = {"f16x2", "u16x2", "s16x2", "f32x2"};
  const auto has = [](const auto& all, std::string_view one) {
    return std::find(std::begin(all), std::end(all), one) != std::end(all);
  };
  return has(kOpcodes, parts[0]) && has(kTypes, parts.back());
}

}  // namespace

void track_halves(Op& op, uint16_t bytes) {
  op.tracks = Tracks::by_halves;
  op.source_bytes = op.result_bytes = bytes;
}

void track_bits(Op& op, const std::string& name) {
  if (name == "and.pred") op.tracks = Tracks::predicate_and;
  if (name == "or.pred") op.tracks = Tracks::predicate_or;
  const std::vector<std::string_view> parts = parts_of(name);
  if (of_halves(parts)) return track_halves(op, parts.back() == "f32x2" ? 8 : 4);
  const auto* const row = std::find_if(std::begin(kTracks), std::end(kTracks),
                                       [&](const TracksRow& r) { return r.opcode == parts[0]; });
  if (row == std::end(kTracks) || parts.back() == "pred") return;
  // Only the plain integer forms of arithmetic and of conversions: no .sat, .hi, .wide, no packed or floating
  // type.
  if (row->tracks >= Tracks::adds && row->tracks <= Tracks::carries &&
      !(integral(parts.back()) && (parts.size() == 2 || (parts.size() == 3 && parts[1] == "lo"))))
    return;
  if (parts[0] == "cvt" && !(parts.size() == 3 && integral(parts[1]) && integral(parts[2]))) return;
  op.tracks = row->tracks;
  op.source_bytes = op.result_bytes =
      lane_bytes(parts[0] == "prmt" || parts[0] == "shf" || parts[0] == "lop3" ? "b32" : parts.back());
  if (parts[0] == "dp2a") op.imm = parts[1] == "lo" ? 0xFFFF : 0xFFFF0000;
  if (parts[0] == "cvt") op.result_bytes = lane_bytes(parts[1]);
  if (parts[0] == "pack" || parts[0] == "unpack") {
    const uint16_t whole = lane_bytes(parts[1]);
    const auto element = static_cast<uint16_t>(std::max(whole / std::stoi(std::string(parts[2])), 2));
    op.source_bytes = parts[0] == "pack" ? element : whole;
    op.result_bytes = parts[0] == "pack" ? whole : element;
  }
}

}  // namespace bitwell::isa
