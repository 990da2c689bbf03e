#include "verify/explore/schedules.h"

#include <algorithm>

#include "verify/launch/file/npy.h"

namespace bitwell::verify {

std::optional<Disagreement> disagreement(const Start& start, isa::Options options,
                                         const std::vector<isa::Schedule>& under,
                                         const SchedulesProgress& progress, std::optional<Ran>* first) {
  const std::vector<Buffer>& buffers = start.launch().buffers;
  std::optional<Ran> own;
  std::optional<Ran>& want = first != nullptr ? *first : own;
  for (size_t i = 0; i < under.size(); ++i) {
    options.schedule = under[i];
    if (progress) progress(i, under[i]);
    try {
      if (i == 0) {
        want.emplace(start.run(options, true));
        options.print = nullptr;
        continue;
      }
      const Ran got = start.run(options, true);
      for (size_t b = 0; b < buffers.size(); ++b) {
        const auto at = buffers[b].output ? want->difference(got, b) : std::nullopt;
        if (at) return Disagreement{under[0], under[i], "", b, *at, want->byte(b, *at), got.byte(b, *at)};
      }
    } catch (const machine::Fault& fault) {
      return Disagreement{under[0], under[i], fault.what()};
    }
  }
  return std::nullopt;
}

std::optional<Disagreement> disagreement(const isa::Program& program, Launch& launch,
                                         const isa::Options& options, const std::vector<isa::Schedule>& under,
                                         const SchedulesProgress& progress) {
  const Start start(program, launch);
  std::optional<Ran> first;
  auto out = disagreement(start, options, under, progress, &first);
  if (first) first->keep(launch);
  return out;
}

std::string element_at(const Output& output, uint64_t byte) {
  uint64_t element = byte / element_size(output.dtype);
  std::string out;
  for (size_t d = output.shape.size(); d-- > 0; element /= output.shape[d])
    out = std::to_string(element % output.shape[d]) + (out.empty() ? "" : ", " + out);
  return "[" + out + "]";
}

}  // namespace bitwell::verify
