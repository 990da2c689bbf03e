// Device malloc and free (CUDA programming guide 13.0, "Dynamic Global Memory Allocation and Operations").
#include <gtest/gtest.h>

#include <cstring>

#include "../kernel.h"
#include "verify/capture/captures.h"

namespace bitwell::run {
namespace {

const std::string& heap_ptx() {
  static const std::string path = capture::share_folder("test") + "/heap.ptx";
  return path;
}

struct HeapRan {
  std::vector<uint32_t> words;
  std::string fault;
};
// Of an entry with a buffer of `words` words, and a number behind it if there is one.
HeapRan run_heap(const std::string& entry, uint32_t threads, size_t words,
                 std::optional<uint32_t> number = {}, std::optional<uint64_t> heap = {},
                 Policy policy = Policy::lazy) {
  launch::Launch l;
  l.ptx = heap_ptx();
  l.entry = entry;
  l.shape.block = {threads, 1, 1};
  l.heap = heap;
  l.add_buffer({"buffer", std::vector<std::byte>(4 * words), true, false, true});
  if (number) l.add_scalar(*number);
  run::Options options;
  options.schedule = {policy, 3};
  HeapRan out;
  try {
    test::run_file(l, options);
  } catch (const machine::Fault& e) {
    out.fault = e.what();
  }
  out.words.resize(words);
  std::memcpy(out.words.data(), l.buffers[0].bytes.data(), 4 * words);
  return out;
}

TEST(DeviceHeap, ObjectsOfManyThreadsAreApart) {
  for (const PolicyName& p : run::kPolicies) {
    const HeapRan r = run_heap("lists", 64, 64, {}, {}, p.policy);
    EXPECT_EQ(r.fault, "") << p.name;
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r.words[i], i * (i + 1) / 2) << p.name;
  }
}

// It holds 8 MiB, or what the launch says; objects take units of 16 bytes.
TEST(DeviceHeap, IsFullWhenItIs) {
  EXPECT_EQ(run_heap("fill", 1, 1, 1 << 20).words[0], 8u);
  EXPECT_EQ(run_heap("fill", 1, 1, (1 << 20) + 1).words[0], 7u);
  EXPECT_EQ(run_heap("fill", 1, 1, 16, 160).words[0], 10u);
  EXPECT_EQ(run_heap("fill", 1, 1, 17, 160).words[0], 5u);
  EXPECT_EQ(run_heap("fill", 1, 1, 161, 160).words[0], 0u);
}

TEST(DeviceHeap, MistakesAreNamed) {
  const auto fault = [](uint32_t which) { return run_heap("mistake", 1, 1, which).fault; };
  const auto has = [&](uint32_t which, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      EXPECT_NE(fault(which).find(part), std::string::npos) << which << ": " << fault(which);
  };
  has(0, {"out-of-bounds read of 4 bytes", "40 bytes into 'malloc at PTX line ",
          "(heap.cu:41), CTA (0,0,0), thread (0,0,0)' of 40 bytes"});
  has(1, {"never written"});
  has(2, {"out-of-bounds read", "malloc at PTX line", "which was freed at PTX line ",
          "(heap.cu:45), CTA (0,0,0), thread (0,0,0)"});
  has(3, {"out-of-bounds write", "4 bytes into", "which was freed at PTX line"});
  has(4, {"a second free of what was freed at PTX line", "(heap.cu:45)"});
  has(5, {"free of an address that malloc did not give", "'buffer'"});
  has(6, {"free of an address that malloc did not give"});
  EXPECT_EQ(fault(7), "") << "free of no address";
}

// What is kept stays for the next launch, and is no fault.
TEST(DeviceHeap, ObjectsOutliveTheLaunch) {
  launch::Launch l;
  l.ptx = heap_ptx();
  l.entry = "keep";
  l.add_buffer({"kept", std::vector<std::byte>(8), true, false, true});
  l.buffers.push_back({"out", std::vector<std::byte>(4), true, false, true});
  launch::Step take;
  take.ptx = heap_ptx();
  take.entry = "take";
  take.arguments = {{{}, 0}, {{}, 1}};
  l.then = {take};
  test::run_file(l);
  uint32_t value = 0;
  std::memcpy(&value, l.buffers[1].bytes.data(), 4);
  EXPECT_EQ(value, 77u);
  l.then.push_back(take);  // once more: it was freed
  EXPECT_THROW(test::run_file(l), machine::Fault);
}

}  // namespace
}  // namespace bitwell::run
