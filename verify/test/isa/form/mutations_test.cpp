// ptxas as the oracle of syntax: over seeded mutations of real PTX, bitwell accepts nothing that ptxas
// refuses, and what ptxas accepts runs or is refused by name as unsupported.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "model/ptx/parse.h"
#include "verify/capture/captures.h"
#include "verify/launch/launch.h"
#include "verify/probe/tensor.h"

namespace bitwell::isa {
namespace {

struct Exception {
  const char* part;  // of the message of the side that refuses
  const char* why;
};
// What bitwell accepts and ptxas refuses, on purpose.
constexpr Exception kPtxasRefuses[] = {
    {"Segmentation fault", "ptxas 13.0 itself dies on some texts"},
};
// What ptxas accepts and bitwell calls wrong, on purpose.
constexpr Exception kBitwellRefuses[] = {
    {"expected ';', found '['", "an array element as an address, `retval0[+8]`, with no brackets around it"},
    {"is .b16, not an address", "a 16-bit register as a 64-bit address, of which ptxas only warns"},
    {"is .f32 where .u32 is needed", "ptxas lets a vector mix .f32 and .b32 registers whatever the type"},
    {"is .f32 where .b32 is needed", "the same, in a fragment of mma"},
    {"unknown function directive, found '.func'", "ptxas takes a declaration without its semicolon"},
    {"unknown function directive, found '.global'", "the same"},
};

template <size_t n>
bool listed(const Exception (&list)[n], const std::string& message) {
  return std::any_of(std::begin(list), std::end(list),
                     [&](const Exception& e) { return message.find(e.part) != std::string::npos; });
}

// What bitwell says of a text: it runs, a form in it is refused by name, or the text is wrong.
struct Judgement {
  enum class Kind { runs, unsupported, wrong };
  Kind kind;
  std::string message;
};

Judgement judge(const std::string& text) {
  using Kind = Judgement::Kind;
  Judgement out{Kind::runs, ""};
  try {
    const ptx::Module module = ptx::parse(text);
    for (const Finding& f : isa::check(module)) {
      if (f.kind == Finding::Kind::invalid) return {Kind::wrong, f.what};
      if (f.kind == Finding::Kind::unsupported) out = Judgement{Kind::unsupported, f.what};
    }
  } catch (const ptx::SyntaxError& e) {
    return {Kind::wrong, e.what()};
  } catch (const machine::InputError& e) {
    return {Kind::wrong, e.what()};
  } catch (const machine::Unsupported& e) {
    return {Kind::unsupported, e.what()};
  }
  return out;
}

// The first message of the program `ptxas`, empty if it takes the file.
std::string ptxas_message(const std::string& ptxas, const std::string& path, const std::string& target) {
  const std::string log = path + ".log";
  const std::string command =
      "'" + ptxas + "' -O0 -o /dev/null -arch=" + target + " " + path + " > " + log + " 2>&1";
  const int status = std::system(command.c_str());
  if (status == 0) return "";
  if (WIFSIGNALED(status) || WEXITSTATUS(status) >= 128) return "Segmentation fault";
  const std::string text = launch::read_file(log);
  return text.substr(0, text.find('\n'));
}

// The text with one to two random edits of its tokens: deleted, doubled, swapped, or replaced by another of
// its kind.
std::string mutate(const std::string& text, const std::vector<ptx::Token>& tokens, std::mt19937_64& random) {
  struct Edit {
    size_t at, length;
    std::string with;
  };
  std::vector<Edit> edits;
  const auto offset = [&](const ptx::Token& t) { return static_cast<size_t>(t.text.data() - text.data()); };
  const size_t count = 1 + random() % 2;
  for (size_t n = 0; n < count; ++n) {
    const size_t i = random() % (tokens.size() - 2);
    const ptx::Token& t = tokens[i];
    const std::string self(t.text);
    switch (random() % 6) {
      case 0: edits.push_back({offset(t), self.size(), ""}); break;
      case 1: edits.push_back({offset(t), self.size(), self + " " + self}); break;
      case 2: {
        const ptx::Token& u = tokens[i + 1];
        edits.push_back({offset(t), offset(u) + u.text.size() - offset(t), std::string(u.text) + " " + self});
        break;
      }
      default: {
        for (int tries = 0; tries < 50; ++tries) {
          const ptx::Token& other = tokens[random() % (tokens.size() - 1)];
          if (other.kind != t.kind || other.text == t.text) continue;
          edits.push_back({offset(t), self.size(), std::string(other.text)});
          break;
        }
      }
    }
  }
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at > b.at; });
  std::string out = text;
  size_t limit = out.size();
  for (const Edit& e : edits) {
    if (e.at + e.length > limit) continue;
    out.replace(e.at, e.length, e.with);
    limit = e.at;
  }
  return out;
}

// The targets that the texts are given for in turn; what the source is for only one is tried unchanged too.
constexpr const char* kTargets[] = {"sm_90a", "sm_100a", "sm_103a"};

// The text in that version of PTX.
std::string in_version(std::string text, const std::string& version) {
  const size_t at = text.find(".version ");
  if (at != std::string::npos) text.replace(at, text.find('\n', at) - at, ".version " + version);
  return text;
}

// Holds bitwell against the program `ptxas`, the sources in each of `versions` in turn; none: their own.
void compare(const std::string& ptxas, const std::vector<std::string>& versions) {
  using Kind = Judgement::Kind;
  const char* wanted = std::getenv("BITWELL_MUTATIONS");
  const size_t count = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 400;
  const char* seed_text = std::getenv("BITWELL_SEED");
  const uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : 1;
  std::vector<std::string> sources;
  for (const char* name : {"mutation_gemv", "mutation_ordinary", "textures"})
    sources.push_back(launch::read_file(capture::share_folder("test") + "/" + name + ".ptx"));
  for (const probe::TensorInstruction& i : probe::tensor_instructions())
    if (i.k == 16 && i.n == 8 && i.input == &number::bf16) sources.push_back(probe::tensor_module(i));
  for (const std::string& s : sources) ASSERT_EQ(judge(s).message, "");
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bitwell-mutations-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  size_t judged[3] = {};
  size_t ptxas_took[3] = {};
  std::vector<std::string> wrong;
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back([&, t] {
        for (size_t i = next++; i < count; i = next++) {
          const std::string& source = sources[i % sources.size()];
          // The first round is the sources themselves, which other targets need not take; then wgmma keeps to
          // its own.
          const bool whole = i < sources.size() * std::size(kTargets);
          const bool only_hopper = !whole && source.find("wgmma") != std::string::npos;
          const std::string target =
              only_hopper ? kTargets[0] : kTargets[i / sources.size() % std::size(kTargets)];
          std::mt19937_64 random(seed * 1000003 + i);
          std::string text = whole ? source : mutate(source, ptx::tokenize(source), random);
          if (const size_t at = text.find("sm_90a"); at != std::string::npos) text.replace(at, 6, target);
          if (text == source) continue;
          if (!versions.empty()) text = in_version(text, versions[i % versions.size()]);
          const Judgement ours = judge(text);
          const std::string path = (folder / (std::to_string(t) + ".ptx")).string();
          std::ofstream(path) << text;
          const std::string theirs = ptxas_message(ptxas, path, target);
          const std::scoped_lock lock(mutex);
          ++judged[static_cast<int>(ours.kind)];
          ptxas_took[static_cast<int>(ours.kind)] += theirs.empty() ? 1 : 0;
          // A form that is refused by name may be anything to ptxas; the other two must be what ptxas says.
          const bool same = ours.kind == Kind::unsupported || (ours.kind == Kind::runs) == theirs.empty();
          if (same || listed(kPtxasRefuses, theirs) ||
              (theirs.empty() && listed(kBitwellRefuses, ours.message)))
            continue;
          const std::string kept =
              "/tmp/bitwell-mutation-" + std::to_string(seed) + "-" + std::to_string(i) + ".ptx";
          std::ofstream(kept) << text;
          wrong.push_back("mutation " + std::to_string(i) + " of seed " + std::to_string(seed) + " (" + kept +
                          "): bitwell says \"" + (ours.kind == Kind::runs ? "runs" : ours.message) +
                          "\", ptxas says \"" + (theirs.empty() ? "accepted" : theirs) + '"');
        }
      });
  }
  std::filesystem::remove_all(folder);
  const char* const names[] = {"runs", "unsupported", "wrong"};
  for (int k = 0; k < 3; ++k)
    std::printf("%5zu mutations that bitwell calls %-11s  %5zu of them accepted by ptxas\n", judged[k],
                names[k], ptxas_took[k]);
  for (const std::string& w : wrong) ADD_FAILURE() << w;
}

TEST(Mutations, PtxasAndBitwellAgreeOnWhatIsPtx) { compare(BITWELL_PTXAS, {}); }

// PTX that ptxas 13.0 does not know: BITWELL_NEWER_PTXAS is that of PyPI's nvidia-cuda-nvcc, 13.5 or later.
TEST(Mutations, ANewerPtxasAgreesOnNewerVersions) {
  const char* newer = std::getenv("BITWELL_NEWER_PTXAS");
  if (newer == nullptr) GTEST_SKIP() << "BITWELL_NEWER_PTXAS names no program";
  compare(newer, {"9.1", "9.2", "9.3", "9.4", "9.5"});
}

}  // namespace
}  // namespace bitwell::isa
