// Plain structs for PTX as written. Nothing here knows what an instruction means.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ptx/token.h"

namespace bitwell::ptx {

enum class OperandKind {
  name,      // register, variable, label, function; `_` is a name too; `suffix` holds .x of %tid.x
  integer,   // constant expression, value in `integer`
  floating,  // 0f, 0d or decimal literal
  vector,    // { ... }, elements
  memory,    // [ base + offset ] or [ base, {coordinates} ], elements[0] the base, integer the offset
  pair,      // a|b, elements[0] and [1]
  list       // ( ... ) of a call, elements
};

struct Operand {
  OperandKind kind = OperandKind::name;
  std::string name;
  std::string suffix;
  uint64_t integer = 0;      // of a name: the offset added to its address
  bool is_unsigned = false;  // the integer expression has a U somewhere or does not fit int64
  bool is_single = false;    // floating: 0f literal (32 bits in `integer`); otherwise 64 bits of a double
  bool negated = false;      // !p
  bool minus = false;        // -r, of vmad alone
  std::vector<Operand> elements;
  Position at;
};

struct Guard {
  std::string predicate;
  bool negated = false;
};

// Where the CUDA compiler says the next instructions come from (.loc).
struct SourceLine {
  int file = 0;  // key of Module::files, 0 when unknown
  int line = 0;
  int column = 0;
  int inlined_at = -1;  // of an inlined function: index into Module::inlined_at
};

struct Instruction {
  std::optional<Guard> guard;
  std::string opcode;
  std::vector<std::string> modifiers;  // each with its dot, in the order written
  std::vector<Operand> operands;
  Position at;
  SourceLine source;
};
inline bool has(const Instruction& i, std::string_view modifier) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), modifier) != i.modifiers.end();
}

struct Initializer {  // one leaf of { ... }
  Operand value;      // integer, floating, or name (address of a symbol), generic(name) has suffix "generic"
};

struct Variable {
  std::string space;    // .reg .shared .global .local .const .param .sreg
  std::string linkage;  // .visible .extern .weak .common or empty
  std::string type;     // .f32 ...
  int vector = 1;       // .v2 .v4
  uint32_t align = 0;   // bytes, 0 when absent
  std::string name;
  std::optional<int> range;   // .reg .b32 %r<10>: 10
  std::vector<int64_t> dims;  // array; -1 for []
  std::vector<Initializer> initializers;
  bool initialized = false;
  bool pointer = false;  // .ptr
  Position at;
};

struct Function;

struct Statement {
  enum class Kind {
    instruction,
    label,
    variable,
    block,
    branch_targets,
    call_targets,
    call_prototype,
    pragma
  };
  Kind kind = Kind::instruction;
  Instruction instruction;
  std::string name;  // of a label, branch_targets, call_targets, call_prototype; text of a pragma
  std::vector<std::string> targets;  // of branch_targets, call_targets
  Variable variable;
  std::vector<Statement> body;      // of a block
  std::vector<Function> prototype;  // one, of a call_prototype
  Position at;
};

struct Function {
  bool is_entry = false;
  bool has_body = false;
  std::string linkage;
  std::string name;
  std::vector<Variable> returns;
  std::vector<Variable> params;
  std::map<std::string, std::vector<int64_t>> directives;  // .maxntid {256,1,1} ...
  std::vector<Statement> body;
  Position at;
};

struct Module {
  int version = 0;  // 10 * major + minor
  std::string target;
  std::vector<std::string> target_options;  // debug, texmode_...
  int address_size = 32;
  std::map<int, std::string> files;
  std::vector<SourceLine> inlined_at;  // where functions were inlined
  std::vector<Variable> variables;
  std::vector<Function> functions;  // declarations too
};

}  // namespace bitwell::ptx
