// SIMD video instructions: two halves or four bytes of a word at once (PTX ISA 9.0, 9.7.19). What machine
// code ptxas 13.0 makes of them for sm_90a computes the same, those that it has an instruction for among
// them.
#include "model/isa/family/scalar/video.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

// What a lane does; it is an op's `imm`.
struct Simd {
  enum Flags : uint8_t { kFour = 1, kSignedA = 2, kSignedB = 4, kSignedD = 8, kSaturate = 16, kSum = 32 };
  VideoOperation operation = VideoOperation::add;
  uint8_t flags = 0;
  uint16_t mask = 0;      // bit i: element i of the result is computed, and not c's
  uint16_t a = 0, b = 0;  // four bits each: which element of b:a element i of an operand is
  bool is(Flags f) const { return (flags & f) != 0; }
};

uint32_t simd(const Simd& s, uint32_t a, uint32_t b, uint32_t c) {
  const int count = s.is(Simd::kFour) ? 4 : 2, bits = 32 / count;
  const auto ones = static_cast<uint32_t>((uint64_t{1} << bits) - 1);
  const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
  const auto element = [&](uint16_t selectors, int i, bool is_signed) {
    const auto v = static_cast<uint32_t>(both >> (bits * (selectors >> (4 * i) & 15))) & ones;
    return static_cast<int32_t>(v) -
           (is_signed && (v >> (bits - 1) & 1) != 0 ? static_cast<int32_t>(ones) + 1 : 0);
  };
  uint32_t out = s.is(Simd::kSum) ? c : 0;
  for (int i = 0; i < count; ++i) {
    const bool computed = (s.mask >> i & 1) != 0;
    int64_t r = video_result(s.operation, element(s.a, i, s.is(Simd::kSignedA)),
                             element(s.b, i, s.is(Simd::kSignedB)));
    if (s.is(Simd::kSaturate)) {
      const int64_t most = s.is(Simd::kSignedD) ? ones >> 1 : ones;
      r = std::clamp(r, s.is(Simd::kSignedD) ? -most - 1 : 0, most);
    }
    if (s.is(Simd::kSum))
      out += computed ? static_cast<uint32_t>(r) : 0;
    else
      out |= ((computed ? static_cast<uint32_t>(r) : c >> (bits * i)) & ones) << (bits * i);
  }
  return out;
}

void simd_lanes(const Op& op, std::byte* rows, uint32_t mask) {
  const auto s = std::bit_cast<Simd>(op.imm);
  const auto* a = reinterpret_cast<const uint32_t*>(rows + op.a);
  const auto* b = reinterpret_cast<const uint32_t*>(rows + op.b);
  const auto* c = reinterpret_cast<const uint32_t*>(rows + op.c);
  auto* d = reinterpret_cast<uint32_t*>(rows + op.d);
  for (int lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1) != 0) d[lane] = simd(s, a[lane], b[lane], c[lane]);
}

// Digits below `end` behind the letter of the kind, 'h' for halves and 'b' for bytes.
bool selects(const std::string& selector, char kind, int end) {
  return selector.size() > 1 && selector[0] == kind &&
         std::all_of(selector.begin() + 1, selector.end(), [&](char c) { return c >= '0' && c < '0' + end; });
}

// Which elements of the result are computed: each is named once, the highest first.
uint16_t mask_of(const ptx::Operand& operand, const std::string& selector, int count) {
  const char kind = count == 2 ? 'h' : 'b';
  if (selector.empty()) return static_cast<uint16_t>((1 << count) - 1);
  uint16_t mask = 0;
  for (size_t i = 1; selects(selector, kind, count) && i < selector.size(); ++i)
    if (i == 1 || selector[i] < selector[i - 1])
      mask = static_cast<uint16_t>(mask | 1 << (selector[i] - '0'));
    else
      mask = 0x8000;  // and never taken away
  if (mask == 0 || mask >= 0x8000)
    no_selector(operand, std::string("a mask is '") + kind + "' and numbers below " + std::to_string(count) +
                             ", the highest first");
  return mask;
}

// The last digit names the lowest element. Elements of a come first, behind them those of b.
uint16_t element_numbers(const ptx::Operand& operand, const std::string& selector, int count, int first) {
  const char kind = count == 2 ? 'h' : 'b';
  if (!selector.empty() &&
      (selector.size() != static_cast<size_t>(count) + 1 || !selects(selector, kind, 2 * count)))
    no_selector(operand, std::string("it is '") + kind + "' and " + std::to_string(count) +
                             " numbers below " + std::to_string(2 * count));
  uint16_t out = 0;
  for (int i = 0; i < count; ++i) {
    const int at = selector.empty() ? first + i : selector[static_cast<size_t>(count - i)] - '0';
    out = static_cast<uint16_t>(out | at << (4 * i));
  }
  return out;
}

void build_simd(Builder& b, const Match& m) {
  operands_left(b, m, 4);
  const ptx::Instruction& i = b.instruction();
  const int count = i.opcode.back() - '0';
  const std::string opcode = i.opcode.substr(0, i.opcode.size() - 1);
  const bool set = opcode == "vset";
  const bool saturates = ptx::has(i, ".sat"), sums = ptx::has(i, ".add");
  if (saturates && sums) throw Invalid("'.sat' beside '.add'");
  std::array<std::string, 3> selectors;
  std::array<ptx::Operand, 3> plain;
  for (size_t n = 0; n < plain.size(); ++n) plain[n] = without_selector(b.operand(n), selectors[n]);

  Simd s;
  s.operation = video_operation(set ? m.choice[2] : opcode);
  s.mask = mask_of(b.operand(0), selectors[0], count);
  s.a = element_numbers(b.operand(1), selectors[1], count, 0);
  s.b = element_numbers(b.operand(2), selectors[2], count, count);
  const auto flag = [&](bool on, Simd::Flags f) { s.flags = static_cast<uint8_t>(s.flags | (on ? f : 0)); };
  flag(count == 4, Simd::kFour);
  flag(!set && m.choice[0] == ".s32", Simd::kSignedD);
  flag(m.choice[set ? 0 : 1] == ".s32", Simd::kSignedA);
  flag(m.choice[set ? 1 : 2] == ".s32", Simd::kSignedB);
  flag(saturates, Simd::kSaturate);
  flag(sums, Simd::kSum);

  Op op;
  op.lanes = simd_lanes;
  op.imm = std::bit_cast<uint64_t>(s);
  const Type& word = b.type(".u32");
  op.d = b.destination(plain[0], word).row;
  op.a = b.source(plain[1], word, false, false).row;
  op.b = b.source(plain[2], word, false, false).row;
  op.c = b.source(b.operand(3), word, false, false).row;
  b.emit(op);
}

constexpr Form kSimd[] = {
    {"vadd2{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vsub2{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vavrg2{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vabsdiff2{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vmin2{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vmax2{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vset2{.u32,.s32}{.u32,.s32}{.eq,.ne,.lt,.le,.gt,.ge}[.add]", "*", build_simd},
    {"vadd4{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vsub4{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vavrg4{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vabsdiff4{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vmin4{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vmax4{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add]", "*", build_simd},
    {"vset4{.u32,.s32}{.u32,.s32}{.eq,.ne,.lt,.le,.gt,.ge}[.add]", "*", build_simd},
};

}  // namespace

ptx::Operand without_selector(const ptx::Operand& operand, std::string& selector) {
  ptx::Operand out = operand;
  const std::string& s = operand.suffix;
  selector.clear();
  // ".x" of a special register is none.
  if (s.size() < 3 || (s[1] != 'b' && s[1] != 'h')) return out;
  selector = s.substr(1);
  out.suffix.clear();
  return out;
}

[[noreturn]] void no_selector(const ptx::Operand& operand, const std::string& needs) {
  throw Invalid("the selector '" + operand.suffix + "' of '" + operand.name + "': " + needs);
}

VideoOperation video_operation(const std::string& name) {
  using enum VideoOperation;
  static constexpr std::pair<std::string_view, VideoOperation> kNames[] = {
      {"vadd", add},      {"vsub", sub},  {"vavrg", average},   {"vabsdiff", distance},
      {"vmin", min},      {"vmax", max},  {"vshl", shift_left}, {"vshr", shift_right},
      {"vmad", multiply}, {".eq", equal}, {".ne", unequal},     {".lt", lt},
      {".le", le},        {".gt", gt},    {".ge", ge}};
  const auto* const at =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) { return n.first == name; });
  if (at == std::end(kNames)) throw machine::ModelBug("no video operation " + name);
  return at->second;
}

int64_t video_result(VideoOperation operation, int64_t a, int64_t b) {
  using enum VideoOperation;
  switch (operation) {
    case add: return a + b;
    case sub: return a - b;
    case average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case distance: return std::abs(a - b);
    case min: return std::min(a, b);
    case max: return std::max(a, b);
    case equal: return a == b ? 1 : 0;
    case unequal: return a != b ? 1 : 0;
    case lt: return a < b ? 1 : 0;
    case le: return a <= b ? 1 : 0;
    case gt: return a > b ? 1 : 0;
    case ge: return a >= b ? 1 : 0;
    case shift_left:
    case shift_right:
    case multiply: break;
  }
  throw machine::ModelBug("a video operation of another kind");
}

std::span<const Form> video_forms() { return kSimd; }

}  // namespace bitwell::isa
