// What the files of this folder draw with: chance, registers, instructions of the tables, and where a
// statement stands.
#pragma once
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/isa/form/form.h"
#include "verify/program/program.h"

namespace bitwell::program {

// Registers with values, and bytes and numbers that the text of an entry and what is drawn agree on.
inline constexpr int kHalves = 6;       // %h, 16 bits
inline constexpr int kWords = 10;       // %r, 32 bits
inline constexpr int kDoubles = 6;      // %d, 64 bits
inline constexpr int kPredicates = 4;   // %p
inline constexpr int kDepth = 3;        // of bodies in bodies
inline constexpr int kInputRows = 256;  // of 16 bytes; row 8 * i + c holds values of kRowTypes[c]
inline constexpr const char* kRowTypes[] = {".f32", ".f64", ".f16", ".bf16",
                                            ".u32", ".u64", ".u16", ".f16x2"};
inline constexpr int kOwnScratch =
    112;  // of its own bytes, behind its registers: from here on 32 that it reads and writes
inline constexpr int kSlotBytes = 16;     // a thread's in shared memory
inline constexpr int kStackBytes = 64;    // of local memory
inline constexpr int kReadableWords = 4;  // of the stack, each of 16 bytes

// A cell of memory that only one operation is applied to, so that any order leaves the same.
inline constexpr const char* kCells[] = {".and.b32", ".or.b32",  ".xor.b32", ".and.b64", ".or.b64",
                                         ".xor.b64", ".add.u32", ".add.s32", ".add.u64", ".inc.u32",
                                         ".dec.u32", ".min.u32", ".max.u32", ".min.s32", ".max.s32",
                                         ".min.u64", ".max.u64", ".min.s64", ".max.s64"};
inline constexpr int kCellBytes = 8;  // of each

extern const char* const kRegisterText;  // declares all registers of an entry or a function

// Where a statement stands.
struct Place {
  bool uniform = true;      // all threads of the CTA are here, or none
  bool whole_warps = true;  // and warps are of 32 threads
  bool masked = true;       // the threads of the warp that are here are known ($m)
  bool function = false;    // no memory but registers
  bool tail = false;        // no barrier of the CTA behind it
  bool loop = false;        // the body of a loop itself, not uniform
  int depth = 0;
};

class Drawing {
 public:
  explicit Drawing(uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15 + 1) {}
  size_t below(size_t n) { return random_() % n; }
  bool one_in(size_t n) { return below(n) == 0; }
  template <class T>
  const auto& pick(const T& list) {
    return list[below(std::size(list))];
  }

  // A register for an operand of that type; mostly one that holds such a value.
  std::string source(const std::string& type);
  // A register that gets one.
  std::string destination(const std::string& type);
  std::string predicate() { return "%p" + std::to_string(below(kPredicates)); }
  std::string word() { return "%r" + std::to_string(below(kWords)); }
  // `n` different registers of that many bits, for values of that type.
  std::vector<std::string> registers(int bits, size_t n, const std::string& type);

  // An instruction's modifiers, from one of the forms with that opcode, spelled at random; `fits` says which
  // will do. Always one that bitwell takes with the operands that `operands` makes for it.
  using Modifiers = std::vector<std::string>;
  std::string spelled(std::span<const isa::Form> forms, std::string_view opcode,
                      const std::function<bool(const Modifiers&)>& fits,
                      const std::function<std::string(const Modifiers&)>& operands);

 private:
  std::mt19937_64 random_;
  std::map<std::string, std::string> holds_;  // types, by register
};

bool has(const Drawing::Modifiers& modifiers, std::string_view modifier);

// Statements of one kind each; their place allows them.
Statement arithmetic(Drawing& d);
Statement input_load(Drawing& d, const Place& place);
Statement own_memory(Drawing& d);
Statement fence(Drawing& d);
Statement atomic(Drawing& d, const Place& place);
Statement warp_collective(Drawing& d, const Place& place);
Statement warp_exchange(Drawing& d);
Statement barrier_exchange(Drawing& d, const Place& place);
Statement barrier_reduction(Drawing& d, const Place& place);
Statement cells_read(Drawing& d, const Place& place);
Statement special(Drawing& d);
Statement function_call(Drawing& d, size_t functions);

}  // namespace bitwell::program
