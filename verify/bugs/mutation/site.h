// One instruction of a text, and the mistakes that it can be given: what mutate_*.cpp share.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/bugs/mutation/mutate.h"
#include "verify/bugs/mutation/parts.h"

namespace bitwell::bugs {

// Collects the mutants of one instruction. Each kind of edit names the mistake that it stands for.
class Site {
 public:
  Site(const Line& line, std::vector<Mutant>& out);

  const Parts& parts() const { return p_; }

  // The instruction becomes `after`, empty: it is deleted. One that stays as it is is none.
  void add(const char* kind, const std::string& after);
  void remove(const char* kind) { add(kind, ""); }
  void operand(const char* kind, size_t i, const std::string& value);
  // In the opcode `from`, a whole modifier or one that ends in ':', becomes `to`.
  void opcode(const char* kind, const std::string& from, const std::string& to);
  // Another value for a register operand: `compute` (an instruction without its destination) of what stands
  // for $ in it.
  void wrapped(const char* kind, size_t i, const std::string& type, const std::string& compute) {
    computed(kind, i, "planted", type, compute, p_.operands[i]);
  }
  // The same for a register within an operand: it becomes `value`, where "planted" is computed of `from`.
  void computed(const char* kind, size_t i, const std::string& value, const std::string& type,
                const std::string& compute, const std::string& from);
  // A number, `by` more and `by` less, register or not.
  void around(const char* kind, size_t i, int64_t by);
  void halved(const char* kind, size_t i);
  // An address in brackets, by that many bytes; nothing where it has an offset that is no number.
  void moved(const char* kind, size_t i, int64_t by);

 private:
  int line_;
  size_t at_, length_;
  Parts p_;
  std::string before_;
  std::vector<Mutant>& out_;
};

// What agents meet by: waits, arrivals, barriers, fences and copies, their counts, scopes, orders and stages.
void plant_meetings(Site& site);
// Constants, addresses, comparisons, operations and the order of operands.
void plant_values(Site& site);
// Matrix instructions, the memory that they work on, and the copies that bring it.
void plant_matrices(Site& site);

// The parts of "{a, b, c}" within an operand, and what stands around them.
struct Braces {
  std::string before, after;
  std::vector<std::string> elements;
  std::string text() const;
};
// Without elements where there are no braces.
Braces braces(const std::string& operand);

}  // namespace bitwell::bugs
