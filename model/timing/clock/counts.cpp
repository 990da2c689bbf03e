#include "model/timing/clock/counts.h"

#include <algorithm>
#include <iterator>

namespace bitwell::timing {
namespace {

using Kind = CodeKind;

constexpr ComputesLike kLike[] = {{Kind::fp32, Pipe::fma, "fma.rn.f32"},
                                  {Kind::half, Pipe::fma, "fma.rn.f16x2"},
                                  {Kind::multiply, Pipe::fma, "mad.lo.s32"},
                                  {Kind::multiply_high, Pipe::fma, "mul.hi.u32"},
                                  {Kind::alu, Pipe::alu, "lop3.b32"},
                                  {Kind::fp64, Pipe::fp64, "fma.rn.f64"},
                                  {Kind::special, Pipe::sfu, "ex2.approx.ftz.f32"}};

// A place where lanes that went apart meet again is said before the branch, on whose line that stands; what
// is done there stands on any line. So all of it counts where it is said.
constexpr uint32_t kMeets = 0x145, kMeet = 0x141;  // BSSY, BSYNC
constexpr uint32_t kMeetStalls = 5;

// Opcodes as nvdisasm 13.0 names them. What is not here computes in registers, or is issued and no more.
struct Opcode {
  uint32_t number;
  Kind kind;
};
constexpr Opcode kOpcodes[] = {
    {0x020, Kind::fp32},           // FMUL
    {0x021, Kind::fp32},           // FADD
    {0x023, Kind::fp32},           // FFMA
    {0x030, Kind::half},           // HADD2
    {0x031, Kind::half},           // HFMA2
    {0x032, Kind::half},           // HMUL2
    {0x035, Kind::half},           // HFMA2.MMA
    {0x049, Kind::fp32},           // FFMA2
    {0x04a, Kind::fp32},           // FMUL2
    {0x04b, Kind::fp32},           // FADD2
    {0x024, Kind::multiply},       // IMAD
    {0x025, Kind::multiply},       // IMAD.WIDE
    {0x026, Kind::multiply},       // IDP
    {0x027, Kind::multiply_high},  // IMAD.HI
    {0x028, Kind::fp64},           // DMUL
    {0x029, Kind::fp64},           // DADD
    {0x02a, Kind::fp64},           // DSETP
    {0x02b, Kind::fp64},           // DFMA
    {0x100, Kind::special},        // FLO
    {0x101, Kind::special},        // BREV
    {0x104, Kind::special},        // F2F
    {0x105, Kind::special},        // F2I
    {0x106, Kind::special},        // I2F
    {0x107, Kind::special},        // FRND
    {0x108, Kind::special},        // MUFU
    {0x109, Kind::special},        // POPC
    {0x110, Kind::special},        // F2F of 64 bits
    {0x111, Kind::special},        // F2I of 64 bits
    {0x112, Kind::special},        // I2F of 64 bits
    {0x113, Kind::special},        // FRND of 64 bits
    {0x006, Kind::exchange},       // VOTE
    {0x11d, Kind::exchange},       // BAR
    {0x189, Kind::exchange},       // SHFL
    {0x1a1, Kind::exchange},       // MATCH
    {0x1c4, Kind::exchange},       // REDUX
    {0x03b, Kind::memory},         // LDSM
    {0x180, Kind::memory},         // LD
    {0x181, Kind::memory},         // LDG
    {0x182, Kind::memory},         // LDC
    {0x183, Kind::memory},         // LDL
    {0x184, Kind::memory},         // LDS
    {0x185, Kind::memory},         // ST
    {0x186, Kind::memory},         // STG
    {0x187, Kind::memory},         // STL
    {0x188, Kind::memory},         // STS
    {0x18c, Kind::memory},         // ATOMS
    {0x18d, Kind::memory},         // ATOMS.CAS
    {0x18e, Kind::memory},         // REDG
    {0x1a2, Kind::memory},         // ATOM
    {0x1a6, Kind::memory},         // REDG
    {0x1a8, Kind::memory},         // ATOMG
    {0x1a9, Kind::memory},         // ATOMG.CAS
    {0x1ae, Kind::memory},         // LDGSTS
    {kMeets, Kind::alu},           // BSSY
    {0x147, Kind::branch},         // BRA
    {0x149, Kind::branch},         // BRX
    {0x14a, Kind::branch},         // JMX
    {0x14d, Kind::branch},         // EXIT
};
constexpr uint32_t kNop = 0x118;       // fills up what is fetched
constexpr uint32_t kNoVector = 0x080;  // from there on: what all lanes have in common, and what does more

}  // namespace

std::span<const ComputesLike> computes_like() { return kLike; }

CodeCounts counts_of(const MachineCode& code, int line) {
  CodeCounts out;
  const auto at = code.lines.find(line);
  if (at == code.lines.end()) return out;
  for (const auto& [opcode, count] : at->second) {
    if (opcode == kNop || opcode == kMeet) continue;
    const auto* const known = std::find_if(std::begin(kOpcodes), std::end(kOpcodes),
                                           [number = opcode](const Opcode& o) { return o.number == number; });
    const Kind kind = known != std::end(kOpcodes) ? known->kind
                      : opcode < kNoVector        ? Kind::alu
                                                  : Kind::other;
    out.by[static_cast<size_t>(kind)] += count.times;
    out.all += count.times;
    out.stalls += count.stalls;
    if (opcode == kMeets) {
      out.meets += count.times;
      out.all += count.times;
      out.stalls += count.times * kMeetStalls;
    }
  }
  return out;
}

}  // namespace bitwell::timing
