#include "model/ptx/instruction.h"

#include "model/ptx/expression.h"

namespace bitwell::ptx {
namespace {

Operand parse_operand(Reader& reader);

// name = identifier [dotted]
Operand name(Reader& reader) {
  Operand out;
  out.at = reader.peek().at;
  out.name = reader.identifier();
  if (reader.peek().kind == TokenKind::dotted) out.suffix = reader.next().text;
  return out;
}

std::vector<Operand> elements(Reader& reader, std::string_view open, std::string_view close) {
  std::vector<Operand> out;
  reader.expect(open);
  if (reader.accept(close)) return out;
  out.reserve(1 + reader.count_ahead(",", close.front()));
  do out.push_back(parse_operand(reader));
  while (reader.accept(","));
  reader.expect(close);
  return out;
}

// memory = "[" (constant | name [("+" | "-") constant]) ["," operand]* "]"
Operand memory(Reader& reader) {
  Operand out;
  out.kind = OperandKind::memory;
  out.at = reader.peek().at;
  reader.expect("[");
  if (starts_constant(reader)) {
    out.elements.push_back(parse_constant(reader));
  } else {
    out.elements.push_back(name(reader));
    if (reader.is("+") || reader.is("-")) {
      const bool minus = reader.next().text == "-";
      const Operand offset = parse_constant(reader);
      if (offset.kind != OperandKind::integer) reader.fail("expected an integer offset before");
      out.integer = minus ? 0 - offset.integer : offset.integer;
    }
  }
  while (reader.accept(",")) out.elements.push_back(parse_operand(reader));
  reader.expect("]");
  return out;
}

// operand = "{" operand,* "}" | memory | "(" operand,* ")" | "!" name | constant | name [("+" | "-") n] |
// (name | "{" operand,* "}") "|" name
Operand parse_operand(Reader& reader) {
  const Reader::Nest nest(reader);
  const Position at = reader.peek().at;
  if (reader.is("{")) {
    Operand out;
    out.kind = OperandKind::vector;
    out.at = at;
    out.elements = elements(reader, "{", "}");
    if (!reader.accept("|")) return out;
    Operand with_predicate;
    with_predicate.kind = OperandKind::pair;
    with_predicate.at = at;
    with_predicate.elements = {std::move(out), name(reader)};
    return with_predicate;
  }
  if (reader.is("[")) return memory(reader);
  if (reader.is("!")) {
    reader.next();
    Operand out = name(reader);
    out.negated = true;
    return out;
  }
  if (starts_constant(reader)) return parse_constant(reader);
  Operand first = name(reader);
  if (reader.is("+") || reader.is("-")) {  // a symbol's address and an offset
    const bool minus = reader.next().text == "-";
    const Operand offset = parse_constant(reader);
    if (offset.kind != OperandKind::integer) reader.fail("expected an integer offset before");
    first.integer = minus ? 0 - offset.integer : offset.integer;
    return first;
  }
  if (!reader.accept("|")) return first;
  Operand out;
  out.kind = OperandKind::pair;
  out.at = at;
  out.elements = {first, name(reader)};
  return out;
}

// call operands = ["(" names ")" ","] target ["," "(" operands ")"] ["," prototype]
void call_operands(Reader& reader, Instruction& i) {
  do {
    if (reader.is("(")) {
      Operand list;
      list.kind = OperandKind::list;
      list.at = reader.peek().at;
      list.elements = elements(reader, "(", ")");
      i.operands.push_back(std::move(list));
    } else {
      i.operands.push_back(parse_operand(reader));
    }
  } while (reader.accept(","));
}

}  // namespace

Instruction parse_instruction(Reader& reader) {
  Instruction out;
  if (reader.accept("@")) {
    Guard guard;
    guard.negated = reader.accept("!");
    guard.predicate = reader.identifier();
    out.guard = guard;
  }
  out.at = reader.peek().at;
  out.opcode = reader.identifier();
  size_t modifiers = 0;
  while (reader.peek(modifiers).kind == TokenKind::dotted) ++modifiers;
  out.modifiers.reserve(modifiers);
  while (reader.peek().kind == TokenKind::dotted) out.modifiers.emplace_back(reader.next().text);
  if (reader.accept(";")) return out;
  out.operands.reserve(1 + reader.count_ahead(",", ';'));
  if (out.opcode == "call") {
    call_operands(reader, out);
  } else {
    do {
      const bool minus = out.opcode == "vmad" && reader.is("-") &&
                         reader.peek(1).kind == TokenKind::identifier && reader.peek(1).text != "WARP_SZ";
      if (minus) reader.next();
      out.operands.push_back(parse_operand(reader));
      out.operands.back().minus = minus;
    } while (reader.accept(","));
  }
  reader.expect(";");
  return out;
}

}  // namespace bitwell::ptx
