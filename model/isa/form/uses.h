// What the instructions of a function read, write and address, as the checks of their forms found it. Whoever
// follows values or judges accesses goes by this; nobody reads the text of an instruction again.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/isa/form/memory_use.h"

namespace bitwell::isa {

// One operand, or the guard.
struct Use {
  enum class Of : uint8_t {
    nothing,    // `_`
    reg,        // number: of the register, one for each that is declared
    constant,   // number: FunctionUses::constant
    variable,   // number: FunctionUses::variable
    parameter,  // likewise; of an entry, of a function or of a call
    function,   // number: in the program
    special     // what the machine says
  } of = Of::nothing;
  enum class Take : uint8_t {
    data,         // what the instruction does hangs on it
    address,      // it says where: an address, a coordinate
    hint,         // it helps the hardware: nothing hangs on it
    guard,        // it says whether
    result,       // it is written
    accumulator,  // it is read and written by an operation that may go on behind the instruction
    fragment      // it is read by such a one
  } take = Take::data;
  uint32_t number = 0;

  bool written() const { return take == Take::result || take == Take::accumulator; }
};

// Memory that it reaches.
struct Touch {
  static constexpr uint16_t kNoAddress = std::numeric_limits<uint16_t>::max();

  Space space = Space::generic;  // as the instruction names it, or the only one it may be
  bool reads = false, writes = false;
  bool barrier = false;           // it is an mbarrier, which holds no data
  bool atomic = false;            // in one step, by a lane
  bool commutes = false;          // what is left does not hang on the order of several such
  bool strong = false;            // a read of what threads of other CTAs may write meanwhile
  bool host = false;              // a write in which a host program may take part while the kernel runs
  bool operation = false;         // by one that may go on behind the instruction; else by its lanes
  bool gives = false;             // its results are what is read, as it is
  bool takes = false;             // what is written are its data, as they are
  uint8_t element = 0;            // bytes of each such value
  uint16_t address = kNoAddress;  // which of its uses is the address; none: a descriptor says it
  uint32_t bytes = 0;             // of a lane or of the operation; 0: only a run tells
};

// What becomes of the data of an instruction that may be addresses.
enum class Carry : uint8_t {
  opaque,       // no address
  copy,         // the one is the result
  any,          // each may be the result or in it
  first,        // the first, as it is or at another place
  either,       // one of the first two
  sum,          //
  difference,   //
  product_sum,  // the third, and a product
  up,           // shfl: the first of another lane, which the second names, within what the third says
  down,
  butterfly,
  index
};
constexpr bool shuffles(Carry c) { return c >= Carry::up; }

// What an instruction is to those who follow values, beside its operands.
enum class Act : uint8_t {
  none,
  warpgroup_mma,    // wgmma.mma_async
  warpgroup_fence,  // wgmma.fence
  warpgroup_group,  // wgmma.commit_group and wait_group
  allocates,        // calls of device code's malloc
  frees,            // and free
  takes_clusters,   // clusterlaunchcontrol.try_cancel
  calls             // of a function: the results, what is called, the arguments
};

// Of one instruction; valid as long as what it is of.
struct Uses {
  std::span<const Use> operands;
  std::span<const Touch> touches;
  size_t first_operand;  // which of all operands of the function the first is
  Carry carry;
  Act act;
  bool decides;       // where its thread goes on
  bool behind_label;  // others may go on here
  uint32_t shape;     // of a warpgroup_mma: those of one shape have the same
};

// Of a function, one for each of its lines. The compiler writes it, the check of each form adds to it.
class FunctionUses {
 public:
  size_t size() const { return heads_.size(); }
  Uses at(size_t instruction) const;
  size_t operand_count() const { return operands_.size(); }
  uint64_t constant(const Use& use) const { return constants_[use.number]; }
  const std::string& variable(const Use& use) const { return variables_[use.number]; }
  // As it is declared; of a range without leading zeros.
  std::string register_name(uint32_t number) const;

  void begin(bool behind_label);
  // What follows is of the instruction that was begun last.
  void add(Use::Of of, Use::Take take, uint32_t number = 0) { operands_.push_back({of, take, number}); }
  void add_constant(Use::Take take, uint64_t value);
  // The operand that was added last is taken so, or all from that one on.
  void as(Use::Take take) { operands_.back().take = take; }
  void as(Use::Take take, size_t from);
  // Memory at the operand that was added last.
  void touch_there(Touch touch);
  // Memory that no operand addresses.
  void touch(const Touch& touch);
  // None: registers, and what is no memory.
  void touch_nothing() { heads_.back().stated = true; }
  void carry(Carry carry) { heads_.back().carry = carry; }
  void act(Act act, uint32_t shape = 0);
  void decide() { heads_.back().decides = true; }
  // Whether one of the three touches has been said.
  bool stated() const { return heads_.back().stated; }

  uint32_t add_variable(const std::string& name);
  void name_register(uint32_t number, std::string_view name);

 private:
  struct Head {
    uint32_t operands = 0, touches = 0;  // the first of each
    uint32_t shape = 0;
    Carry carry = Carry::opaque;
    Act act = Act::none;
    bool decides = false, behind_label = false, stated = false;
  };
  // "%r12" as "%r" and 12.
  struct Name {
    uint32_t prefix = 0;
    int32_t number = -1;
  };

  std::vector<Head> heads_;
  std::vector<Use> operands_;
  std::vector<Touch> touches_;
  std::vector<uint64_t> constants_;
  std::vector<std::string> variables_;
  std::vector<std::string> prefixes_;
  std::vector<Name> names_;
};

}  // namespace bitwell::isa
