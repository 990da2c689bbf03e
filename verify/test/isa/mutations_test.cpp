// ptxas as the oracle of syntax: over seeded mutations of real PTX, bitwell accepts nothing that ptxas
// refuses.
#include <gtest/gtest.h>
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
#include "verify/captures.h"
#include "verify/launch.h"

namespace bitwell::verify {
namespace {

// What bitwell accepts and ptxas refuses, on purpose: a part of ptxas's message, and why.
constexpr std::pair<const char*, const char*> kExceptions[] = {
    {"Segmentation fault", "ptxas 13.0 itself dies on some texts"},
};

bool accepted(const std::string& text) {
  try {
    const ptx::Module module = ptx::parse(text);
    for (const isa::Finding& f : isa::check(module))
      if (f.kind == isa::Finding::Kind::invalid || f.kind == isa::Finding::Kind::unsupported) return false;
    return true;
  } catch (const ptx::SyntaxError&) {
    return false;
  } catch (const machine::InputError&) {
    return false;
  } catch (const machine::Unsupported&) {
    return false;
  }
}

// ptxas's first message, empty if it takes the file.
std::string ptxas_message(const std::string& path) {
  const std::string log = path + ".log";
  const std::string command =
      std::string(BITWELL_PTXAS) + " -arch=sm_90a -O0 -o /dev/null " + path + " > " + log + " 2>&1";
  if (std::system(command.c_str()) == 0) return "";
  const std::string text = read_file(log);
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

TEST(Mutations, BitwellAcceptsNothingThatPtxasRefuses) {
  const char* wanted = std::getenv("BITWELL_MUTATIONS");
  const size_t count = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 400;
  const char* seed_text = std::getenv("BITWELL_SEED");
  const uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : 1;
  std::vector<std::string> sources;
  for (const char* name : {"mutation_gemv", "mutation_ordinary"})
    sources.push_back(read_file(share_folder("test") + "/" + name + ".ptx"));
  for (const std::string& s : sources) ASSERT_TRUE(accepted(s));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bitwell-mutations-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::atomic<size_t> next = 0;
  std::atomic<size_t> taken = 0;
  std::mutex mutex;
  std::vector<std::string> wrong;
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back([&, t] {
        for (size_t i = next++; i < count; i = next++) {
          const std::string& source = sources[i % sources.size()];
          std::mt19937_64 random(seed * 1000003 + i);
          const std::string text = mutate(source, ptx::tokenize(source), random);
          if (text == source || !accepted(text)) continue;
          ++taken;
          const std::string path = (folder / (std::to_string(t) + ".ptx")).string();
          std::ofstream(path) << text;
          const std::string message = ptxas_message(path);
          if (message.empty()) continue;
          bool excepted = false;
          for (const auto& [part, why] : kExceptions)
            excepted = excepted || message.find(part) != std::string::npos;
          if (excepted) continue;
          const std::string kept =
              "/tmp/bitwell-mutation-" + std::to_string(seed) + "-" + std::to_string(i) + ".ptx";
          std::ofstream(kept) << text;
          const std::scoped_lock lock(mutex);
          wrong.push_back("mutation " + std::to_string(i) + " of seed " + std::to_string(seed) + " (" + kept +
                          "): " + message);
        }
      });
  }
  std::filesystem::remove_all(folder);
  std::printf("%zu mutations, %zu accepted by bitwell, %zu of those refused by ptxas\n", count, taken.load(),
              wrong.size());
  for (const std::string& w : wrong) ADD_FAILURE() << w;
}

}  // namespace
}  // namespace bitwell::verify
