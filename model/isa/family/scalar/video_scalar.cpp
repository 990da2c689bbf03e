// Scalar video instructions: words, halves or bytes of a word, and a second operation or a part of the result
// (PTX ISA 9.0, 9.7.19). No device of today has them: bits are those of the machine code that ptxas 13.0
// makes of them for sm_90a, which is not always what the manual says. What is refused as unsupported differs
// from the manual in ways that hang on more than this.
#include <algorithm>
#include <array>
#include <bit>

#include "model/isa/family/scalar/video.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

enum class Secondary : uint8_t { none, add, min, max };

// What a lane does; it is an op's `imm`. Parts of a word: 0 is all of it, then bytes 0 to 3, then halves 0
// and 1.
struct Scalar {
  enum Flags : uint8_t {
    kSignedA = 1,
    kSignedB = 2,
    kSignedD = 4,
    kSaturate = 8,
    kWrap = 16,
    kPlusOne = 32,
    kMinusProduct = 64,
    kMinusC = 128
  };
  VideoOperation operation = VideoOperation::add;
  uint8_t flags = 0;
  uint8_t a = 0, b = 0, d = 0;
  Secondary secondary = Secondary::none;
  uint8_t scale = 0;
  uint8_t unused = 0;
  bool is(Flags f) const { return (flags & f) != 0; }
};
constexpr uint8_t kFirstHalf = 5, kSecondHalf = 6;

struct Place {
  int bits, at;
};
Place place_of(uint8_t part) {
  if (part == 0) return {32, 0};
  return part < kFirstHalf ? Place{8, 8 * (part - 1)} : Place{16, 16 * (part - kFirstHalf)};
}
uint64_t ones(int bits) { return (uint64_t{1} << bits) - 1; }

int64_t extended(uint64_t v, int bits, bool is_signed) {
  return is_signed && (v >> (bits - 1) & 1) != 0 ? static_cast<int64_t>(v | ~ones(bits))
                                                 : static_cast<int64_t>(v);
}
int64_t part_of(uint32_t word, uint8_t part, bool is_signed) {
  const Place p = place_of(part);
  return extended(word >> p.at & ones(p.bits), p.bits, is_signed);
}

// The manual has whole words and c by their types; machine code multiplies signed words, and adds a signed
// one.
uint32_t product_sum(const Scalar& s, uint32_t a, uint32_t b, uint32_t c) {
  const int64_t product = part_of(a, s.a, s.a == 0 || s.is(Scalar::kSignedA)) *
                          part_of(b, s.b, s.b == 0 || s.is(Scalar::kSignedB));
  const int64_t word = static_cast<int32_t>(c);
  const bool is_signed = s.is(Scalar::kSignedA) || s.is(Scalar::kSignedB) || s.is(Scalar::kMinusProduct) ||
                         s.is(Scalar::kMinusC);
  int64_t r = (s.is(Scalar::kMinusProduct) ? -product : product) + (s.is(Scalar::kMinusC) ? -word : word) +
              (s.is(Scalar::kPlusOne) ? 1 : 0);
  r = is_signed || s.scale == 0 ? r >> s.scale : static_cast<int64_t>(static_cast<uint64_t>(r) >> s.scale);
  if (s.is(Scalar::kSaturate))
    r = is_signed ? std::clamp<int64_t>(r, INT32_MIN, INT32_MAX) : std::clamp<int64_t>(r, 0, UINT32_MAX);
  return static_cast<uint32_t>(r);
}

int64_t shifted(const Scalar& s, int64_t a, int64_t b) {
  const int64_t by = s.is(Scalar::kWrap) ? b & 31 : std::min<int64_t>(b, 32);
  return s.operation == VideoOperation::shift_right ? a >> by
                                                    : static_cast<int64_t>(static_cast<uint64_t>(a) << by);
}

uint32_t scalar(const Scalar& s, uint32_t a, uint32_t b, uint32_t c) {
  if (s.operation == VideoOperation::multiply) return product_sum(s, a, b, c);
  const int64_t va = part_of(a, s.a, s.is(Scalar::kSignedA)), vb = part_of(b, s.b, s.is(Scalar::kSignedB));
  const bool shifts = s.operation == VideoOperation::shift_left || s.operation == VideoOperation::shift_right;
  int64_t r = shifts ? shifted(s, va, vb) : video_result(s.operation, va, vb);
  // Without a sign machine code stays above zero alone; the manual has the highest word too.
  if (s.is(Scalar::kSaturate))
    r = s.is(Scalar::kSignedD) ? std::clamp<int64_t>(r, INT32_MIN, INT32_MAX) : std::max<int64_t>(r, 0);
  const int64_t word = extended(c, 32, s.is(Scalar::kSignedD));
  switch (s.secondary) {
    case Secondary::none: break;
    case Secondary::add: r += word; break;
    case Secondary::min: r = std::min(r, word); break;
    case Secondary::max: r = std::max(r, word); break;
  }
  if (s.d == 0) return static_cast<uint32_t>(r);
  // Into the upper half goes the upper half of the result; the manual has the lower.
  const Place p = place_of(s.d);
  const auto mask = static_cast<uint32_t>(ones(p.bits) << p.at);
  const auto placed =
      static_cast<uint32_t>(s.d == kSecondHalf ? r : static_cast<int64_t>(static_cast<uint64_t>(r) << p.at));
  return (placed & mask) | (c & ~mask);
}

void scalar_lanes(const Op& op, std::byte* rows, uint32_t mask) {
  const auto s = std::bit_cast<Scalar>(op.imm);
  const auto* a = reinterpret_cast<const uint32_t*>(rows + op.a);
  const auto* b = reinterpret_cast<const uint32_t*>(rows + op.b);
  const auto* c = reinterpret_cast<const uint32_t*>(rows + op.c);
  auto* d = reinterpret_cast<uint32_t*>(rows + op.d);
  for (int lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1) != 0) d[lane] = scalar(s, a[lane], b[lane], c[lane]);
}

uint8_t part_named(const ptx::Operand& operand, const std::string& selector) {
  static constexpr std::array<std::string_view, 7> kNames{"", "b0", "b1", "b2", "b3", "h0", "h1"};
  const auto* const at = std::find(kNames.begin(), kNames.end(), selector);
  if (at == kNames.end()) no_selector(operand, "it is 'b0' to 'b3', 'h0' or 'h1'");
  return static_cast<uint8_t>(at - kNames.begin());
}

void check_signs(const Builder& b) {
  const bool product = b.operand(1).minus != b.operand(2).minus, c = b.operand(3).minus;
  if (product && c) throw Invalid("'-' before c beside '-' before one of a and b");
  if (ptx::has(b.instruction(), ".po") && (b.operand(1).minus || b.operand(2).minus || c))
    throw Invalid("'.po' beside '-'");
}

// Where machine code differs from the manual by rules of its own for each combination of types.
void check_agreement(const Builder& b, const Scalar& s, bool set) {
  const auto refuse = [&](const std::string& what) {
    std::string name = b.instruction().opcode;
    for (const std::string& m : b.instruction().modifiers) name += m;
    throw machine::Unsupported("'" + name + "'" + what +
                               ": ptxas' code for it does not do what the manual says");
  };
  if (s.is(Scalar::kSaturate) && s.d != 0) refuse(" into a part of a word");
  if (s.is(Scalar::kSaturate) && s.operation == VideoOperation::shift_left) refuse("");
  if (s.secondary >= Secondary::min && !set && !(s.is(Scalar::kSaturate) && s.is(Scalar::kSignedD)))
    refuse("");
}

void build_scalar(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool mad = i.opcode == "vmad", set = i.opcode == "vset";
  std::array<std::string, 3> selectors;
  std::array<ptx::Operand, 3> plain;
  for (size_t n = 0; n < plain.size(); ++n) plain[n] = without_selector(b.operand(n), selectors[n]);

  Scalar s;
  s.operation = video_operation(set ? m.choice[2] : i.opcode);
  s.d = part_named(b.operand(0), selectors[0]);
  s.a = part_named(b.operand(1), selectors[1]);
  s.b = part_named(b.operand(2), selectors[2]);
  for (const auto& [name, secondary] :
       {std::pair{".add", Secondary::add}, {".min", Secondary::min}, {".max", Secondary::max}})
    if (ptx::has(i, name)) s.secondary = secondary;
  if (s.d != 0 && mad) no_selector(b.operand(0), "the result of 'vmad' is a word");
  if (s.d != 0 && s.secondary != Secondary::none) throw Invalid("a second operation into a part of a word");
  const bool merges = s.d != 0 || s.secondary != Secondary::none || mad;
  if (merges || b.operand_count() != 3) operands_left(b, m, 4);
  if (ptx::has(i, ".shr7")) s.scale = 7;
  if (ptx::has(i, ".shr15")) s.scale = 15;
  const auto flag = [&](bool on, Scalar::Flags f) { s.flags = static_cast<uint8_t>(s.flags | (on ? f : 0)); };
  const size_t types = set ? 0 : 1;
  flag(m.choice[0] == ".s32", Scalar::kSignedD);
  flag(m.choice[types] == ".s32", Scalar::kSignedA);
  flag(types + 1 < m.choice.size() && m.choice[types + 1] == ".s32", Scalar::kSignedB);
  flag(ptx::has(i, ".sat"), Scalar::kSaturate);
  flag(ptx::has(i, ".wrap"), Scalar::kWrap);
  if (mad) {
    check_signs(b);
    flag(ptx::has(i, ".po"), Scalar::kPlusOne);
    flag(plain[1].minus != plain[2].minus, Scalar::kMinusProduct);
    flag(b.operand(3).minus, Scalar::kMinusC);
  }

  Op op;
  op.lanes = scalar_lanes;
  op.imm = std::bit_cast<uint64_t>(s);
  const Type& word = b.type(".u32");
  op.d = b.destination(plain[0], word).row;
  op.a = b.source(plain[1], word).row;
  op.b = b.source(plain[2], word).row;
  if (b.operand_count() == 4) op.c = b.source(b.operand(3), word).row;
  check_agreement(b, s, set);
  b.emit(op);
}

constexpr Form kScalar[] = {
    {"vadd{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add,.min,.max]", "*", build_scalar},
    {"vsub{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add,.min,.max]", "*", build_scalar},
    {"vabsdiff{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add,.min,.max]", "*", build_scalar},
    {"vmin{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add,.min,.max]", "*", build_scalar},
    {"vmax{.u32,.s32}{.u32,.s32}{.u32,.s32}[.sat][.add,.min,.max]", "*", build_scalar},
    {"vshl{.u32,.s32}{.u32,.s32}.u32{.clamp,.wrap}[.sat][.add,.min,.max]", "*", build_scalar},
    {"vshr{.u32,.s32}{.u32,.s32}.u32{.clamp,.wrap}[.sat][.add,.min,.max]", "*", build_scalar},
    {"vset{.u32,.s32}{.u32,.s32}{.eq,.ne,.lt,.le,.gt,.ge}[.add,.min,.max]", "*", build_scalar},
    {"vmad{.u32,.s32}{.u32,.s32}{.u32,.s32}[.po][.sat][.shr7,.shr15]", "*", build_scalar},
};

}  // namespace

std::span<const Form> scalar_video_forms() { return kScalar; }

}  // namespace bitwell::isa
