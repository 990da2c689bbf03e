#include "verify/probe/recorded.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "verify/capture/digest.h"

namespace bitwell::probe {
namespace {

constexpr uint32_t kTuples = 65536;
constexpr uint64_t kSeed = 7;
constexpr size_t kStride = 1021;
static_assert(kStride * (kKeptTuples - 1) < kTuples);

uint64_t word(const std::vector<std::byte>& bytes, size_t i, size_t width) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + width * i, width);
  return v;
}

// In a line, what of a digest and of kept tuples is not as recorded; empty if all is.
std::string difference(const std::string& name, const std::string& digest, const capture::Capture& digests,
                       const std::optional<capture::Tuples>& words,
                       const std::function<std::vector<capture::Tuple>(size_t)>& kept) {
  const auto recorded = digests.digests.find(name);
  if (recorded == digests.digests.end()) return name + " is not recorded";
  const bool right = digest == recorded->second;
  std::string wrong;
  size_t there = 0;
  if (words)
    if (const auto of_device = words->of.find(name); of_device != words->of.end()) {
      there = of_device->second.size();
      wrong = capture::first_wrong(of_device->second, kept(there));
    }
  if (right && wrong.empty()) return "";
  const std::string who = name + " (" + digests.device + "): ";
  if (right) return who + "the digest is the recorded one and the raw words are not: " + wrong;
  return who + "digest " + digest + " expected " + recorded->second + "; " +
         (!wrong.empty() ? wrong
          : there != 0   ? "the " + std::to_string(there) + " tuples that are kept are right"
                         : "no raw words are kept of it");
}

std::string digest_of(std::span<const std::byte> bytes) {
  capture::Digest digest;
  digest.add(bytes);
  return digest.hex();
}

}  // namespace

launch::Launch recorded_launch(const Probe& probe) { return probe_launch(probe, kTuples, kSeed); }
launch::Launch recorded_launch(const Probe& probe, Inputs& drawn) {
  std::vector<launch::Buffer>& inputs = drawn[probe.operands];
  if (inputs.empty()) inputs = probe_inputs(probe.operands, kTuples, kSeed);
  return probe_launch(probe, kTuples, inputs);
}

std::string digest_of(const launch::Launch& ran) { return digest_of(ran.buffers.back().bytes); }

std::vector<capture::Tuple> kept_tuples(const Probe& probe, const launch::Launch& ran) {
  const size_t results = probe.results.size();
  std::vector<capture::Tuple> out(kKeptTuples);
  for (size_t i = 0; i < kKeptTuples; ++i) {
    for (size_t n = 0; n + 1 < ran.buffers.size(); ++n) {
      const std::vector<std::byte>& in = ran.buffers[n].bytes;
      out[i].inputs.push_back(word(in, kStride * i, in.size() / kTuples));
    }
    for (size_t r = 0; r < results; ++r)
      out[i].results.push_back(word(ran.buffers.back().bytes, kStride * i * results + r, 8));
  }
  return out;
}

std::vector<std::byte> outputs_of(const launch::Launch& ran) {
  std::vector<std::byte> out;
  for (const launch::Buffer& b : ran.buffers)
    if (b.output) out.insert(out.end(), b.bytes.begin(), b.bytes.end());
  return out;
}

std::vector<capture::Tuple> kept_words(std::span<const std::byte> outputs, size_t count) {
  const size_t words = outputs.size() / 8;
  const size_t kept = std::min(count, words);
  const size_t stride = kept == 0 ? 1 : words / kept;
  std::vector<capture::Tuple> out;
  for (size_t i = 0; i < kept; ++i) {
    const size_t at = 8 * (i * stride + i % stride);
    uint64_t v = 0;
    std::memcpy(&v, &outputs[at], sizeof v);
    out.push_back({{at}, {v}});
  }
  return out;
}

std::string difference(const Probe& probe, const launch::Launch& ran, const capture::Capture& digests,
                       const std::optional<capture::Tuples>& words) {
  return difference(probe.instruction, digest_of(ran), digests, words,
                    [&](size_t) { return kept_tuples(probe, ran); });
}

std::string difference(const std::string& name, std::span<const std::byte> outputs,
                       const capture::Capture& digests, const std::optional<capture::Tuples>& words) {
  return difference(name, digest_of(outputs), digests, words,
                    [&](size_t count) { return kept_words(outputs, count); });
}

}  // namespace bitwell::probe
