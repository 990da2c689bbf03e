// What instructions are said to touch, against the accesses of a run.
#pragma once
#include <map>
#include <set>
#include <string>

#include "model/isa/form/program.h"
#include "model/machine/event.h"

namespace bitwell::test {

std::string words(const isa::Touch& t);
// "writes %r1; takes %r2, 7; %p1 says whether; reads 4 bytes of global, at operand 2"
std::string words(const isa::FunctionUses& of, size_t instruction);

// Watches a launch of the program, which outlives it, and keeps what no touch of its line allows.
class UsesAgainst {
 public:
  explicit UsesAgainst(const isa::Program& program);
  UsesAgainst(const UsesAgainst&) = delete;
  UsesAgainst& operator=(const UsesAgainst&) = delete;

  machine::Observer observer();
  void look(const machine::Event& event);
  // The first access that none allows, in words; empty: there was none.
  const std::string& wrong() const { return wrong_; }
  // Those of a line that an access was of.
  bool seen(const isa::Touch* touch) const { return seen_.contains(touch); }
  // A touch of memory that no access was of, in words; empty: there was none.
  std::string unseen() const;
  size_t accesses_of(int line) const;

 private:
  void look(const machine::Access& a);

  std::map<int, std::vector<const isa::Touch*>> of_line_;
  std::set<int> heap_;
  std::set<const isa::Touch*> seen_;
  std::map<int, size_t> counts_;
  std::string wrong_;
};

}  // namespace bitwell::test
