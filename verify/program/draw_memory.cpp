// Statements that touch memory: what all threads only read, what is a thread's own, what commutes.
#include <algorithm>

#include "model/isa/family/families.h"
#include "model/isa/form/type.h"
#include "verify/program/drawing.h"

namespace bitwell::program {
namespace {

using Modifiers = Drawing::Modifiers;

size_t elements(const Modifiers& m) { return has(m, ".v2") ? 2 : has(m, ".v4") ? 4 : has(m, ".v8") ? 8 : 1; }
int element_bits(const Modifiers& m) { return isa::find_type(m.back())->bits; }
size_t bytes_of(const Modifiers& m) { return elements(m) * static_cast<size_t>(element_bits(m)) / 8; }

// The state space that an access names; empty: none, the address is generic.
std::string space_of(const Modifiers& m) {
  for (const std::string& one : m)
    if (one == ".global" || one == ".local" || one == ".const" || one.starts_with(".shared") ||
        one.starts_with(".param"))
      return one;
  return "";
}

// Memory of one kind, and the registers with its address: in its own space, and generic.
struct Area {
  std::string space;
  std::string address, generic;
  size_t bytes;  // that may be touched from there on
};

std::string in_braces(const std::vector<std::string>& list) {
  if (list.size() == 1) return list[0];
  std::string out;
  for (const std::string& r : list) out += (out.empty() ? "{" : ", ") + r;
  return out + "}";
}

// "{%r1, %r2}" or "%r1": registers for an access; those of one of 8 or 16 bits are sometimes wider. A store
// gets what is narrower than its register by way of `before`: ptxas 13.0 converts, as a number, what it knows
// for the result of a floating-point instruction, where the manual has the lower bits stored.
std::string registers_for(Drawing& d, const std::string& opcode, const Modifiers& m, const std::string& holds,
                          std::string& before) {
  const int element = element_bits(m);
  int bits = std::max(element, 16);
  // ptxas 13.0 may take the lower half where a mov takes the upper one of what an ldu of 8 bits brought.
  if (bits == 16 && opcode != "ldu" && !m.back().starts_with(".f") && d.one_in(3)) bits = 32;
  std::vector<std::string> list = d.registers(bits, elements(m), holds);
  before.clear();
  if (opcode != "st" || element == bits) return in_braces(list);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string low = (bits == 16 ? "%z" : "%w") + std::to_string(i);
    before += "and.b" + std::to_string(bits) + " " + low + ", " + list[i] + ", " +
              std::to_string((1 << element) - 1) + ";\n";
    list[i] = low;
  }
  return in_braces(list);
}

// Whether an access with these modifiers may go to the area. .lu may lose what it read from local memory.
bool fits_area(const Modifiers& m, const Area& area, bool read_only) {
  const std::string space = space_of(m);
  if (m.empty() || isa::find_type(m.back()) == nullptr) return false;  // st.bulk
  if (element_bits(m) > 64 || bytes_of(m) > area.bytes) return false;
  if (has(m, ".lu") || has(m, ".nc")) return read_only && space == ".global";
  if (space.empty()) return true;
  return space == area.space || (area.space == ".shared" && space.starts_with(".shared"));
}

std::string access(Drawing& d, const std::string& opcode, const Area& area, bool read_only = false,
                   const std::string& holds = "") {
  const bool loads = opcode != "st";
  std::string before;
  const std::string text = d.spelled(
      isa::memory_forms(), opcode, [&](const Modifiers& m) { return fits_area(m, area, read_only); },
      [&](const Modifiers& m) {
        const size_t size = bytes_of(m);
        const std::string& base = space_of(m).empty() ? area.generic : area.address;
        const std::string at = "[" + base + "+" + std::to_string(size * d.below(area.bytes / size)) + "]";
        const std::string registers = registers_for(d, opcode, m, holds, before);
        return loads ? registers + ", " + at : at + ", " + registers;
      });
  return before + text;
}

Area slot() { return {".shared", "%slot", "%gslot", kSlotBytes}; }

// Of all threads of the CTA; `place` is uniform.
std::string barrier(Drawing& d, const Place& place) {
  static constexpr const char* kOpcodes[] = {"bar", "barrier"};
  return d.spelled(
      isa::barrier_forms(), d.pick(kOpcodes), [](const Modifiers& m) { return has(m, ".sync"); },
      [&](const Modifiers&) {
        return std::to_string(d.below(16)) + (place.whole_warps && d.one_in(3) ? ", %threads" : "");
      });
}

}  // namespace

// Values of one type, from a row that data chooses.
Statement input_load(Drawing& d, const Place& place) {
  Statement out;
  if (place.uniform && d.one_in(6)) {
    out.text = "ld.global.b32 %u" + std::to_string(d.below(2)) + ", [%in+" +
               std::to_string(4 * d.below(4 * kInputRows)) + "];\n";
    return out;
  }
  const size_t type = d.below(std::size(kRowTypes));
  const std::string from = d.one_in(3) ? "%thread" : d.word();
  out.text = "add.u32 %x0, " + from + ", " + std::to_string(d.below(32)) + ";\nand.b32 %x0, %x0, 31;\n" +
             "mad.lo.u32 %x0, %x0, 8, " + std::to_string(type) + ";\nmad.wide.u32 %y0, %x0, 16, %in;\n" +
             access(d, d.one_in(5) ? "ldu" : "ld", {".global", "%y0", "%y0", 16}, true, kRowTypes[type]);
  return out;
}

// A thread's own bytes: of global memory, its slot in shared memory, its stack at a place that data chooses.
Statement own_memory(Drawing& d) {
  Statement out;
  Area area = slot();
  switch (d.below(3)) {
    case 0:
      area = {".global", "%own", "%own", 32};
      out.text = "add.u64 %own, %own, " + std::to_string(kOwnScratch) + ";\n";
      break;
    case 1:
      area = {".local", "%y0", "%y1", 16};
      out.text = "and.b32 %x0, " + d.word() + ", " + std::to_string(kReadableWords - 1) +
                 ";\nmad.wide.u32 %y0, %x0, 16, %stack;\nmad.wide.u32 %y1, %x0, 16, %gstack;\n";
      break;
    default: break;
  }
  if (!d.one_in(4)) out.text += access(d, "st", area);
  if (!d.one_in(4)) out.text += access(d, "ld", area);
  if (area.space == ".global") out.text += "sub.u64 %own, %own, " + std::to_string(kOwnScratch) + ";\n";
  return out;
}

Statement fence(Drawing& d) {
  static constexpr const char* kOpcodes[] = {"fence", "membar", "nanosleep"};
  const std::string opcode = d.pick(kOpcodes);
  Statement out;
  out.text = d.spelled(
      isa::memory_forms(), opcode,
      [](const Modifiers& m) {  // of the generic proxy, and of all memory
        return std::none_of(m.begin(), m.end(), [](const std::string& one) {
          return one.starts_with(".proxy") || one.starts_with(".mbarrier") ||
                 one.starts_with(".sync_restrict");
        });
      },
      [&](const Modifiers&) { return opcode == "nanosleep" ? std::to_string(d.below(40)) : std::string(); });
  return out;
}

// A cell's operation; a value that it returns is the schedule's, and goes where nobody reads.
Statement atomic(Drawing& d, const Place& place) {
  const bool shared = !place.tail && d.one_in(2);
  static constexpr const char* kOpcodes[] = {"atom", "red"};
  const std::string opcode = d.pick(kOpcodes);
  const auto cell_of = [](const Modifiers& m) -> size_t {
    const std::string name = m[m.size() - 2] + m.back();
    return static_cast<size_t>(std::find(std::begin(kCells), std::end(kCells), name) - std::begin(kCells));
  };
  Statement out;
  out.text = d.spelled(
      isa::memory_forms(), opcode,
      [&](const Modifiers& m) {
        const std::string space = space_of(m);
        if (m.size() < 2 || cell_of(m) == std::size(kCells)) return false;
        // Of 64 bits they are loops of compare-and-swap, which ptxas 13.0 merges with a loop that begins with
        // them: the lanes then come apart to an aligned barrier behind them.
        if (shared) return element_bits(m) == 32 && (space.empty() || space.starts_with(".shared"));
        // Cells of all CTAs: a narrower scope would be a race.
        return (space.empty() || space == ".global") && !has(m, ".cta") && !has(m, ".cluster");
      },
      [&](const Modifiers& m) {
        const bool wide = element_bits(m) == 64, bounded = has(m, ".inc") || has(m, ".dec");
        const std::string base = !shared ? "%cells" : space_of(m).empty() ? "%gscells" : "%scells";
        return (opcode == "red" ? ""
                : wide          ? "%y3, "
                                : "%x3, ") +
               ("[" + base) + "+" + std::to_string(kCellBytes * cell_of(m)) + "], " +
               (bounded ? "12345" : d.source(wide ? ".u64" : ".u32"));
      });
  return out;
}

// A slot is written, and after a barrier another thread's is read; behind a second one slots are their
// owners'.
Statement barrier_exchange(Drawing& d, const Place& place) {
  static constexpr const char* kPartners[] = {"%x0, %thread, 1", "%x0, %thread, 31", "%x0, %thread, 37"};
  Statement out;
  out.text = access(d, "st", slot());
  if (d.one_in(2)) out.text += access(d, "st", slot());
  out.text += barrier(d, place);
  out.text += "add.u32 " + (d.one_in(2) ? std::string(d.pick(kPartners)) : "%x0, " + d.word() + ", 0") +
              ";\nrem.u32 %x0, %x0, %threads;\nmad.lo.u32 %x1, %x0, " + std::to_string(kSlotBytes) +
              ", %slots;\nmad.wide.u32 %y0, %x0, " + std::to_string(kSlotBytes) + ", %gslots;\n";
  const Area other{".shared", "%x1", "%y0", kSlotBytes};
  out.text += access(d, "ld", other) + (d.one_in(2) ? access(d, "ld", other) : "") + barrier(d, place);
  return out;
}

Statement warp_exchange(Drawing& d) {
  Statement out;
  out.collective = true;
  out.text = access(d, "st", slot()) + "bar.warp.sync $m;\n" + "clz.b32 %x0, $m;\nsub.u32 %x0, 31, %x0;\n" +
             "sub.u32 %x1, %thread, %lane;\nadd.u32 %x0, %x0, %x1;\nmad.lo.u32 %x1, %x0, " +
             std::to_string(kSlotBytes) + ", %slots;\nmad.wide.u32 %y0, %x0, " + std::to_string(kSlotBytes) +
             ", %gslots;\n" + access(d, "ld", {".shared", "%x1", "%y0", kSlotBytes}) + "bar.warp.sync $m;\n";
  return out;
}

// A cell of shared memory between two barriers: the same for all threads.
Statement cells_read(Drawing& d, const Place& place) {
  const std::string to = d.one_in(2) ? "%u" + std::to_string(d.below(2)) : d.destination(".u32");
  Statement out;
  out.text = barrier(d, place) + "ld.shared.b32 " + to + ", [%scells+" +
             std::to_string(kCellBytes * d.below(std::size(kCells))) + "];\n" + barrier(d, place);
  return out;
}

Statement barrier_reduction(Drawing& d, const Place& place) {
  static constexpr const char* kOpcodes[] = {"bar", "barrier"};
  Statement out;
  out.text = d.spelled(
      isa::barrier_forms(), d.pick(kOpcodes), [](const Modifiers& m) { return has(m, ".red"); },
      [&](const Modifiers& m) {
        return (has(m, ".popc") ? d.destination(".u32") : d.predicate()) + ", " +
               std::to_string(d.below(16)) + (place.whole_warps && d.one_in(3) ? ", %threads" : "") + ", " +
               (d.one_in(3) ? "!" : "") + d.predicate();
      });
  return out;
}

}  // namespace bitwell::program
