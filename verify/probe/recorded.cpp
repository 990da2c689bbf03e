#include "verify/probe/recorded.h"

#include <cstring>

#include "verify/capture/digest.h"

namespace bitwell::verify {
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

}  // namespace

Launch recorded_launch(const Probe& probe) { return probe_launch(probe, kTuples, kSeed); }

std::string digest_of(const Launch& ran) {
  Digest digest;
  digest.add(ran.buffers.back().bytes);
  return digest.hex();
}

std::vector<Tuple> kept_tuples(const Probe& probe, const Launch& ran) {
  const size_t results = probe.results.size();
  std::vector<Tuple> out(kKeptTuples);
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

std::string difference(const Probe& probe, const Launch& ran, const Capture& digests,
                       const std::optional<Tuples>& words) {
  const auto digest = digests.digests.find(probe.instruction);
  if (digest == digests.digests.end()) return probe.instruction + " is not recorded";
  const std::string got = digest_of(ran);
  const bool right = got == digest->second;
  std::string tuple;
  bool there = false;
  if (words) {
    const auto of_device = words->of.find(probe.instruction);
    there = of_device != words->of.end();
    if (there) tuple = first_wrong(of_device->second, kept_tuples(probe, ran));
  }
  if (right && tuple.empty()) return "";
  const std::string who = probe.instruction + " (" + digests.device + "): ";
  if (right) return who + "the digest is the recorded one and the raw words are not: " + tuple;
  return who + "digest " + got + " expected " + digest->second + "; " +
         (!tuple.empty() ? tuple
          : there        ? "the " + std::to_string(kKeptTuples) + " tuples that are kept are right"
                         : "no raw words are kept of it");
}

}  // namespace bitwell::verify
