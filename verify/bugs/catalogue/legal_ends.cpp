#include "verify/bugs/catalogue/legal_ends.h"

#include <algorithm>
#include <cstring>

#include "model/machine/memory/memory.h"
#include "verify/launch/start.h"
#include "verify/schedules/exhaust.h"
#include "verify/schedules/schedules.h"

namespace bitwell::bugs {
namespace {

using Bytes = std::vector<std::vector<std::byte>>;  // of every buffer

constexpr uint64_t kMostRuns = 1000;  // of an enumeration
constexpr size_t kSchedules = 40;     // where there is none

run::Options options_of(const run::Schedule& schedule) {
  run::Options out;
  out.schedule = schedule;
  out.step_limit = 1 << 20;  // polling warps take turns rarely
  return out;
}

Bytes left_by(const launch::Start& start, const run::Schedule& schedule) {
  const launch::Ran ran = start.run(options_of(schedule), true);
  Bytes out;
  for (size_t b = 0; b < start.launch().buffers.size(); ++b) out.push_back(ran.buffer(start.launch(), b));
  return out;
}

std::vector<std::byte> distinct_words(size_t size) {
  std::vector<std::byte> out(size);
  for (size_t at = 0; at < size; at += 4) {
    const uint32_t word = 0x9E3779B1u * static_cast<uint32_t>(at / 4 + 1);
    std::memcpy(&out[at], &word, std::min<size_t>(4, size - at));
  }
  return out;
}

// Whether the kernel ends with this buffer as it was, whatever the others get.
bool leaves(const launch::Launch& launch, size_t buffer) {
  try {
    const launch::Start start(launch);
    for (const run::Schedule& schedule : launch::schedules(4))
      if (left_by(start, schedule)[buffer] != launch.buffers[buffer].bytes) return false;
  } catch (const machine::Fault&) {
    return false;
  }
  return true;
}

// Words that differ when the buffers stand elsewhere: addresses.
Bytes compared_bytes(const launch::Launch& launch) {
  launch::Launch elsewhere = launch;
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    elsewhere.buffers[i].address = machine::kBuffers + (i + 1) * 0x0123456700;
  const Bytes here = left_by(launch::Start(launch), {}), there = left_by(launch::Start(elsewhere), {});
  Bytes out;
  for (size_t b = 0; b < here.size(); ++b) {
    std::vector<std::byte>& of_buffer = out.emplace_back(here[b].size(), std::byte{0xFF});
    for (size_t i = 0; i < here[b].size(); ++i) {
      if (here[b][i] == there[b][i]) continue;
      const size_t word = i & ~size_t{7};
      std::fill_n(of_buffer.begin() + static_cast<std::ptrdiff_t>(word),
                  std::min<size_t>(8, of_buffer.size() - word), std::byte{0});
    }
  }
  return out;
}

}  // namespace

launch::Launch with_distinct_inputs(const Exhibit& exhibit) {
  launch::Launch out = exhibit.launch;
  out.module = std::make_shared<const isa::Module>(ptx_of(exhibit), exhibit.name);
  for (size_t i = 0; i < out.buffers.size(); ++i) {
    std::vector<std::byte>& bytes = out.buffers[i].bytes;
    const std::vector<std::byte> zeros = bytes;
    bytes = distinct_words(bytes.size());
    if (!leaves(out, i)) bytes = zeros;
  }
  return out;
}

LegalEnds legal_ends(const Exhibit& exhibit) {
  LegalEnds out;
  out.launch = with_distinct_inputs(exhibit);
  out.compared = compared_bytes(out.launch);
  const auto add = [&](Bytes end) {
    if (std::find(out.ends.begin(), out.ends.end(), end) == out.ends.end())
      out.ends.push_back(std::move(end));
  };
  try {
    const schedules::Exhausted all = schedules::exhaust(out.launch, options_of({}), kMostRuns);
    out.complete = all.complete;
    for (const schedules::Ended& end : all.ends)
      if (end.fault.empty()) add(end.buffers);
  } catch (const machine::InputError&) {  // too large to enumerate
  }
  if (!out.complete) {
    const launch::Start start(out.launch);
    for (const run::Schedule& schedule : launch::schedules(kSchedules)) add(left_by(start, schedule));
  }
  return out;
}

}  // namespace bitwell::bugs
