// Tensor-core dot products: words that devices returned, an oracle that shares no code, and what directed
// operands can tell apart.
#include "model/number/dot.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "model/number/aligned_sum.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"
#include "verify/oracle/tensor_dot.h"

namespace bitwell::number {
namespace {

using Words = std::vector<uint32_t>;
using Scales = std::vector<uint8_t>;

// A and B of one format.
const DotRule* find_dot_rule(std::string_view architecture, std::string_view instruction, const Format& input,
                             const Format& output) {
  return number::find_dot_rule(architecture, instruction, input, input, output);
}
uint32_t dot(const DotRule& rule, const Format& f, const Words& a, const Words& b, uint32_t c,
             std::vector<DotChunk>* trace = nullptr) {
  return number::dot(rule, {&f, a}, {&f, b}, c, trace);
}
// One K step of the block-scaled kinds.
uint32_t mxf8f6f4_dot(const Format& f, const Words& a, const Words& b, uint32_t c, uint8_t sa, uint8_t sb) {
  const DotRule* rule = number::find_dot_rule("blackwell", "mxf8f6f4", f, f, f32, &ue8m0, 32);
  return number::dot(*rule, {&f, a, {&sa, 1}}, {&f, b, {&sb, 1}}, c);
}
uint32_t mxf4nvf4_dot(const Words& a, const Words& b, uint32_t c, const Format& scale, const Scales& sa,
                      const Scales& sb, std::vector<DotChunk>* trace = nullptr) {
  const DotRule* rule = number::find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, &scale,
                                              static_cast<int>(64 / sa.size()));
  return number::dot(*rule, {&e2m1, a, sa}, {&e2m1, b, sb}, c, trace);
}

Words hex_words(const std::string& text) {
  std::istringstream in(text);
  Words out;
  for (std::string w; in >> w;) out.push_back(static_cast<uint32_t>(std::stoul(w, nullptr, 16)));
  return out;
}

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out{""};
  for (const char c : line) {
    if (c == '|')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

// The code of an fp32 pattern whose value `f` holds exactly (NaN and infinity by kind).
uint32_t code_of(const Format& f, uint32_t single) {
  const Exact v = decode(f32, single);
  return static_cast<uint32_t>(encode(f, round(f, v, Rounding::nearest_even, Overflow::ieee)));
}
uint32_t widened(const Format& f, uint32_t code) {
  return f.name == "f32" ? code : static_cast<uint32_t>(encode(f32, decode(f, code)));
}

// Every file of words in shared/data, replayed with the row of its device.
TEST(TensorCoreWords, EveryDeviceIsReplayed) {
  const std::filesystem::path folder = BITWELL_WORDS;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no tensor-core words at " << folder;
  size_t files = 0;
  size_t compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".txt") continue;
    std::istringstream name(file.path().stem().string());
    std::string gpu;
    std::string in;
    std::string out;
    std::getline(name, gpu, '_');
    std::getline(name, in, '_');
    std::getline(name, out, '_');
    const char* architecture = gpu == "V100"   ? "volta"
                               : gpu == "A100" ? "ampere"
                               : gpu == "Ada"  ? "ada"
                               : gpu == "H100" ? "hopper"
                                               : "blackwell";
    const Format& input = *find_format(in == "fp16"   ? "f16"
                                       : in == "E4M3" ? "e4m3"
                                       : in == "E5M2" ? "e5m2"
                                                      : in);
    const Format& output = out == "fp16" ? f16 : f32;
    // The fp8 words of H100 with fp32 results come from wgmma without its addend (D is what C = 0 gives, in
    // all 800), all others from mma.sync.
    const bool warpgroup = gpu == "H100" && input.bits == 8 && out == "fp32";
    const DotRule* rule = find_dot_rule(architecture, warpgroup ? "wgmma" : "mma.sync", input, output);
    ASSERT_NE(rule, nullptr) << file.path();
    std::ifstream text(file.path());
    size_t wrong = 0;
    for (std::string line; std::getline(text, line);) {
      const std::vector<std::string> f = fields(line);
      if (f.size() != 4) continue;
      Words a = hex_words(f[0]);
      Words b = hex_words(f[1]);
      for (uint32_t& x : a) x = code_of(input, x);
      for (uint32_t& x : b) x = code_of(input, x);
      const uint32_t got = dot(*rule, input, a, b, warpgroup ? 0 : code_of(output, hex_words(f[2])[0]));
      wrong += widened(output, got) != hex_words(f[3])[0] ? 1 : 0;
      ++compared;
    }
    EXPECT_EQ(wrong, 0u) << file.path().filename();
    ++files;
  }
  std::printf("%zu words of %zu configurations\n", compared, files);
  EXPECT_GE(files, 20u);
}

struct BlackwellWord {
  std::string kind;
  Words a, b;
  uint32_t c;
  std::vector<uint8_t> sa, sb;
  uint32_t d;
};
std::vector<BlackwellWord> blackwell_words() {
  std::ifstream in(BITWELL_B200_WORDS);
  std::vector<BlackwellWord> out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> f = fields(line);
    const Words sa = hex_words(f[4]);
    const Words sb = hex_words(f[5]);
    BlackwellWord w{
        f[0].substr(0, f[0].find(' ')), hex_words(f[1]),        hex_words(f[2]),   hex_words(f[3])[0],
        {sa.begin(), sa.end()},         {sb.begin(), sb.end()}, hex_words(f[6])[0]};
    if (w.kind == "bf16")  // in an fp32 container, low bits dropped
      for (Words* v : {&w.a, &w.b})
        for (uint32_t& x : *v) x >>= 16;
    out.push_back(std::move(w));
  }
  return out;
}

uint32_t run(const BlackwellWord& w) {
  if (w.kind == "nvfp4") return mxf4nvf4_dot(w.a, w.b, w.c, ue4m3, w.sa, w.sb);
  if (w.kind == "mxf4") return mxf4nvf4_dot(w.a, w.b, w.c, ue8m0, w.sa, w.sb);
  if (w.kind == "mxf8f6f4-e2m1") return mxf8f6f4_dot(e2m1, w.a, w.b, w.c, w.sa[0], w.sb[0]);
  const Format& f = *find_format(w.kind);
  return dot(*find_dot_rule("blackwell", "tcgen05", f, f32), f, w.a, w.b, w.c);
}

TEST(Blackwell, EveryFrozenWord) {
  const std::vector<BlackwellWord> all = blackwell_words();
  EXPECT_EQ(all.size(), 23u);
  for (const BlackwellWord& w : all)
    EXPECT_EQ(run(w), w.d) << w.kind << std::hex << " " << run(w) << " " << w.d;
  const Words ones(64, 1);
  const Words zeros(64, 0);
  const std::vector<uint8_t> one(4, 0x38);
  std::vector<uint8_t> nan = one;
  nan[0] = 0x7F;
  EXPECT_EQ(mxf4nvf4_dot(ones, ones, 0, ue4m3, nan, one), 0x7FFFFFFFu);
  // All products zero and C = -0: +0 in every kind.
  EXPECT_EQ(mxf4nvf4_dot(zeros, zeros, 0x80000000, ue4m3, one, one), 0u);
  for (const DotRule& r : dot_rules()) {
    if (r.architecture != "blackwell" || r.instruction != "tcgen05") continue;
    for (const Format* f : r.inputs) {
      if (f == nullptr) continue;
      EXPECT_EQ(dot(r, *f, Words(32, 0), Words(32, 0), static_cast<uint32_t>(r.output->sign_mask())), 0u)
          << f->name;
    }
  }
  // The least subnormal times one.
  struct Least {
    const Format* f;
    uint32_t one, d;
  };
  for (const Least& l :
       {Least{&tf32, 0x3F800000, 0x00002000}, Least{&bf16, 0x3F80, 0x00010000},
        Least{&f16, 0x3C00, 0x33800000}, Least{&e4m3, 0x38, 0x3B000000}, Least{&e5m2, 0x3C, 0x37800000}}) {
    Words a(32, 0);
    Words b(32, 0);
    a[0] = 1u << l.f->ignored_low;
    b[0] = l.one;
    EXPECT_EQ(dot(*find_dot_rule("blackwell", "tcgen05", *l.f, f32), *l.f, a, b, 0), l.d) << l.f->name;
  }
}

// -0.875 = 2^23 - 2^23 - 0.5 - 0.25 - 0.125, with C = 2^23 (MMA-Sim, table 8): what each architecture keeps.
TEST(Rule, TheWorkedExampleOfThePaper) {
  const Words a{0x6C00, 0xB800, 0xB400, 0xB000};  // 2^12, -.5, -.25, -.125
  const Words b{0xE800, 0x3C00, 0x3C00, 0x3C00};  // -2^11, 1, 1, 1
  const auto d = [&](const char* architecture, const char* instruction) {
    return std::bit_cast<float>(
        dot(*find_dot_rule(architecture, instruction, f16, f32), f16, a, b, 0x4B000000));
  };
  EXPECT_EQ(d("volta", "mma.sync"), 0.0F);
  EXPECT_EQ(d("turing", "mma.sync"), -0.5F);
  EXPECT_EQ(d("ampere", "mma.sync"), -0.5F);
  EXPECT_EQ(d("hopper", "wgmma"), -0.75F);
  EXPECT_EQ(d("blackwell", "tcgen05"), -0.75F);
}

// Where published models disagree and no public word decides (MMA-Sim 2, which this model follows, against
// sf-tensor/tcgen05): this model's answer, the other's, and the operands that a B200 would be asked. Both
// need a group that cancels under the largest scales there are; random operands never do.
TEST(Blackwell, OpenCornersAreWrittenDown) {
  const auto nibbles = [](const std::string& text) {
    Words out;
    for (size_t i = 0; i < text.size(); i += 2)
      out.push_back(static_cast<uint32_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    return out;
  };
  struct Corner {
    const char *a, *b;
    uint32_t c;
    std::vector<uint8_t> sa, sb;
    uint32_t ours, theirs;
  };
  const Corner corners[] = {{"0c040c04030b01090f070c04020a0109050305010d03000b04090809050d010a000d010f01030d0"
                             "c0e02000c040f0d03020f0604000d000003020603040f0008",
                             "070705050b0b02020f0f080801010101020c0909050f010a0b0e0f0504030b050d0f0c0e080a090"
                             "8010a0004090d070c0c0c070e09000a08080d050109040408",
                             0,
                             {0x7E, 0x07, 0x07, 0x05},
                             {0x7D, 0x07, 0x04, 0x03},
                             0x39580000,
                             0x395A0000},
                            {"0703050e000b0d09050206010e0a0305020f0b0e0e07070f08000a0502080e0f0e0c0f0309010f0"
                             "d060c02080b070901080a0b0609070b090500080a01010302",
                             "03060b0305020f07040e060c070a0f0907020507040d030f060a040306060901030c050406050d0"
                             "b010e090f0f0b050c0d0202010001020b0002090e050f0a0f",
                             0xC8568000,
                             {0x7D, 0x06, 0x04, 0x03},
                             {0x7B, 0x06, 0x01, 0x06},
                             0xBA1A0000,
                             0xBA1A8000}};
  for (const Corner& c : corners) {
    const uint32_t got = mxf4nvf4_dot(nibbles(c.a), nibbles(c.b), c.c, ue4m3, c.sa, c.sb);
    EXPECT_EQ(got, c.ours);
    EXPECT_NE(got, c.theirs);
  }
  // Only one group is not zero: the others' scales do not count (MMA-Sim 1 says 0).
  Words a(64, 0);
  a[16] = 1;
  const std::vector<uint8_t> s{0x7E, 0x01, 0x38, 0x38};
  EXPECT_EQ(mxf4nvf4_dot(a, Words(64, 1), 0, ue4m3, s, s), 0x35800000u);
}

// Operands of a regime, drawn so that boundaries come up: 0 uniform bits, 1 near exponents, 2 wide exponents,
// 3 cancelling pairs, 4 specials, 5 subnormals, 6 sparse.
struct Draw {
  Words a, b;
  uint32_t c;
};
uint32_t any_code(const Format& f, std::mt19937_64& random, int regime) {
  const uint64_t bits = random();
  const uint64_t sign = (bits >> 60 & 1) != 0 ? f.sign_mask() : 0;
  const uint64_t fraction = bits & f.fraction_mask();
  uint64_t code = bits & (f.magnitude_mask() | f.sign_mask());
  if (regime == 1 || regime == 3)
    code =
        sign | fraction | static_cast<uint64_t>(f.bias + static_cast<int>(bits >> 40 & 1)) << f.fraction_bits;
  if (regime == 5) code = sign | fraction;
  if (regime == 6 && (bits >> 50) % 4 != 0) code = sign;
  const bool special = regime == 4 && (bits >> 45) % 16 == 0;
  if (special)
    code = sign |
           ((bits >> 44 & 1) != 0 ? f.magnitude_mask() : f.max_code() + (f.special == Special::none ? 0 : 1));
  if (!special && f.special != Special::none && (code & f.magnitude_mask()) > f.max_code())
    code &= ~(f.max_code() + 1) | f.sign_mask();
  return static_cast<uint32_t>((code & (f.magnitude_mask() | f.sign_mask())) << f.ignored_low);
}
Draw draw(const Format& input, const Format& output, size_t k, std::mt19937_64& random, int regime) {
  Draw d;
  for (size_t i = 0; i < k; ++i) {
    d.a.push_back(any_code(input, random, regime));
    d.b.push_back(any_code(input, random, regime));
    if (regime == 3 && i % 2 == 1) {  // a[i] b[i] = -a[i-1] b[i-1], now and then off by a bit
      d.a[i] = d.a[i - 1] ^ static_cast<uint32_t>(input.sign_mask() << input.ignored_low);
      d.b[i] = d.b[i - 1] ^ static_cast<uint32_t>(random() % 4 == 0 ? uint64_t{1} << input.ignored_low : 0);
    }
  }
  d.c = any_code(output, random, regime);
  return d;
}

oracle::FieldFormat fields_of(const Format& f) {
  return {f.exponent_bits, f.fraction_bits, f.bias,
          f.special == Special::ieee       ? 1
          : f.special == Special::nan_only ? 2
                                           : 0,
          f.ignored_low};
}
int result_of(DotRounding r) { return r == DotRounding::rz_f32 ? 0 : r == DotRounding::rz_e8m13 ? 1 : 2; }

TEST(Rule, EqualsTheOracleInEveryRowAndRegime) {
  std::mt19937_64 random(5);
  size_t compared = 0;
  for (const DotRule& r : dot_rules()) {
    if (r.emulated || r.scale != nullptr)
      continue;  // built of the rows below it, judged by words; scaled: below
    for (const Format* input : r.inputs) {
      if (input == nullptr) continue;
      for (int regime = 0; regime < 7; ++regime)
        for (int n = 0; n < 300; ++n) {
          const Draw d = draw(*input, *r.output, static_cast<size_t>(n % 3 == 0 ? 2 * r.length : r.length),
                              random, regime);
          const uint32_t expected =
              oracle::fused_dot({r.length, r.fraction_bits, result_of(r.rounding), r.zero_exponent},
                                fields_of(*input), d.a, fields_of(*input), d.b, d.c);
          ASSERT_EQ(dot(r, *input, d.a, d.b, d.c), expected)
              << r.architecture << " " << r.instruction << " " << input->name << " regime " << regime
              << " draw " << n;
          ++compared;
        }
    }
  }
  std::printf("%zu dot products\n", compared);
}

TEST(Rule, BlockScaledEqualsTheOracle) {
  std::mt19937_64 random(6);
  for (const bool exponents : {false, true})
    for (const size_t scales : {size_t{4}, size_t{2}}) {
      if (!exponents && scales == 2) continue;
      for (int n = 0; n < 20000; ++n) {
        const int regime = n % 7;
        Draw d = draw(e2m1, f32, 64, random, regime == 4 ? 0 : regime);
        if (regime == 6)
          for (size_t i = 0; i < 64; ++i)
            if (i / 16 != static_cast<size_t>(n) / 7 % 4) d.a[i] = 0;
        d.c = n % 5 == 0 ? 0 : any_code(f32, random, n % 11 == 0 ? 4 : n % 2 == 0 ? 0 : 1);
        std::vector<uint8_t> sa;
        std::vector<uint8_t> sb;
        for (size_t i = 0; i < scales; ++i)
          for (std::vector<uint8_t>* s : {&sa, &sb})
            s->push_back(static_cast<uint8_t>(exponents           ? 110 + random() % 40
                                              : random() % 8 == 0 ? random()
                                              : random() % 3 == 0 ? 0x78 + random() % 7
                                                                  : random() % 0x7F));
        ASSERT_EQ(mxf4nvf4_dot(d.a, d.b, d.c, exponents ? ue8m0 : ue4m3, sa, sb),
                  oracle::scaled_fp4_dot(d.a, d.b, d.c, exponents, sa, sb))
            << "scales " << scales << " draw " << n;
      }
    }
}

// The rows typed again as published (MMA-Sim, arXiv 2511.10909, and Khattak and Mikaitis, arXiv 2512.07004;
// Hopper's exponents of zero with fp16 results as measured on an H200): length, fraction bits, rounding,
// exponent of zero.
TEST(Rule, TheTableIsThePublishedOne) {
  struct Row {
    const char *architecture, *instruction, *input, *output;
    int length, fraction_bits;
    DotRounding rounding;
    int zero_exponent;
  };
  using enum DotRounding;
  for (const Row& r : {Row{"volta", "mma.sync", "f16", "f32", 4, 23, rz_f32, -131},
                       Row{"volta", "mma.sync", "f16", "f16", 4, 23, rne_f16, -19},
                       Row{"turing", "mma.sync", "f16", "f32", 8, 24, rz_f32, -132},
                       Row{"turing", "mma.sync", "f16", "f16", 8, 24, rne_f16, -20},
                       Row{"ampere", "mma.sync", "tf32", "f32", 4, 24, rz_f32, -132},
                       Row{"ampere", "mma.sync", "bf16", "f32", 8, 24, rz_f32, -132},
                       Row{"ampere", "mma.sync", "f16", "f16", 8, 24, rne_f16, -20},
                       Row{"ada", "mma.sync", "e4m3", "f32", 16, 13, rz_e8m13, -132},
                       Row{"ada", "mma.sync", "e5m2", "f16", 16, 13, rne_f16, -20},
                       Row{"hopper", "wgmma", "tf32", "f32", 8, 25, rz_f32, -133},
                       Row{"hopper", "wgmma", "bf16", "f32", 16, 25, rz_f32, -133},
                       Row{"hopper", "wgmma", "f16", "f16", 16, 25, rne_f16, -21},
                       Row{"hopper", "mma.sync", "f16", "f16", 16, 25, rne_f16, -21},
                       Row{"hopper", "wgmma", "e4m3", "f32", 32, 13, rz_e8m13, -133},
                       Row{"hopper", "wgmma", "e5m2", "f16", 32, 13, rne_f16, -21},
                       Row{"blackwell", "tcgen05", "tf32", "f32", 8, 25, rz_f32, -133},
                       Row{"blackwell", "tcgen05", "f16", "f16", 16, 25, rne_f16, -21},
                       Row{"blackwell", "tcgen05", "e2m1", "f32", 32, 25, rz_f32, -133},
                       Row{"blackwell", "tcgen05", "e3m2", "f16", 32, 25, rne_f16, -21},
                       Row{"blackwell", "mma.sync", "f16", "f16", 16, 25, rne_f16, -21}}) {
    const DotRule* rule =
        find_dot_rule(r.architecture, r.instruction, *find_format(r.input), *find_format(r.output));
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(rule->length, r.length) << r.architecture << r.input;
    EXPECT_EQ(rule->fraction_bits, r.fraction_bits) << r.architecture << r.input;
    EXPECT_EQ(rule->rounding, r.rounding) << r.architecture << r.input;
    EXPECT_EQ(rule->zero_exponent, r.zero_exponent) << r.architecture << r.input;
  }
}

// 2^-25 is half of the least fp16 value, and a small product decides the tie if it is kept: the least that is
// tells the exponent that the zeros beside it take part with. H200 for both of hopper's rows (device_test),
// MMA-Sim for the others. (For fp32 results no exponent of zero in the table can be seen: what it pushes out
// lies below the least fp32 value.)
TEST(Rule, TheExponentOfZeroIsSeenInFp16Results) {
  const auto least_kept = [&](const char* architecture, const char* instruction) {
    for (int e = -48; e < -38; ++e) {
      const Words a{0x0400, 1, 0, 0};               // 2^-14, 2^-24
      const Words b{0x1000, 1u << (e + 48), 0, 0};  // 2^-11, 2^(e + 24)
      if (dot(*find_dot_rule(architecture, instruction, f16, f16), f16, a, b, 0) == 1) return e;
    }
    return 0;
  };
  EXPECT_EQ(least_kept("volta", "mma.sync"), -42);
  EXPECT_EQ(least_kept("turing", "mma.sync"), -44);
  EXPECT_EQ(least_kept("ampere", "mma.sync"), -44);
  EXPECT_EQ(least_kept("ada", "mma.sync"), -44);
  EXPECT_EQ(least_kept("hopper", "mma.sync"), -46);
  EXPECT_EQ(least_kept("hopper", "wgmma"), -46);
  EXPECT_EQ(least_kept("blackwell", "mma.sync"), -46);
  EXPECT_EQ(least_kept("blackwell", "tcgen05"), -46);
}

TEST(Rule, Mxf8f6f4EqualsTheOracle) {
  std::mt19937_64 random(8);
  for (const Format* f : {&e4m3, &e5m2, &e2m3, &e3m2, &e2m1})
    for (int n = 0; n < 7000; ++n) {
      const Draw d = draw(*f, f32, 32, random, n % 7);
      const auto sa = static_cast<uint8_t>(n % 11 == 0 ? random() : 120 + random() % 16);
      const auto sb = static_cast<uint8_t>(n % 13 == 0 ? random() : 120 + random() % 16);
      const uint32_t expected = sa == 0xFF || sb == 0xFF
                                    ? 0x7FFFFFFF
                                    : oracle::fused_dot({32, 25, 0, -133}, fields_of(*f), d.a, fields_of(*f),
                                                        d.b, d.c, sa + sb - 254);
      ASSERT_EQ(mxf8f6f4_dot(*f, d.a, d.b, d.c, sa, sb), expected) << f->name << " draw " << n;
    }
  // F = 25: next to 2^17 (2^8 * 2^9 of E5M2), 2^-8 is the last bit kept and 2^-9 the first one cut.
  Words a(32, 0);
  Words b(32, 0);
  a[0] = a[2] = 0x5C;                                             // 2^8
  b[0] = 0x60;                                                    // 2^9
  b[2] = 0xE0;                                                    // -2^9
  a[1] = 0x1C;                                                    // 2^-8
  b[1] = 0x3C;                                                    // 1
  EXPECT_EQ(mxf8f6f4_dot(e5m2, a, b, 0, 127, 127), 0x3B800000u);  // 2^-8
  a[1] = 0x18;                                                    // 2^-9
  EXPECT_EQ(mxf8f6f4_dot(e5m2, a, b, 0, 127, 127), 0u);
  EXPECT_EQ(mxf8f6f4_dot(e5m2, a, b, 0, 130, 127), 0u);  // scales move the whole sum, not what is kept
}

// Scale-pair exponents and C's exponent at most 15: no product bit is lost: a group's term is a
// multiple of 2^(e - 8), of a quarter times two significands of three fraction bits, its scales' e is at
// least -12, and 35 bits below 2^15 reach down to that 2^-20.
TEST(Blackwell, NoProductBitIsLostUpToExponent15) {
  std::mt19937_64 random(7);
  const auto cuts = [](const DotChunk& chunk) {
    for (size_t i = 0; i + 1 < chunk.terms.size(); ++i)
      if (chunk.terms[i].cut) return true;
    return false;
  };
  for (int n = 0; n < 20000; ++n) {
    const Draw d = draw(e2m1, f32, 64, random, n % 2);
    std::vector<uint8_t> sa;
    std::vector<uint8_t> sb;
    for (int i = 0; i < 4; ++i) {
      // Exponents of a pair sum to at most 15, boundary first.
      const auto top = static_cast<uint8_t>(n % 4 == i ? 0x7E : random() % 0x7F);  // up to 2^8
      sa.push_back(top);
      sb.push_back(static_cast<uint8_t>(random() % 0x78));  // up to 2^7
    }
    const uint32_t c =
        static_cast<uint32_t>(127 + 15 - static_cast<int>(random() % 40)) << 23 | (random() & 0x7FFFFF);
    std::vector<DotChunk> trace;
    mxf4nvf4_dot(d.a, d.b, c, ue4m3, sa, sb, &trace);
    ASSERT_FALSE(cuts(trace[0])) << n;
  }
  // Beyond: one group at 2^16 and one of the least scales, the least product.
  Words a(64, 1);
  std::vector<DotChunk> trace;
  mxf4nvf4_dot(a, a, 0, ue4m3, std::vector<uint8_t>{0x7E, 1, 1, 1}, std::vector<uint8_t>{0x7E, 1, 1, 1},
               &trace);
  EXPECT_FALSE(cuts(trace[0]));  // 16 products of 1/4 make 4: the group's bits reach only 2^-16
  a[17] = 0;
  Words b(64, 1);
  trace.clear();
  for (size_t i = 17; i < 32; ++i)
    a[i] = 0;  // one product of 1/4 with scales of 2^-9: 2^-20, the unit is 2^-19
  mxf4nvf4_dot(a, b, 0, ue4m3, std::vector<uint8_t>{0x7E, 1, 1, 1}, std::vector<uint8_t>{0x7E, 1, 1, 1},
               &trace);
  EXPECT_TRUE(cuts(trace[0]));
}

// Directed operands at a row's truncation boundary: C = 1 decides the largest exponent, and products of
// 2^-(F - 1) .. 2^-(F + 1) times odd significands stand just above, on and below the last kept bit.
std::vector<Draw> directed(const DotRule& r, const Format& input) {
  std::vector<Draw> out;
  const auto code = [&](double v) {
    return static_cast<uint32_t>(encode(input, round(input, decode(f64, std::bit_cast<uint64_t>(v)),
                                                     Rounding::nearest_even, Overflow::saturate)));
  };
  const int reach = input.bias - 1 + input.fraction_bits;  // 2^-reach is the least subnormal
  for (int below = r.fraction_bits - 3; below <= r.fraction_bits + 3; ++below)
    for (const double big : {1.0, 1.5})
      for (const double small : {1.0, 1.5})
        for (const bool minus : {false, true}) {
          // The large term is a product where the format reaches, so that the small one can be 2^-below of
          // it.
          const int high = std::max(0, below - 2 * (reach - input.fraction_bits));
          if (high > 2 * input.emax()) continue;
          Draw d{Words(static_cast<size_t>(2 * r.length), 0), Words(static_cast<size_t>(2 * r.length), 0), 0};
          d.a[0] = code(std::ldexp(big, (high + 1) / 2));
          d.b[0] = code(std::ldexp(1.0, high / 2));
          const int low = high - below;
          for (size_t i = 1; i < static_cast<size_t>(2 * r.length); ++i) {
            d.a[i] = code(std::ldexp(minus ? -small : small, low / 2));
            d.b[i] = code(std::ldexp(1.0, low - low / 2));
          }
          out.push_back(d);
          // The large term leaves again at the end, so that what was kept is seen.
          Draw back = d;
          for (const size_t last :
               {static_cast<size_t>(r.length) - 1, static_cast<size_t>(2 * r.length) - 1}) {
            back.a[last] = d.a[0] ^ static_cast<uint32_t>(input.sign_mask() << input.ignored_low);
            back.b[last] = d.b[0];
            out.push_back(back);
          }
        }
  // Many large terms carry beyond the result's bits; a last one decides how they are rounded.
  for (int e = 1; e < r.fraction_bits + 3; ++e) {
    Draw d{Words(static_cast<size_t>(r.length), code(1.5)), Words(static_cast<size_t>(r.length), code(1.5)),
           0};
    d.a.back() = code(std::ldexp(1.875, -e / 2));
    d.b.back() = code(std::ldexp(1.0, -e + e / 2));
    out.push_back(d);
  }
  return out;
}

// fp32 with the 13 fraction bits of the fp8 rows, for a wrong rounding of them.
constexpr Format e8m13{"e8m13", 22, 32, 8, 13, 127, true, Special::ieee, 10, "a row of the test"};

// Wrong parameters, each caught by the directed operands: the mutation table.
TEST(Rule, DirectedOperandsCatchEveryWrongParameter) {
  std::printf("%-10s %-9s %-5s %-4s  %6s %6s %6s %6s\n", "arch", "instr", "in", "out", "F-1", "F+1", "L/2",
              "round");
  for (const DotRule& r : dot_rules()) {
    if (r.emulated || r.scale != nullptr) continue;
    const Format& input = *r.inputs[0];
    const std::vector<Draw> all = directed(r, input);
    DotRule wrong[4] = {r, r, r, r};
    wrong[0].fraction_bits -= 1;
    wrong[1].fraction_bits += 1;
    wrong[2].length /= 2;
    size_t caught[4] = {};
    for (const Draw& d : all) {
      const uint32_t right = dot(r, input, d.a, d.b, d.c);
      for (int m = 0; m < 3; ++m) caught[m] += dot(wrong[m], input, d.a, d.b, d.c) != right ? 1 : 0;
      // Another rounding of the same sums, chunk by chunk.
      std::vector<DotChunk> trace;
      dot(r, input, d.a, d.b, d.c, &trace);
      for (const DotChunk& chunk : trace) {
        if (!chunk.special.empty() || chunk.sum == 0) continue;
        Exact v;
        v.negative = chunk.sum < 0;
        v.significand = static_cast<u128>(std::abs(chunk.sum));
        v.exponent = chunk.largest - r.fraction_bits;
        const Rounding other =
            r.rounding == DotRounding::rne_f16 ? Rounding::toward_zero : Rounding::nearest_even;
        const Format& grid = r.rounding == DotRounding::rz_e8m13 ? e8m13 : *r.output;
        const auto code = static_cast<uint32_t>(encode(grid, round(grid, v, other, Overflow::ieee)));
        if (code != chunk.result) {
          ++caught[3];
          break;
        }
      }
    }
    std::printf("%-10s %-9s %-5s %-4s  %6zu %6zu %6zu %6zu  of %zu\n", std::string(r.architecture).c_str(),
                std::string(r.instruction).c_str(), std::string(input.name).c_str(),
                std::string(r.output->name).c_str(), caught[0], caught[1], caught[2], caught[3], all.size());
    for (int m = 0; m < 4; ++m)
      EXPECT_GT(caught[m], 0u) << r.architecture << " " << input.name << " mutation " << m;
  }
}

TEST(Rule, TypesThatAnArchitectureLacksHaveNoRow) {
  EXPECT_EQ(find_dot_rule("volta", "mma.sync", bf16, f32), nullptr);
  EXPECT_EQ(find_dot_rule("ampere", "mma.sync", e4m3, f32), nullptr);
  EXPECT_EQ(find_dot_rule("hopper", "tcgen05", f16, f32), nullptr);
  EXPECT_EQ(find_dot_rule("hopper", "wgmma", e2m1, f32), nullptr);
  EXPECT_EQ(find_dot_rule("hopper", "wgmma", bf16, f16), nullptr);
  EXPECT_EQ(find_dot_rule("blackwell", "tcgen05", f32, f32), nullptr);
  // 16-bit formats do not mix, nor any with e2m1 where there is none; scales are part of the row.
  EXPECT_EQ(number::find_dot_rule("hopper", "wgmma", f16, bf16, f32), nullptr);
  EXPECT_EQ(number::find_dot_rule("hopper", "wgmma", e4m3, e2m1, f32), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, &ue4m3, 32), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "mxf4", e2m1, e2m1, f32, &ue8m0, 16), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "mxf8f6f4", e2m1, e2m1, f32, &ue4m3, 32), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "tcgen05", e4m3, e4m3, f32, &ue8m0, 32), nullptr);
}

TEST(Rule, OperandsOfOtherTypesOrCountsAreRefused) {
  const DotRule& plain = *find_dot_rule("hopper", "wgmma", e4m3, f32);
  const DotRule& scaled = *number::find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, &ue4m3, 16);
  const Words k(64, 0);
  const Words less(63, 0);
  const Scales four(4, 0x38);
  const Scales three(3, 0x38);
  EXPECT_EQ(number::dot(plain, {&e4m3, k}, {&e5m2, k}, 0), 0u);
  EXPECT_EQ(number::dot(scaled, {&e2m1, k, four}, {&e2m1, k, four}, 0), 0u);
  EXPECT_THROW(number::dot(plain, {&e4m3, k}, {&e4m3, less}, 0), std::invalid_argument);
  EXPECT_THROW(number::dot(plain, {&e4m3, k}, {&e2m1, k}, 0), std::invalid_argument);
  EXPECT_THROW(number::dot(plain, {&e4m3, k, four}, {&e4m3, k}, 0), std::invalid_argument);
  EXPECT_THROW(number::dot(scaled, {&e2m1, k, four}, {&e2m1, k, three}, 0), std::invalid_argument);
  EXPECT_THROW(number::dot(scaled, {&e2m1, k}, {&e2m1, k}, 0), std::invalid_argument);
}

// A and B of different formats, in every row where they mix, scaled ones too.
TEST(Rule, MixedFormatsEqualTheOracle) {
  std::mt19937_64 random(9);
  size_t pairs = 0;
  for (const DotRule& r : dot_rules()) {
    if (r.emulated || !r.mixes()) continue;
    for (const Format* fa : r.inputs)
      for (const Format* fb : r.inputs) {
        if (fa == nullptr || fb == nullptr || fa == fb) continue;
        ++pairs;
        for (int n = 0; n < 7 * 60; ++n) {
          const auto k = static_cast<size_t>(r.scale == nullptr && n % 3 == 0 ? 2 * r.length : r.length);
          const Draw x = draw(*fa, *r.output, k, random, n % 7);
          const Draw y = draw(*fb, *r.output, k, random, n % 7);
          const auto sa = static_cast<uint8_t>(120 + random() % 16);
          const auto sb = static_cast<uint8_t>(120 + random() % 16);
          const bool scaled = r.scale != nullptr;
          const uint32_t expected =
              oracle::fused_dot({r.length, r.fraction_bits, result_of(r.rounding), r.zero_exponent},
                                fields_of(*fa), x.a, fields_of(*fb), y.b, x.c, scaled ? sa + sb - 254 : 0);
          const size_t scales = scaled ? 1 : 0;
          ASSERT_EQ(number::dot(r, {fa, x.a, {&sa, scales}}, {fb, y.b, {&sb, scales}}, x.c), expected)
              << r.architecture << " " << r.instruction << " " << fa->name << " " << fb->name << " draw "
              << n;
        }
      }
  }
  EXPECT_EQ(pairs,
            4u * 2 + 3u * 20);  // fp8 of Ada and of Hopper's wgmma; tcgen05's and mxf8f6f4's five formats
}

// Wrong parameters of block-scaled rows. Random operands do not tell 34, 35 and 36 fraction bits apart: a
// group under the largest scales that cancels beside groups of the least does.
TEST(Rule, DirectedOperandsCatchEveryWrongParameterOfScaledRows) {
  for (const DotRule& r : dot_rules()) {
    if (r.scale == nullptr) continue;
    constexpr size_t count = 6;
    DotRule wrong[count] = {r, r, r, r, r, r};
    wrong[0].fraction_bits -= 1;
    wrong[1].fraction_bits += 1;
    wrong[2].length /= 2;
    wrong[3].group = r.group == 1 ? 16 : r.group / 2;
    wrong[4].rounding = DotRounding::rz_e8m13;
    wrong[5].scale_vector = 2 * r.length;  // one scale for all
    size_t caught[count] = {};
    std::mt19937_64 random(10);
    const auto k = static_cast<size_t>(2 * r.length);
    const Format& f = *r.inputs[0];
    for (int n = 0; n < 4000; ++n) {
      Draw d = draw(f, f32, k, random, 1);
      Scales sa;
      Scales sb;
      const size_t loud = random() % r.scales(k);  // the scale whose products cancel
      for (size_t s = 0; s < r.scales(k); ++s)
        for (Scales* v : {&sa, &sb}) {
          const auto low = static_cast<uint8_t>(1 + random() % 7);
          if (r.scale == &ue4m3)
            v->push_back(s == loud ? static_cast<uint8_t>(0x78 + random() % 7) : low);
          else
            v->push_back(static_cast<uint8_t>(s == loud ? 135 : 116 + low));
        }
      const auto vector = static_cast<size_t>(r.scale_vector);
      for (size_t i = loud * vector; i < (loud + 1) * vector; i += 2) {
        d.a[i + 1] = d.a[i] ^ static_cast<uint32_t>(f.sign_mask());
        d.b[i + 1] = d.b[i];
      }
      d.c = n % 2 == 0 ? 0 : d.c;
      const uint32_t right = number::dot(r, {&f, d.a, sa}, {&f, d.b, sb}, d.c);
      for (size_t m = 0; m < count; ++m) {
        const size_t scales = wrong[m].scales(k);
        caught[m] += number::dot(wrong[m], {&f, d.a, std::span(sa).first(scales)},
                                 {&f, d.b, std::span(sb).first(scales)}, d.c) != right;
      }
    }
    for (size_t m = 0; m < count; ++m)
      EXPECT_GT(caught[m], 0u) << r.instruction << " " << r.scale->name << " " << r.scale_vector
                               << " mutation " << m;
  }
}

}  // namespace
}  // namespace bitwell::number
