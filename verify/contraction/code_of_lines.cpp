#include "verify/contraction/code_of_lines.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/failure.h"
#include "verify/image/elf.h"
#include "verify/image/line_table.h"

namespace bitwell::contraction {
namespace {

// An instruction has 16 bytes; its lowest 9 bits are the opcode, those above them say where the operands are.
constexpr uint64_t kBytes = 16;
constexpr uint64_t kOpcode = 0x1ff;
// In the upper word: for how many cycles a warp then issues nothing.
constexpr uint64_t kStallBits = 41, kMostStalls = 15;

struct Does {
  Rounded LineCode::*of = nullptr;
  uint32_t Rounded::*what = nullptr;
};
Does does(uint64_t word) {
  // A constant comes into a register as a sum of products of RZ, the register of zeros.
  const bool of_zero = (word >> 24 & 0xff) == 0xff;
  switch (word & kOpcode) {
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

namespace {

// Tells of each instruction: the PTX line, its lower word, and its upper one.
template <class Tell>
void each_instruction(std::string_view cubin, const Tell& tell) {
  const image::Elf elf(cubin);
  std::string_view lines, relocations, symbols;
  std::map<uint32_t, std::string_view> code;  // by number of the section
  const bool whole = elf.each([&](const std::string& name, std::string_view inside, uint32_t number) {
    if (name == ".nv_debug_line_sass") lines = inside;
    if (name == ".rela.nv_debug_line_sass") relocations = inside;
    if (name == ".symtab") symbols = inside;
    if (name.starts_with(".text.")) code[number] = inside;
  });
  if (whole && code.empty()) return;
  const auto table = whole ? image::line_table(lines, relocations, symbols) : std::nullopt;
  if (!table || table->sequences.empty())
    throw machine::InputError("its machine code does not say which PTX lines it is of");
  for (const image::LineSequence& s : table->sequences) {
    for (auto at = s.at.begin(); at != s.at.end(); ++at) {
      const auto section = code.find(at->first.first);
      if (section == code.end()) continue;
      const auto next = std::next(at);
      const bool last = next == s.at.end() || next->first.first != at->first.first;
      const uint64_t end = last ? section->second.size() : next->first.second;
      for (uint64_t a = at->first.second; a < end; a += kBytes)
        if (const auto word = image::at<uint64_t>(section->second, a))
          tell(s.rows[at->second].line, *word,
               image::at<uint64_t>(section->second, a + kBytes / 2).value_or(0));
    }
  }
}

}  // namespace

std::map<int64_t, LineCode> code_of_lines(std::string_view cubin) {
  std::map<int64_t, LineCode> out;
  each_instruction(cubin, [&](int64_t line, uint64_t word, uint64_t) {
    if (const Does what = does(word); what.of != nullptr) ++((out[line].*what.of).*what.what);
  });
  return out;
}

std::map<int64_t, Opcodes> opcodes_of_lines(std::string_view cubin) {
  std::map<int64_t, Opcodes> out;
  each_instruction(cubin, [&](int64_t line, uint64_t word, uint64_t control) {
    OpcodeCount& of = out[line][word & kOpcode];
    ++of.times;
    of.stalls += std::max<uint32_t>(control >> kStallBits & kMostStalls, 1);
  });
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
