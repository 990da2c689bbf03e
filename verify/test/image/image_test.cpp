// PTX out of what nvcc's tools made of one source, whole and broken.
#include "verify/image/image.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "model/machine/failure.h"
#include "model/ptx/parse.h"

namespace bitwell::image {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(std::string(BITWELL_TEST_IMAGES) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string ptx(const std::string& text, const Wanted& wanted = {}) { return ptx_of(bytes_of(text), wanted); }

std::string refusal(const std::string& text, const Wanted& wanted = {}) {
  try {
    return "taken: " + ptx(text, wanted);
  } catch (const machine::InputError& e) {
    return e.what();
  }
}
bool says(const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; }

// Line by line, without comments, CUDA lines and blanks, which machine code does not keep.
std::vector<std::string> instructions(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find("//"));
    for (const char* directive : {".loc", ".file"})
      if (says(line, directive)) line.clear();
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
    out.push_back(line);
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

TEST(Image, TextIsItself) {
  EXPECT_EQ(ptx(file("scale.ptx")), file("scale.ptx"));
  EXPECT_FALSE(is_binary(bytes_of(file("scale.ptx"))));
  EXPECT_EQ(ptx(file("scale.ptx") + std::string(7, '\0')), file("scale.ptx"));
}

// Without comments and blanks, which fatbinary takes out; with its CUDA lines, which machine code has not.
TEST(Image, FatBinariesHoldThePtxHoweverItIsPacked) {
  for (const char* mode : {"none", "speed", "balance", "size"}) {
    const std::string fat = file(std::string(mode) + ".fatbin");
    EXPECT_TRUE(is_binary(bytes_of(fat))) << mode;
    EXPECT_EQ(instructions(ptx(fat)), instructions(file("scale.ptx"))) << mode;
    EXPECT_TRUE(says(ptx(fat), ".loc")) << mode;
  }
}

// Its lines have the numbers that they had.
TEST(Image, MachineCodeWithLinesHoldsThePtx) {
  const std::vector<std::string> all = instructions(file("scale.ptx"));
  ASSERT_GT(all.size(), 20u);
  EXPECT_EQ(instructions(ptx(file("lines.cubin"))), all);
  EXPECT_EQ(instructions(ptx(file("scale.o"))), all);
}

// Of each instruction of a text, in order: its opcode, and where it comes from.
std::vector<std::pair<std::string, std::string>> places(const std::string& text) {
  const ptx::Module module = ptx::parse(text);
  const auto words = [&](const ptx::SourceLine& source) {
    std::string out;
    for (const ptx::SourceLine* at = &source; at->line > 0;) {
      const std::string& name = module.files.at(at->file);
      out += name.substr(name.rfind('/') + 1) + ":" + std::to_string(at->line) + " ";
      if (at->inlined_at < 0) break;
      at = &module.inlined_at[static_cast<size_t>(at->inlined_at)];
    }
    return out;
  };
  std::vector<std::pair<std::string, std::string>> out;
  const std::function<void(const std::vector<ptx::Statement>&)> add = [&](const auto& body) {
    for (const ptx::Statement& s : body) {
      const ptx::Instruction& i = s.instruction;
      if (s.kind == ptx::Statement::Kind::instruction)
        out.emplace_back(i.opcode + (i.modifiers.empty() ? "" : i.modifiers[0]), words(i.source));
      add(s.body);
    }
  };
  for (const ptx::Function& f : module.functions) add(f.body);
  return out;
}

// Machine code has them beside the text: of what it needs instructions for, and of what stands beside that.
TEST(Image, MachineCodeWithLinesHoldsTheCudaLines) {
  const auto all = places(file("inlined.ptx")), kept = places(ptx(file("inlined.cubin")));
  ASSERT_EQ(all.size(), kept.size());
  size_t known = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(kept[i].first, all[i].first) << i;
    if (!kept[i].second.empty()) {
      EXPECT_EQ(kept[i].second, all[i].second) << i << " " << all[i].first;
      ++known;
    }
    for (const char* what : {"ld.global", "ld.shared", "st.global", "st.shared", "bar.sync"})
      EXPECT_TRUE(all[i].first != what || !kept[i].second.empty()) << i << " " << what;
  }
  EXPECT_GT(known, all.size() / 2);
  EXPECT_TRUE(std::count(kept.begin(), kept.end(),
                         std::pair<std::string, std::string>(
                             "ld.shared", "inlined.cu:4 inlined.cu:8 inlined.cu:22 ")) == 1);
}

TEST(Image, OfSeveralTargetsTheNewestThatTheDeviceRuns) {
  const auto target = [](const std::string& text) {
    const size_t at = text.find("sm_");
    return text.substr(at, text.find_first_of(", \n", at) - at);
  };
  const std::string fat = file("targets.fatbin");
  EXPECT_EQ(target(ptx(fat)), "sm_100a");
  EXPECT_EQ(target(ptx(fat, {.sm = 90})), "sm_90a");
  EXPECT_EQ(target(ptx(fat, {.sm = 89})), "sm_80");
  EXPECT_EQ(target(ptx(fat, {.sm = 120})), "sm_80");
  EXPECT_TRUE(says(refusal(fat, {.sm = 75}), "(sm_100a, sm_80, sm_90a) is for a device of sm_75"));
}

TEST(Image, MachineCodeAloneNamesTheSwitches) {
  const std::string said = refusal(file("bare.cubin"));
  EXPECT_TRUE(says(said, "machine code only (sm_90)")) << said;
  for (const char* remedy : {"-lineinfo", "CUTE_DSL_LINEINFO", "DG_JIT_WITH_LINEINFO",
                             "FLASHINFER_JIT_LINEINFO", "lineinfo=True", "code=compute_90a"})
    EXPECT_TRUE(says(said, remedy)) << remedy << " in: " << said;
  EXPECT_TRUE(says(refusal(file("bare.cubin"), {.sm = 100}), "code=compute_100a"));
}

TEST(Image, AFolderHasThePtxOfMachineCodeByItsEntries) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bitwell-image-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "deeper");
  std::ofstream(folder / "other.ptx") << ".version 9.0\n.target sm_90a\n.visible .entry other() { ret; }\n";
  EXPECT_TRUE(says(refusal(file("bare.cubin"), {.folder = folder}), "has none for it"));
  std::ofstream(folder / "deeper" / "any name.ptx") << file("scale.ptx");
  EXPECT_EQ(ptx(file("bare.cubin"), {.folder = folder}), file("scale.ptx"));
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(says(refusal(file("bare.cubin"), {.folder = folder}), "cannot look for PTX in"));
}

TEST(Image, SeveralSourcesAreNotGuessedAmong) {
  const std::string said = refusal(file("two.fatbin"));
  EXPECT_TRUE(says(said, "it has 2 PTX texts (scale, twice)")) << said;
  EXPECT_EQ(candidates(read(bytes_of(file("two.fatbin")))).size(), 2u);
}

// Wherever a file ends, and whatever one of its words says, nothing is read outside of it. The bytes stand at
// the end of a page behind which there is none.
TEST(Image, BrokenFilesAreRefused) {
  std::mt19937 random(1);
  constexpr size_t room = 1 << 16;
  auto* const pages = static_cast<std::byte*>(
      mmap(nullptr, 2 * room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + room, room, PROT_NONE), 0);
  for (const char* name :
       {"lines.cubin", "inlined.cubin", "scale.o", "none.fatbin", "speed.fatbin", "size.fatbin"}) {
    const std::string whole = file(name);
    ASSERT_LT(whole.size(), room);
    const auto at_the_end = [&](const std::string& bytes) {
      std::byte* const from = pages + room - bytes.size();
      std::memcpy(from, bytes.data(), bytes.size());
      try {
        ptx_of({from, bytes.size()});
      } catch (const machine::InputError& e) {
        EXPECT_STRNE(e.what(), "");
      }
    };
    for (size_t size = 1; size < whole.size(); size += 13) at_the_end(whole.substr(0, size));
    for (int i = 0; i < 4000; ++i) {
      std::string broken = whole;
      const bool head = i % 2 == 0;  // where the offsets are
      const size_t at = random() % (head ? 200 : broken.size() - 8);
      const uint64_t value = i % 3 == 0 ? ~uint64_t{0} : i % 3 == 1 ? uint64_t{1} << random() % 64 : random();
      std::memcpy(broken.data() + at, &value, 1 + random() % 8);
      at_the_end(broken);
    }
  }
  munmap(pages, 2 * room);
  EXPECT_TRUE(says(refusal(file("lines.cubin").substr(0, 900)), "ends before its own sections"));
  std::string absurd = file("lines.cubin");
  std::memset(absurd.data() + 40, 0xff, 8);  // e_shoff
  EXPECT_TRUE(says(refusal(absurd), "ends before its own sections"));
  EXPECT_TRUE(says(refusal(file("none.fatbin").substr(0, 60)), "longer than what is there"));
}

// A program hands over a pointer: it is read no further than memory goes.
TEST(Image, APointerIsReadAsFarAsMemoryGoes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<std::byte*>(
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  munmap(pages + 2 * page, page);
  EXPECT_EQ(readable(pages + 1).size(), 2 * page - 1);
  mprotect(pages + page, page, PROT_READ);
  EXPECT_EQ(readable(pages + page - 100).size(), page + 100);
  mprotect(pages + page, page, PROT_NONE);
  EXPECT_EQ(readable(pages).size(), page);
  EXPECT_EQ(readable(pages + page).size(), 0u);
  EXPECT_EQ(readable(nullptr).size(), 0u);
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace bitwell::image
