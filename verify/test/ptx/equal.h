// Whether two pieces of syntax are the same, wherever they stand in their texts.
#pragma once
#include <tuple>

#include "model/ptx/syntax.h"

namespace bitwell::ptx {

// Field by field; a field added to a struct does not compile until it is compared here.
inline bool operator==(const Operand& x, const Operand& y) {
  const auto all = [](const Operand& o) {
    const auto& [kind, name, suffix, integer, is_unsigned, is_single, negated, minus, elements, at] = o;
    return std::tie(kind, name, suffix, integer, is_unsigned, is_single, negated, minus, elements);
  };
  return all(x) == all(y);
}
inline bool operator==(const Guard& x, const Guard& y) {
  const auto& [predicate, negated] = x;
  return predicate == y.predicate && negated == y.negated;
}
inline bool operator==(const SourceLine& x, const SourceLine& y) {
  const auto& [file, line, column, inlined_at] = x;  // the last two are InlinedTest's
  return file == y.file && line == y.line;
}
inline bool operator==(const Instruction& x, const Instruction& y) {
  const auto all = [](const Instruction& i) {
    const auto& [guard, opcode, modifiers, operands, at, source] = i;
    return std::tie(guard, opcode, modifiers, operands, source);
  };
  return all(x) == all(y);
}
inline bool operator==(const Initializer& x, const Initializer& y) {
  const auto& [value] = x;
  return value == y.value;
}
inline bool operator==(const Variable& x, const Variable& y) {
  const auto all = [](const Variable& v) {
    const auto& [space, linkage, type, vector, align, name, range, dims, initializers, initialized, pointer,
                 at] = v;
    return std::tie(space, linkage, type, vector, align, name, range, dims, initializers, initialized,
                    pointer);
  };
  return all(x) == all(y);
}
inline bool operator==(const Function& x, const Function& y);
inline bool operator==(const Statement& x, const Statement& y) {
  const auto all = [](const Statement& s) {
    const auto& [kind, instruction, name, targets, variable, body, prototype, at] = s;
    return std::tie(kind, instruction, name, targets, variable, body, prototype);
  };
  return all(x) == all(y);
}
inline bool operator==(const Function& x, const Function& y) {
  const auto all = [](const Function& f) {
    const auto& [is_entry, has_body, linkage, name, returns, params, directives, body, at] = f;
    return std::tie(is_entry, has_body, linkage, name, returns, params, directives, body);
  };
  return all(x) == all(y);
}
inline bool operator==(const Module& x, const Module& y) {
  const auto all = [](const Module& m) {
    const auto& [version, target, options, address_size, files, inlined_at, variables, functions] = m;
    return std::tie(version, target, options, address_size, files, variables, functions);
  };
  return all(x) == all(y);
}

}  // namespace bitwell::ptx
