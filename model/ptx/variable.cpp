#include "model/ptx/variable.h"

#include <algorithm>
#include <array>
#include <bit>

#include "model/ptx/expression.h"

namespace bitwell::ptx {
namespace {

// .bf16 and .bf16x2 are types of instructions only.
constexpr std::array<std::string_view, 18> kTypes{".b8",  ".b16", ".b32",   ".b64", ".b128", ".u8",
                                                  ".u16", ".u32", ".u64",   ".s8",  ".s16",  ".s32",
                                                  ".s64", ".f16", ".f16x2", ".f32", ".f64",  ".pred"};

uint32_t power_of_two(Reader& reader) {
  const Position at = reader.peek().at;
  const uint32_t value = parse_count(reader);
  if (!std::has_single_bit(value))
    throw SyntaxError(at, "an alignment is a power of two up to 2^31, not " + std::to_string(value));
  return value;
}

// attributes = (".align" n | ".v2" | ".v4")*
void attributes(Reader& reader, Variable& v) {
  for (;;) {
    if (reader.accept(".align"))
      v.align = power_of_two(reader);
    else if (reader.accept(".v2"))
      v.vector = 2;
    else if (reader.accept(".v4"))
      v.vector = 4;
    else
      return;
  }
}

void type(Reader& reader, Variable& v) {
  if (std::find(kTypes.begin(), kTypes.end(), reader.peek().text) == kTypes.end())
    reader.fail("expected a type");
  v.type = reader.next().text;
  if (v.type == ".pred" && v.space != ".reg") reader.fail("a .pred variable must be a register before");
  if (v.type == ".f16x2" && v.space == ".param") reader.fail("a .param cannot be .f16x2 before");
}

// initializer = "{" initializer,* "}" | "generic" "(" name ")" | name ["+" n] | constant
void initializer(Reader& reader, std::vector<Initializer>& out) {
  const Reader::Nest nest(reader);
  if (reader.accept("{")) {
    if (reader.accept("}")) return;
    do initializer(reader, out);
    while (reader.accept(","));
    reader.expect("}");
    return;
  }
  if (starts_constant(reader)) {
    out.push_back({parse_constant(reader)});
    return;
  }
  Operand symbol;
  symbol.at = reader.peek().at;
  symbol.name = reader.identifier();
  if (symbol.name == "generic" && reader.accept("(")) {
    symbol.suffix = "generic";
    symbol.name = reader.identifier();
    reader.expect(")");
  }
  if (reader.accept("+")) symbol.integer = parse_constant(reader).integer;
  out.push_back({symbol});
}

// declarator = name ["<" n ">"] ("[" [n] "]")* ["=" initializer]
void declarator(Reader& reader, Variable& v) {
  v.at = reader.peek().at;
  v.name = reader.identifier();
  if (reader.accept("<")) {
    const uint64_t count = parse_integer(reader).integer;  // no expression: '>' ends it
    if (count > INT32_MAX) reader.fail("a register range must be below 2^31 before");
    v.range = static_cast<int>(count);
    reader.expect(">");
  }
  while (reader.accept("[")) {
    const bool open = reader.is("]");
    if (open && !v.dims.empty()) reader.fail("only an array's first size may be open, before");
    // No memory holds an array of 2^63 elements either.
    const uint64_t most = INT64_MAX;
    const int64_t dim = open ? -1 : static_cast<int64_t>(std::min(parse_integer(reader).integer, most));
    if (dim == 0 && !v.dims.empty()) reader.fail("only an array's first size may be 0, before");
    v.dims.push_back(dim);
    reader.expect("]");
  }
  if (reader.accept("=")) {
    v.initialized = true;
    initializer(reader, v.initializers);
  }
}

}  // namespace

std::vector<Variable> parse_variables(Reader& reader, const std::string& linkage) {
  static constexpr std::array<std::string_view, 6> spaces{".reg",   ".shared", ".global",
                                                          ".local", ".const",  ".param"};
  if (std::find(spaces.begin(), spaces.end(), reader.peek().text) == spaces.end())
    reader.fail("expected a declaration or an instruction");
  Variable base;
  base.linkage = linkage;
  base.space = reader.next().text;
  if (reader.accept(".attribute")) {
    reader.expect("(");
    while (!reader.accept(")")) {
      if (reader.at_end()) reader.fail("expected ')'");
      reader.next();
    }
  }
  attributes(reader, base);
  type(reader, base);
  std::vector<Variable> out;
  if (base.space == ".reg" && reader.is(";")) return out;  // declares nothing; ptxas takes it
  do {
    Variable v = base;
    declarator(reader, v);
    out.push_back(std::move(v));
  } while (reader.accept(","));
  return out;
}

Variable parse_parameter(Reader& reader) {
  Variable v;
  if (!reader.is(".param") && !reader.is(".reg")) reader.fail("expected .param");
  v.space = reader.next().text;
  attributes(reader, v);
  type(reader, v);
  if (reader.accept(".ptr")) {
    v.pointer = true;
    for (const char* space : {".const", ".global", ".local", ".shared"})
      if (reader.accept(space)) break;
    if (reader.accept(".align")) power_of_two(reader);
  }
  declarator(reader, v);
  return v;
}

}  // namespace bitwell::ptx
