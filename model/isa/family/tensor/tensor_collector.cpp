#include "model/isa/family/tensor/tensor_collector.h"

#include <algorithm>

#include "model/machine/failure.h"

namespace bitwell::isa {

using machine::Fault;

std::string collector_name(size_t buffer) { return buffer == 0 ? "a" : "b" + std::to_string(buffer - 1); }

Collectors::Share Collectors::issue(const Collector& c, uint64_t operand, int ptx_line, int lane) {
  std::optional<Filled>& filled = filled_[c.buffer];
  const std::string name = "tcgen05.mma may use collector " + collector_name(c.buffer);
  if (c.what == Collecting::use || c.what == Collecting::last_use) {
    if (!filled) throw Fault(name + ", which no MMA before it has filled", lane);
    if (filled->operand != operand)
      throw Fault(name + ", which that of PTX line " + std::to_string(filled->ptx_line) +
                      " has filled with another matrix",
                  lane);
  }
  if (c.what == Collecting::fill) filled = {operand, ptx_line, ++fills_};
  const Share share{c.what == Collecting::discard ? 0 : filled->fill, c.buffer, ptx_line};
  if (c.what == Collecting::discard || c.what == Collecting::last_use) filled.reset();
  return share;
}

void Collectors::read(const Share& share, const Reading& reading, size_t part,
                      std::span<const uint32_t> codes, const std::function<Standing(size_t)>& at) {
  std::optional<Kept>& kept = kept_[share.buffer];
  if (!kept || kept->by.fill != share.fill) kept = {share, reading, {}};
  if (kept->reading != reading) return;
  std::vector<uint32_t>& first = kept->parts[part];
  if (first.empty()) first.assign(codes.begin(), codes.end());
  if (first.size() != codes.size()) return;
  const auto [was, is] = std::mismatch(first.begin(), first.end(), codes.begin());
  if (was == first.end()) return;
  const Standing changed = at(static_cast<size_t>(is - codes.begin()));
  throw Fault("tcgen05.mma shares collector " + collector_name(share.buffer) + " with that of PTX line " +
              std::to_string(kept->by.ptx_line) + ", and " + changed.where + " was written between the two" +
              (changed.writer.empty() ? "" : ", last by " + changed.writer) +
              ": which of both matrices it multiplies is not said");
}

}  // namespace bitwell::isa
