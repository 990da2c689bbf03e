#include "verify/journal/shard.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "model/machine/failure.h"

namespace bitwell::journal {
namespace {

using machine::InputError;

// How a scheduler says which of how many a process is; a variable that it does not have is "".
struct Scheduler {
  const char *index, *count;
  const char *first = "", *step = "";  // of the indices
};
constexpr Scheduler kSchedulers[] = {
    {"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS"},    // Bazel
    {"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS"},  // GoogleTest's runners
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP"},
    {"JOB_COMPLETION_INDEX", ""}};  // Kubernetes
constexpr uint64_t kMostShards = 1'000'000;

std::optional<uint64_t> number(std::string_view text) {
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return out;
}

std::optional<uint64_t> variable(const char* name) {
  const char* text = *name == '\0' ? nullptr : std::getenv(name);
  if (text == nullptr) return std::nullopt;
  if (const std::optional<uint64_t> out = number(text)) return out;
  throw InputError("--shard auto: " + std::string(name) + " is '" + text + "', which is no number");
}

Shard checked(uint64_t index, uint64_t of, const std::string& said) {
  if (of < 1 || of > kMostShards)
    throw InputError(said + ": of 1 to " + std::to_string(kMostShards) + " shards, not of " +
                     std::to_string(of));
  if (index < 1 || index > of)
    throw InputError(said + ": there is no shard " + std::to_string(index) + "; they are 1/" +
                     std::to_string(of) + " to " + std::to_string(of) + "/" + std::to_string(of));
  return {index, of};
}

// Bazel wants to be told that a test takes its part.
void touch_status_file() {
  const char* path = std::getenv("TEST_SHARD_STATUS_FILE");
  if (path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "w")) std::fclose(file);
}

Shard from_environment(std::optional<uint64_t> of) {
  for (const Scheduler& s : kSchedulers) {
    const std::optional<uint64_t> index = variable(s.index);
    if (!index) continue;
    const std::string said = "--shard auto, " + std::string(s.index) + " " + std::to_string(*index);
    const std::optional<uint64_t> count = of ? of : variable(s.count);
    if (!count)
      throw InputError(said + ": nothing says of how many" +
                       (*s.count == '\0' ? "" : ", " + std::string(s.count) + " is not set") +
                       "; --shard auto/N does");
    const uint64_t first = variable(s.first).value_or(0), step = variable(s.step).value_or(1);
    touch_status_file();
    return checked(*index < first || step == 0 ? 0 : (*index - first) / step + 1, *count, said);
  }
  std::string names;
  for (const Scheduler& s : kSchedulers) names += (names.empty() ? "" : ", ") + std::string(s.index);
  throw InputError("--shard auto: no scheduler says which, as none of " + names +
                   " is set; --shard I/N does");
}

}  // namespace

Shard shard_of(const std::string& text) {
  if (text.empty()) return {};
  const size_t slash = text.find('/');
  const std::optional<uint64_t> of =
      slash == std::string::npos ? std::nullopt : number(std::string_view(text).substr(slash + 1));
  const std::string index = text.substr(0, slash);
  if (index == "auto" && (of || slash == std::string::npos)) return from_environment(of);
  const std::optional<uint64_t> which = number(index);
  if (!which || !of)
    throw InputError(
        "--shard '" + text +
        "': a shard is I/N, as 2/4, or auto where the scheduler says it, or auto/N where it says I");
  return checked(*which, *of, "--shard " + text);
}

}  // namespace bitwell::journal
