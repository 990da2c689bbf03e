// Words that devices returned, and the examples and open corners that publications give.
#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dot_draw.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

namespace bitwell::number {
namespace {

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

}  // namespace
}  // namespace bitwell::number
