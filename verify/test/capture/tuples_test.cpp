// Raw words of a device: read as they were written, and the first wrong one named. The words here are made
// up.
#include "verify/capture/tuples.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "../kernel.h"
#include "verify/capture/digest.h"
#include "verify/probe/recorded.h"

namespace bitwell::capture {
namespace {

class File {
 public:
  File()
      : path_(std::filesystem::temp_directory_path() /
              ("bitwell-tuples-" + std::to_string(getpid()) + ".xz")) {}
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

RC_GTEST_PROP(Tuples, AreReadAsTheyWereWritten, ()) {
  const auto words = rc::gen::container<std::vector<uint64_t>>(
      rc::gen::element<uint64_t>(0, 1, 0x3f800000, UINT64_MAX, uint64_t{1} << 63));
  Tuples all{"a GPU", "1 (CUDA 2)", {}};
  const auto count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    std::vector<Tuple>& of = all.of["add." + std::to_string(i)];
    for (int n = 0; n < i; ++n) {
      Tuple t{*words, *words};
      t.results.push_back(7);
      of.push_back(t);
    }
  }
  const File file;
  write_tuples(file.path(), all);
  const std::optional<Tuples> again = read_tuples(file.path());
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->device == all.device);
  RC_ASSERT(again->driver == all.driver);
  RC_ASSERT(again->of.size() == all.of.size());
  for (const auto& [name, tuples] : all.of) RC_ASSERT(first_wrong(tuples, again->of.at(name)).empty());
}

TEST(Tuples, AFileThatIsNoneIsRefusedByName) {
  const File file;
  EXPECT_FALSE(read_tuples(file.path()).has_value());
  const auto refusal = [&]() -> std::string {
    try {
      read_tuples(file.path());
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  std::ofstream(file.path()) << "no xz";
  EXPECT_NE(refusal().find(file.path() + "' is no xz file"), std::string::npos) << refusal();
  // A name twice cannot be written as a map; a name with > reads as a tuple.
  write_tuples(file.path(), {"a GPU", "1", {{"add > mul", {}}}});
  EXPECT_NE(refusal().find("line 3: not 'inputs > results'"), std::string::npos) << refusal();
  write_tuples(file.path(), {"a GPU", "1", {{"", {}}}});
  EXPECT_NE(refusal().find("line 3: not the name"), std::string::npos) << refusal();
  write_tuples(file.path(), {"a GPU", "1", {{"add", {{{1, 2}, {}}}}}});
  EXPECT_NE(refusal().find("line 4: not 'inputs > results'"), std::string::npos) << refusal();
  std::string packed = launch::read_file(file.path());
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 1);
  std::ofstream(file.path()) << packed;
  EXPECT_NE(refusal().find("damaged"), std::string::npos) << refusal();
}

probe::Probe add() { return {"add.u32", {".u32", ".u32"}, {".u32"}, "", false, "probe"}; }

launch::Launch ran(const probe::Probe& p) {
  launch::Launch launch = probe::recorded_launch(p);
  test::run_ptx(probe::probe_module({p}, "sm_90a"), launch);
  return launch;
}

TEST(Tuples, OfALaunchAreItsOperandsAndResults) {
  const probe::Probe p = add();
  const std::vector<Tuple> kept = probe::kept_tuples(p, ran(p));
  ASSERT_EQ(kept.size(), 64u);
  std::set<std::vector<uint64_t>> different;
  for (const Tuple& t : kept) {
    ASSERT_EQ(t.inputs.size(), 2u);
    ASSERT_EQ(t.results.size(), 1u);
    EXPECT_EQ(t.results[0], (t.inputs[0] + t.inputs[1]) % (uint64_t{1} << 32));
    different.insert(t.inputs);
  }
  EXPECT_GE(different.size(), 48u);
}

TEST(Tuples, AWrongDigestNamesTheFirstWrongOne) {
  const probe::Probe p = add();
  const launch::Launch launch = ran(p);
  const Capture right{"a GPU", "1", "13.0", {{"add.u32", probe::digest_of(launch)}}};
  const Capture other{"a GPU", "1", "13.0", {{"add.u32", "0000000000000000"}}};
  Tuples words{"a GPU", "1", {{"add.u32", probe::kept_tuples(p, launch)}}};
  EXPECT_EQ(probe::difference(p, launch, right, words), "");
  EXPECT_EQ(probe::difference(p, launch, right, std::nullopt), "");
  const std::string digest =
      "add.u32 (a GPU): digest " + probe::digest_of(launch) + " expected 0000000000000000; ";
  EXPECT_EQ(probe::difference(p, launch, other, std::nullopt), digest + "no raw words are kept of it");
  EXPECT_EQ(probe::difference(p, launch, other, words), digest + "the 64 tuples that are kept are right");
  // The GPU said something else of tuples 5 and 9.
  std::vector<Tuple>& of = words.of["add.u32"];
  of[5].results = {0xABC};
  of[9].results = {0xDEF};
  char expected[128];
  const Tuple fifth = probe::kept_tuples(p, launch)[5];
  std::snprintf(expected, sizeof expected, "tuple 5: %llx %llx => %llx expected abc",
                static_cast<unsigned long long>(fifth.inputs[0]),
                static_cast<unsigned long long>(fifth.inputs[1]),
                static_cast<unsigned long long>(fifth.results[0]));
  EXPECT_EQ(probe::difference(p, launch, other, words), digest + expected);
  EXPECT_EQ(
      probe::difference(p, launch, right, words),
      std::string("add.u32 (a GPU): the digest is the recorded one and the raw words are not: ") + expected);
  of[5] = fifth;
  of[9] = probe::kept_tuples(p, launch)[9];
  of[2].inputs[1] ^= 1;
  EXPECT_NE(probe::difference(p, launch, other, words).find("tuple 2: the operands "), std::string::npos);
}

TEST(Tuples, WordsAreSpreadOverAllOutputs) {
  launch::Launch launch;
  for (const size_t size : {800, 8, 1600}) {
    launch::Buffer b;
    b.bytes.assign(size, std::byte{static_cast<uint8_t>(launch.buffers.size() + 1)});
    b.output = size != 8;
    launch.buffers.push_back(b);
  }
  const std::vector<std::byte> outputs = probe::outputs_of(launch);
  ASSERT_EQ(outputs.size(), 2400u);
  const std::vector<Tuple> kept = probe::kept_words(outputs, 64);  // of 300 words
  ASSERT_EQ(kept.size(), 64u);
  for (size_t i = 0; i < kept.size(); ++i) {
    const uint64_t word = 4 * i + i % 4;
    EXPECT_EQ(kept[i].inputs, std::vector<uint64_t>{8 * word});
    EXPECT_EQ(kept[i].results, std::vector<uint64_t>{uint64_t{0x0101010101010101} * (word < 100 ? 1u : 3u)});
  }
  EXPECT_EQ(probe::kept_words(std::span(outputs).first(23), 64).size(), 2u);
  EXPECT_EQ(probe::kept_words({}, 64).size(), 0u);

  // One wrong bit in a word that is kept is named; a wrong digest alone is not.
  Digest digest;
  digest.add(outputs);
  const Capture recorded{"a GPU", "1", "13.0", {{"copy", digest.hex()}}};
  const Tuples words{"a GPU", "1", {{"copy", kept}}};
  EXPECT_EQ(probe::difference("copy", outputs, recorded, words), "");
  std::vector<std::byte> wrong = outputs;
  wrong[8 * 5] ^= std::byte{0x80};
  EXPECT_NE(probe::difference("copy", wrong, recorded, words)
                .find("; tuple 1: 28 => 101010101010181 expected "
                      "101010101010101"),
            std::string::npos)
      << probe::difference("copy", wrong, recorded, words);
  EXPECT_EQ(probe::difference("move", outputs, recorded, words), "move is not recorded");
}

}  // namespace
}  // namespace bitwell::capture
