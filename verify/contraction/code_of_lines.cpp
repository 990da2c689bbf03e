#include "verify/contraction/code_of_lines.h"

#include <optional>
#include <string>

#include "verify/contraction/instructions.h"
#include "verify/image/elf.h"

namespace bitwell::contraction {
namespace {

struct Does {
  Rounded LineCode::*of = nullptr;
  uint32_t Rounded::*what = nullptr;
};
Does does(uint64_t word) {
  // A constant comes into a register as a sum of products of RZ, the register of zeros.
  const bool of_zero = (word >> 24 & 0xff) == 0xff;
  switch (word & CodeWord::kOpcode) {
    case 0x020:  // FMUL
    case 0x04a:  // FMUL2
      return {&LineCode::single, &Rounded::products};
    case 0x021:  // FADD
    case 0x04b:  // FADD2
      return {&LineCode::single, &Rounded::sums};
    case 0x023:  // FFMA
    case 0x049:  // FFMA2
      return {&LineCode::single, &Rounded::fused};
    case 0x028: return {&LineCode::twice, &Rounded::products};  // DMUL
    case 0x029: return {&LineCode::twice, &Rounded::sums};      // DADD
    case 0x02b: return {&LineCode::twice, &Rounded::fused};     // DFMA
    case 0x032: return {&LineCode::half, &Rounded::products};   // HMUL2
    case 0x030: return {&LineCode::half, &Rounded::sums};       // HADD2
    case 0x031:                                                 // HFMA2
    case 0x035:                                                 // HFMA2.MMA
      return of_zero ? Does{} : Does{&LineCode::half, &Rounded::fused};
    default: return {};
  }
}

}  // namespace

std::map<int64_t, LineCode> code_of_lines(std::string_view cubin) {
  std::map<int64_t, LineCode> out;
  for (const CodeWord& i : instructions_of(cubin))
    if (const Does what = does(i.word); what.of != nullptr) ++((out[i.line].*what.of).*what.what);
  return out;
}

std::map<int64_t, Opcodes> opcodes_of_lines(const std::vector<CodeWord>& code) {
  std::map<int64_t, Opcodes> out;
  for (const CodeWord& i : of_most_rounds(code)) {
    OpcodeCount& of = out[i.line][i.opcode()];
    ++of.times;
    of.stalls += i.stalls();
  }
  return out;
}

uint32_t registers_of(std::string_view cubin, std::string_view entry) {
  const image::Elf elf(cubin);
  std::optional<uint32_t> symbol;  // of the entry's code
  std::string_view info;
  elf.each([&](const std::string& name, const Elf64_Shdr& header) {
    constexpr uint32_t kSymbol = 0xffffff;
    if (name == ".text." + std::string(entry)) symbol = header.sh_info & kSymbol;
  });
  elf.each([&](const std::string& name, std::string_view inside, uint32_t) {
    if (name == ".nv.info") info = inside;
  });
  // Attributes: a byte for the format, one for what it is, and two that are a value, or the length of what
  // follows. That of a function's registers is followed by its symbol and their number.
  constexpr uint8_t kFollows = 0x04, kRegisters = 0x2f;
  for (uint64_t at = 0; symbol;) {
    const auto format = image::at<uint8_t>(info, at), what = image::at<uint8_t>(info, at + 1);
    const auto size = image::at<uint16_t>(info, at + 2);
    at += 4;
    if (!size) break;
    if (*format != kFollows) continue;
    if (*what == kRegisters && image::at<uint32_t>(info, at) == symbol)
      return image::at<uint32_t>(info, at + 4).value_or(0);
    at += *size;
  }
  return 0;
}

}  // namespace bitwell::contraction
