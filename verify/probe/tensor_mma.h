// One tcgen05.mma as a test states it: the kernel that issues it, its operands where the manual's layouts put
// them, and what D must be in unbounded integers. Layouts and types are typed here again: nothing of model/.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/launch/launch.h"
#include "verify/oracle/tensor_dot.h"

namespace bitwell::probe {

struct MmaType {
  const char* name;
  int bits, container;
  oracle::FieldFormat fields;
};
inline constexpr MmaType kF16{"f16", 16, 16, {5, 10, 15, 1, 0}};
inline constexpr MmaType kBf16{"bf16", 16, 16, {8, 7, 127, 1, 0}};
inline constexpr MmaType kTf32{"tf32", 19, 32, {8, 10, 127, 1, 13}};
inline constexpr MmaType kF32{"f32", 32, 32, {8, 23, 127, 1, 0}};
inline constexpr MmaType kE4m3{"e4m3", 8, 8, {4, 3, 7, 2, 0}};
inline constexpr MmaType kE5m2{"e5m2", 8, 8, {5, 2, 15, 1, 0}};
inline constexpr MmaType kE2m3{"e2m3", 6, 6, {2, 3, 1, 0, 0}};
inline constexpr MmaType kE3m2{"e3m2", 6, 6, {3, 2, 3, 0, 0}};
inline constexpr MmaType kE2m1{"e2m1", 4, 4, {2, 1, 1, 0, 0}};
inline constexpr MmaType kU8{"u8", 8, 8, {}};
inline constexpr MmaType kS8{"s8", 8, 8, {}};
inline constexpr MmaType kS32{"s32", 32, 32, {}};
inline constexpr MmaType kUe8m0{"ue8m0", 8, 8, {8, 0, 127, 0, 0}};
inline constexpr MmaType kUe4m3{"ue4m3", 8, 8, {4, 3, 7, 2, 0}};

struct MmaKindOf {
  const char* name;  // modifiers behind kind::
  const MmaType* a;
  const MmaType* b;
  const MmaType* d;
  const MmaType* scale;  // or nullptr
  int vector;            // elements of a scale
  uint32_t k;
  uint32_t a_code, b_code, d_code;  // of the instruction descriptor
};
inline constexpr MmaKindOf kMmaKindsOf[] = {
    {"f16", &kF16, &kF16, &kF32, nullptr, 0, 16, 0, 0, 1},
    {"f16", &kF16, &kF16, &kF16, nullptr, 0, 16, 0, 0, 0},
    {"f16", &kBf16, &kBf16, &kF32, nullptr, 0, 16, 1, 1, 1},
    {"tf32", &kTf32, &kTf32, &kF32, nullptr, 0, 8, 2, 2, 1},
    {"f8f6f4", &kE4m3, &kE5m2, &kF32, nullptr, 0, 32, 0, 1, 1},
    {"f8f6f4", &kE2m3, &kE2m1, &kF16, nullptr, 0, 32, 3, 5, 0},
    {"f8f6f4", &kE3m2, &kE4m3, &kF32, nullptr, 0, 32, 4, 0, 1},
    {"mxf8f6f4.block_scale", &kE4m3, &kE2m1, &kF32, &kUe8m0, 32, 32, 0, 5, 0},
    {"mxf4.block_scale", &kE2m1, &kE2m1, &kF32, &kUe8m0, 32, 64, 1, 1, 0},
    {"mxf4nvf4.block_scale.scale_vec::2X", &kE2m1, &kE2m1, &kF32, &kUe8m0, 32, 64, 1, 1, 0},
    {"mxf4nvf4.block_scale.scale_vec::4X", &kE2m1, &kE2m1, &kF32, &kUe4m3, 16, 64, 1, 1, 0},
    {"mxf4nvf4.block_scale.block16", &kE2m1, &kE2m1, &kF32, &kUe4m3, 16, 64, 1, 1, 0},
};
inline constexpr size_t kNvfp4 = 10;  // of them
inline constexpr MmaKindOf kIntegerKinds[] = {
    {"i8", &kS8, &kS8, &kS32, nullptr, 0, 32, 1, 1, 2},
    {"i8", &kU8, &kS8, &kS32, nullptr, 0, 32, 0, 1, 2},
    {"i8", &kS8, &kU8, &kS32, nullptr, 0, 32, 1, 0, 2},
    {"i8", &kU8, &kU8, &kS32, nullptr, 0, 32, 0, 0, 2},
};

// Bytes between rows that follow each other in a swizzle's atom, and the code in bits 61 to 63.
struct MmaSwizzle {
  const char* name;
  uint32_t span, code;
};
inline constexpr MmaSwizzle kMmaSwizzles[] = {
    {"none", 16, 0}, {"32 bytes", 32, 6}, {"64 bytes", 64, 4}, {"128 bytes", 128, 2}};
inline constexpr MmaSwizzle kAtomsOf32{"128 bytes in atoms of 32", 128, 1};  // of tf32 with MN-major

struct MmaCase {
  const MmaKindOf* kind = kMmaKindsOf;
  const MmaSwizzle* swizzle = kMmaSwizzles;
  uint32_t m = 128, n = 16;
  uint32_t ctas = 1;    // cta_group
  uint32_t issuer = 0;  // the CTA whose first thread issues
  uint32_t step = 0;    // the step-th 32 bytes of a swizzled row
  uint32_t scale_id = 0;
  bool accumulate = true;
  bool a_in_tensor = false;
  uint32_t lane = 0;                              // of the address of D, and of A in tensor memory
  bool stationary = false;                        // .ws
  bool transpose_a = false, transpose_b = false;  // MN-major
  bool negate_a = false, negate_b = false, saturate = false;
  int scale_d = -1;              // -1: not given
  std::optional<uint64_t> mask;  // zero-column mask descriptor
  uint32_t max_shift = 0;        // its code
  std::string collector;         // a modifier
  std::vector<uint32_t> keep;    // lanes to leave, 4 words a CTA
  // [row][k], [column][k], [row][column]; scales [row][scale]. B of .ws has 32 columns more than
  // N, for shifts.
  std::vector<uint32_t> a, b, c;
  std::vector<uint8_t> sa, sb;

  uint32_t scales() const {
    return kind->scale == nullptr ? 0 : kind->k / static_cast<uint32_t>(kind->vector);
  }
  uint32_t rows() const { return m / ctas; }  // of a CTA
};

// Codes, with infinities and NaN seldom so that sums keep something to say; whether D is added to, the step
// and the scale id are drawn too. The shape is that of `p`.
void fill(MmaCase& p, uint64_t seed);
MmaCase draw(const MmaKindOf& kind, const MmaSwizzle& swizzle, uint32_t m, uint32_t n, uint64_t seed,
             uint32_t ctas = 1);

// Each CTA has 128 threads: the image into shared memory, C and perhaps A into tensor memory, scales by
// tcgen05.cp, one MMA by one thread, D out. D's columns from 0 on, A's from 272, scales of A at 256, of B at
// 260. Named in it: %p1 thread 0 of a CTA, [bar] the barrier, %r4 the address of D, %x0 and %x1 the matrix
// descriptors, %r10 the instruction descriptor, %p3 whether D is added to.
std::string kernel(const MmaCase& p);
launch::Launch launch_of(const MmaCase& p);
// Runs `text`, or kernel(p); D's words by row and column. Throws as the simulator does.
// `strict`: notes are faults, and a random schedule keeps to the manual alone.
std::vector<uint32_t> run(const MmaCase& p, run::Schedule schedule = {}, const std::string& text = {},
                          bool strict = false);

uint32_t expected(const MmaCase& p, uint32_t row, uint32_t column);
// The column of B that a column of D takes, or nothing where it counts as zeros.
std::optional<uint32_t> source_column(const MmaCase& p, uint32_t column);
// "" where D is as expected in every row and every column, though not in all of both; else what the case was
// and which element is not.
std::string difference(const MmaCase& p, const std::vector<uint32_t>& d);

}  // namespace bitwell::probe
