#include "verify/findings/later_writer.h"

#include <algorithm>

#include "model/machine/failure.h"
#include "verify/findings/act.h"

namespace bitwell::findings {
namespace {

using machine::Access;
using machine::AccessKind;
using machine::Fault;

// Accesses of the run behind that read, and warp instructions of a CTA: a write that comes later than so many
// is not looked for. What nobody wrote may make a loop endless.
constexpr uint64_t kMostLooked = uint64_t{1} << 22, kMostSteps = uint64_t{1} << 22;

bool in_shared_memory(const Fault::Access& a) { return a.space.starts_with("shared"); }

struct Looked {};  // enough was seen

}  // namespace

bool has_later_writer(const Fault& fault) {
  return fault.placed && fault.access && fault.access->kind == "uninitialized read";
}

std::optional<LaterWriter> later_writer(const Fault& fault, const Rerun& rerun) {
  const Fault::Access& read = *fault.access;
  const bool shared = in_shared_memory(read);
  const uint64_t address = read.address + (shared ? machine::kSharedWindow : 0);
  std::optional<LaterWriter> out;
  std::optional<std::array<uint32_t, 3>> cluster;  // its first CTA, once the read has been
  uint64_t looked = 0;
  machine::Observer observer;
  observer.accesses = true;
  observer.steps = false;
  observer.tell = [&](const machine::Event& event) {
    const auto* a = std::get_if<Access>(&event.what);
    if (a == nullptr || a->rows != 0) return;
    if (!cluster) {
      if (a->kind != AccessKind::write && a->cta == fault.place.cta && meets(*a, -1, address, read.bytes))
        cluster = event.first_cta;
      return;
    }
    if (++looked > kMostLooked) throw Looked{};
    if (a->kind == AccessKind::read || (shared && event.first_cta != *cluster)) return;
    for (int lane = a->lanes == 0 ? -1 : 0; lane < 32; ++lane) {
      if (lane >= 0 && (a->lanes >> lane & 1) == 0) continue;
      if (meets(*a, lane, address, read.bytes)) {
        out = {a->ptx_line, a->operation != 0, a->cta, a->warp, lane < 0 ? a->issuer : lane};
        throw Looked{};
      }
      if (lane < 0) break;
    }
  };
  try {
    rerun([&](run::Options& options) {
      options.checked = false;
      options.threads = 1;
      options.step_limit = std::min(options.step_limit, kMostSteps);
      options.observers.push_back(observer);
    });
  } catch (const Looked&) {
  } catch (const Fault&) {  // what nobody wrote led it elsewhere
  }
  return out;
}

std::string describe(const LaterWriter& writer, const Fault& fault, const isa::Program& program,
                     const run::Shape& shape) {
  const auto block = run::full_shape(program, shape).block;
  const auto& t = fault.place.thread;
  const uint32_t reader = t[0] + block[0] * (t[1] + block[1] * t[2]);
  const bool one_cta = writer.cta == fault.place.cta;
  const bool one_warp = one_cta && static_cast<uint32_t>(writer.warp) == reader / 32;
  const bool itself = one_warp && static_cast<uint32_t>(writer.lane) == reader % 32;
  const std::string line = place_of(writer.ptx_line, program);
  std::string who = "this thread";
  if (!itself)
    who = (writer.lane >= 0 ? thread_of(writer.warp, writer.lane, block)
                            : "warp " + std::to_string(writer.warp)) +
          (one_cta ? "" : " of CTA " + machine::triple(writer.cta));
  std::string out = writer.operation
                        ? "; an operation of " + line + ", which " + who + " issues, writes there later"
                        : "; " + who + " writes there later, by " + line;
  if (writer.operation) return out + ": nothing made this read wait for it";
  if (itself) return out;
  return out + ": nothing made this read wait for it" +
         (one_warp  ? ", as a __syncwarp (bar.warp.sync) between the two would"
          : one_cta ? ", as a __syncthreads (bar.sync) between the two would"
          : in_shared_memory(*fault.access)
              ? ", as a barrier of the cluster between the two would"
              : "; no barrier spans CTAs: that takes a flag, released and acquired, or two launches");
}

}  // namespace bitwell::findings
