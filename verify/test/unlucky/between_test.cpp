// The kernel between repeated launches, on the simulator: what it counts and puts back, beside plain loops.
#include "verify/device/between.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>

#include "../kernel.h"

namespace bitwell::bugs {
namespace {

using Words = std::vector<uint32_t>;

std::vector<std::byte> bytes_of(const Words& words) {
  std::vector<std::byte> out(4 * words.size());
  std::memcpy(out.data(), words.data(), out.size());
  return out;
}

Words words_of(const std::vector<std::byte>& bytes) {
  Words out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

struct Case {
  Words before, compared;
  std::vector<Words> ends;
  std::vector<Words> left;  // by each launch
};
struct Judged {
  std::vector<Words> put_back;
  Words wrong;
  std::vector<Words> example;
  bool operator==(const Judged&) const = default;
};
constexpr uint32_t kUntouched = 0x11111111;  // of the examples

Judged expected(const Case& c) {
  Judged out;
  for (const Words& left : c.left) {
    bool legal = false;
    for (const Words& end : c.ends) {
      bool same = true;
      for (size_t w = 0; w < left.size(); ++w) same = same && ((left[w] ^ end[w]) & c.compared[w]) == 0;
      legal = legal || same;
    }
    out.put_back.push_back(c.before);
    out.wrong.push_back(5 + (legal ? 0 : 1));
    out.example.push_back(legal ? Words(left.size(), kUntouched) : left);
  }
  return out;
}

Judged by_the_kernel(const Case& c, uint32_t threads) {
  const size_t words = c.before.size(), launches = c.left.size();
  launch::Launch launch;
  launch.entry = device::kBetween;
  launch.shape.grid[0] = static_cast<uint32_t>(launches) + 1;
  launch.shape.block[0] = threads;
  launch.shape.dynamic_shared = 1040;
  Words ends;
  for (const Words& end : c.ends) ends.insert(ends.end(), end.begin(), end.end());
  launch::Buffer places;
  places.name = "places";
  places.bytes.resize(8 * words * launches);
  for (size_t i = 0; i < launches; ++i)
    for (size_t w = 0; w < words; ++w) places.pointers.push_back({8 * (i * words + w), 6 + i, 4 * w});
  launch.add_buffer(places);
  for (const Words& part :
       {c.before, c.compared, ends, Words(launches, 5), Words(words * launches, kUntouched)})
    launch.add_buffer({"table", bytes_of(part)});
  for (const Words& left : c.left) launch.add_hidden_buffer({"left", bytes_of(left)});
  for (const size_t n : {words, c.ends.size(), launches, size_t{1040}})
    launch.add_scalar(static_cast<uint32_t>(n));
  test::run_ptx(device::between_launches(), launch);
  Judged out;
  out.wrong = words_of(launch.buffers[4].bytes);
  const Words examples = words_of(launch.buffers[5].bytes);
  for (size_t i = 0; i < launches; ++i) {
    out.put_back.push_back(words_of(launch.buffers[6 + i].bytes));
    out.example.emplace_back(&examples[i * words], &examples[i * words] + words);
  }
  return out;
}

TEST(Between, TheSecondEndIsLegalTooAndBitsThatDoNotCountMayDiffer) {
  const Case c{{7, 7},
               {0xFFFFFFFF, 0xFFFF0000},
               {{1, 0x20000}, {3, 0x40000}},
               {{3, 0x40009}, {1, 0x40000}, {1, 0x20000}}};
  const Judged judged = by_the_kernel(c, 32);
  EXPECT_EQ(judged.wrong, (Words{5, 6, 5}));
  EXPECT_EQ(judged.example[1], (Words{1, 0x40000}));
  EXPECT_TRUE(judged == expected(c));
}

TEST(Between, ALaunchIsWrongIfItLeftNoneOfTheEnds) {
  const bool held = rc::check("counts and words put back are those of plain loops", [] {
    const auto words = *rc::gen::inRange<size_t>(1, 80);
    const auto some = [&] {
      return *rc::gen::container<Words>(words, rc::gen::element<uint32_t>(0, 0, 0, 1, 0x100, 0x80000000));
    };
    Case c{
        some(), *rc::gen::container<Words>(words, rc::gen::element<uint32_t>(0, 0xFF, 0xFFFFFFFF)), {}, {}};
    for (auto n = *rc::gen::inRange(1, 4); n > 0; --n) c.ends.push_back(some());
    for (auto n = *rc::gen::inRange(1, 4); n > 0; --n) {
      Words left = *rc::gen::elementOf(c.ends);
      if (*rc::gen::arbitrary<bool>()) left[*rc::gen::inRange<size_t>(0, words)] ^= 0x101;
      c.left.push_back(left);
    }
    RC_ASSERT(by_the_kernel(c, *rc::gen::element(32u, 64u)) == expected(c));
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace bitwell::bugs
