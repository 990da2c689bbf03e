// What is said of a value that was never written.
#include <bit>
#include <string>
#include <vector>

#include "model/machine/where.h"
#include "model/run/watch/definedness.h"
#include "model/run/watch/follow.h"

namespace bitwell::run {

using machine::Origin;

namespace {

// "byte 2", "bytes 2 to 3", "bytes 0, 2 and 3"
std::string bytes_text(uint32_t missing, uint32_t size) {
  if (missing == (size >= 32 ? ~0u : (1u << size) - 1)) return "none";
  std::vector<std::string> runs;
  for (uint32_t i = 0; i < size; ++i) {
    if ((missing >> i & 1) == 0) continue;
    uint32_t end = i;
    while (end + 1 < size && (missing >> (end + 1) & 1) != 0) ++end;
    runs.push_back(end == i ? std::to_string(i) : std::to_string(i) + " to " + std::to_string(end));
    i = end;
  }
  std::string out = runs.size() == 1 && runs[0].find(' ') == std::string::npos ? "byte " : "bytes ";
  for (size_t i = 0; i < runs.size(); ++i)
    out += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  return out;
}

// Of the mbarrier that such a copy completes on: whether its phase ended too soon, or nobody waited for it.
std::string phase_text(Cluster& cluster, uint64_t barrier) {
  if (barrier == 0) return "";
  const auto& all = cluster.cta_of(barrier - 1)->mbarriers.all();
  const auto found = all.find(barrier - 1);
  if (found == all.end()) return "";
  const machine::MbarrierHistory& history = found->second;
  const std::string name = "; it completes on " + cluster.barrier_name(barrier - 1);
  if (history.phases == 0) return name + ", whose first phase has not ended";
  return name + ", whose last phase ended with the " + std::to_string(history.last_expected) +
         " bytes that it expected";
}

// "'x' + 16", "shared memory 'tile' + 16", "local memory at 8"
std::string place_text(const Context& context, const Origin& from) {
  if (from.region == nullptr) return "local memory at " + std::to_string(from.address);
  for (const auto& cta : context.cta.cluster.ctas)
    if (&cta->shared == from.region) return context.cta.cluster.shared_name(from.address);
  const uint64_t offset = from.address - from.region->base();
  return "'" + from.region->name() + "'" + (offset == 0 ? "" : " + " + std::to_string(offset));
}

// The read of those of its bytes that nobody wrote, and what lies between them.
machine::Fault::Access unwritten(const Context& context, const Origin& from) {
  const auto first = static_cast<uint32_t>(std::countr_zero(from.missing));
  machine::Fault::Access out{"uninitialized read", "global", from.address + first,
                             static_cast<uint64_t>(std::bit_width(from.missing)) - first,
                             from.region->name()};
  for (const auto& cta : context.cta.cluster.ctas) {
    if (&cta->shared != from.region) continue;
    out.space = cta.get() == &context.cta ? "shared::cta" : "shared::cluster";
    out.object = context.cta.cluster.shared_name(from.address);
  }
  return out;
}

}  // namespace

std::string Context::line_text(int ptx_line) const {
  machine::Place place;
  place.ptx_line = ptx_line;
  for (const isa::Function& f : cta.grid.program.functions)
    for (const isa::Line& line : f.lines)
      if (line.ptx == ptx_line) place.cuda = line.cuda;
  return machine::line_of(place);
}

void Context::lacks(uint32_t offset, uint32_t lanes, const char* what) {
  lanes &= ~known_at(offset, lanes);
  if (lanes != 0) report_missing(offset, __builtin_ctz(lanes), what);
}

void Context::report_missing(uint32_t row, int lane, const char* what, const std::string& more) {
  if (follow() != nullptr) return follow()->used(cta.line(split()).ptx, what);
  const Origin from = origin_of(*this, row, lane);
  machine::Fault out(
      std::string("a value that was never written is used as ") + what + describe(*this, from) + more, lane);
  if (from.kind == Origin::Kind::memory && from.region != nullptr) out.access = unwritten(*this, from);
  throw out;
}

std::string under_way(Cluster& cluster, const machine::Agent& copy, uint64_t address) {
  return "; the copy of " + machine::line_of(copy.place.kept()) + " is still to write there" +
         (copy.ending == machine::Ending::copy_group
              ? ": the thread that issued it has to wait for it (cp.async.wait_group), and other threads "
                "behind a barrier"
              : "") +
         phase_text(cluster, copy.completes_on(address));
}

void keep_reads_off_copies(Context& context, uint64_t address, uint64_t size, int lane) {
  Cluster& cluster = context.cta.cluster;
  if (!context.checked || !cluster.operations_under_way()) return;
  if (const machine::Agent* copy = cluster.filling(address, size))
    throw machine::Fault("a read of " + cluster.shared_name(address) + under_way(cluster, *copy, address),
                         lane);
}

std::string describe(const Context& context, const Origin& from) {
  const std::string line = context.line_text(from.ptx_line);
  const std::string by = from.decided ? ": whether it is written hangs on a branch by such a value" : "";
  switch (from.kind) {
    case Origin::Kind::nothing: return by;
    case Origin::Kind::shuffle:
      return by + ": " + line + " took it from lane " + std::to_string(from.lane) +
             ", which does not take part or has no value";
    case Origin::Kind::memory: break;
  }
  const std::string bytes = bytes_text(from.missing, from.size);
  const bool none = bytes == "none";
  const std::string loaded = " that " + line + " loaded from " + place_text(context, from);
  if (from.size == 1) return by + ": the byte" + loaded + " was never written";
  return by + ": " + bytes + " of the " + std::to_string(from.size) + " bytes" + loaded +
         (none ? " was ever written" : " were never written");
}

}  // namespace bitwell::run
