// A random module, written as text in any of the ways that PTX allows, parses back to the same module.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "equal.h"
#include "model/ptx/parse.h"
#include "printer.h"

namespace bitwell::ptx {
namespace {

template <class T>
T one_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}
// At full size from the first test on.
int below(int n) { return *rc::gen::resize(100, rc::gen::inRange(0, n)); }
bool chance(int percent) { return below(100) >= 100 - percent; }
template <class Make>
auto several(int least, int most, Make make) {
  std::vector<decltype(make())> out;
  for (int n = least + below(most - least + 1); n > 0; --n) out.push_back(make());
  return out;
}

std::string drawn_name() {
  return one_of<std::string>(
      {"%r1", "%rd12", "%p0", "$L__BB0_2", "_", "_Z3addPfi", "a", "x$1", "%SP", "f0", "b1", "e5"});
}
uint64_t drawn_integer() {
  return *rc::gen::oneOf(
      rc::gen::element<uint64_t>(0, 1, 7, 8, 31, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, INT64_MAX,
                                 uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 1),
      rc::gen::arbitrary<uint64_t>());
}

Operand drawn_symbol(bool with_suffix, bool with_offset) {
  Operand o;
  o.name = drawn_name();
  if (with_suffix && chance(15)) o.suffix = one_of<std::string>({".x", ".y", ".b0", ".shared::cta"});
  if (with_offset && chance(30)) o.integer = drawn_integer();
  return o;
}

Operand drawn_constant() {
  Operand o;
  if (chance(70)) {
    o.kind = OperandKind::integer;
    o.integer = drawn_integer();
    o.is_unsigned = chance(30);
    return o;
  }
  o.kind = OperandKind::floating;
  o.is_single = chance(40);
  if (o.is_single)
    o.integer = *rc::gen::oneOf(
        rc::gen::element<uint32_t>(0, 0x80000000, 1, 0x3F800000, 0x7F800000, 0x7FC00001, 0xFFFFFFFF),
        rc::gen::arbitrary<uint32_t>());
  else
    o.integer = *rc::gen::oneOf(
        rc::gen::element<uint64_t>(0, uint64_t{1} << 63, 1, 0x3FF0000000000000, 0x7FF0000000000000,
                                   0x7FEFFFFFFFFFFFFF, 0x0010000000000000, 0xFFFFFFFFFFFFFFFF),
        rc::gen::arbitrary<uint64_t>());
  return o;
}

Operand drawn_operand(int depth) {
  const int which = *rc::gen::weightedElement<int>({{5, 0}, {4, 1}, {3, 2}, {2, 3}, {1, 4}, {1, 5}});
  Operand o;
  switch (depth > 0 || which < 2 ? which : 0) {
    case 0: return drawn_symbol(true, true);
    case 1: return drawn_constant();
    case 2:  // an address, with coordinates where a tensor's are
      o.kind = OperandKind::memory;
      if (chance(15)) {
        o.elements.push_back(drawn_constant());
      } else {
        o.elements.push_back(drawn_symbol(true, false));
        o.integer = chance(50) ? drawn_integer() : 0;
      }
      for (const Operand& more : several(0, chance(30) ? 2 : 0, [&] { return drawn_operand(depth - 1); }))
        o.elements.push_back(more);
      return o;
    case 3:
      o.kind = OperandKind::vector;
      o.elements = several(0, 4, [&] { return drawn_operand(depth - 1); });
      return o;
    case 4:
      o.kind = OperandKind::pair;
      o.elements = {drawn_symbol(true, false), drawn_symbol(true, false)};
      return o;
    default:
      o = drawn_symbol(true, false);
      o.negated = true;
      return o;
  }
}

Instruction drawn_instruction(SourceLine source) {
  Instruction i;
  i.source = source;
  if (chance(25)) i.guard = Guard{drawn_name(), chance(50)};
  i.opcode = one_of<std::string>({"add", "ld", "st", "bra", "mov", "wgmma", "ret", "call", "cp"});
  i.modifiers = several(0, 4, [] {
    return one_of<std::string>({".f32", ".v4", ".shared::cluster", ".mbarrier::complete_tx::bytes", ".32x32b",
                                ".2d", ".rn", ".L2::cache_hint", ".x8", ".global"});
  });
  const bool call = i.opcode == "call";
  i.operands = several(0, 4, [&] {
    Operand o = drawn_operand(2);
    if (call && chance(50)) {
      Operand list;
      list.kind = OperandKind::list;
      list.elements = several(0, 3, [] { return drawn_operand(1); });
      return list;
    }
    // In a call a parenthesis opens a list; what can only be written with one is left out.
    if (call && o.kind == OperandKind::integer && needs_parenthesis(o)) o.integer = 1;
    return o;
  });
  return i;
}

std::string drawn_type(bool reg, bool param) {
  std::vector<std::string> types{".b8",  ".b16", ".b32", ".b64", ".b128", ".u8",  ".u16", ".u32",
                                 ".u64", ".s8",  ".s16", ".s32", ".s64",  ".f16", ".f32", ".f64"};
  if (reg) types.push_back(".pred");
  if (!param) types.push_back(".f16x2");
  return *rc::gen::elementOf(types);
}
uint32_t drawn_alignment() {
  return chance(60) ? 0 : one_of<uint32_t>({1, 2, 4, 16, 128, uint32_t{1} << 20, uint32_t{1} << 31});
}
std::vector<int64_t> drawn_dims() {
  auto dims = several(0, 3, [] { return one_of<int64_t>({1, 2, 10, 65536, int64_t{1} << 32, INT64_MAX}); });
  if (!dims.empty() && chance(30)) dims[0] = one_of<int64_t>({-1, 0});
  return dims;
}

Variable drawn_variable(bool in_body) {
  Variable v;
  v.space = one_of<std::string>({".reg", ".shared", ".global", ".local", ".const", ".param"});
  v.linkage = in_body ? one_of<std::string>({"", "", "", ".extern", ".visible"})
                      : one_of<std::string>({"", "", ".extern", ".visible", ".weak", ".common"});
  v.type = drawn_type(v.space == ".reg", v.space == ".param");
  v.vector = one_of({1, 1, 2, 4});
  v.align = drawn_alignment();
  v.name = drawn_name();
  if (v.space == ".reg" && chance(50)) {
    v.range = one_of({0, 1, 2, 100, INT32_MAX});
    return v;
  }
  v.dims = drawn_dims();
  v.initialized = chance(40);
  if (v.initialized)
    v.initializers = several(0, 4, [] {
      Initializer i;
      if (chance(60)) return Initializer{drawn_constant()};
      i.value = drawn_symbol(false, true);
      if (chance(40)) i.value.suffix = "generic";
      return i;
    });
  return v;
}

Variable drawn_parameter() {
  Variable v;
  v.space = one_of<std::string>({".param", ".param", ".param", ".reg"});
  v.type = drawn_type(v.space == ".reg", v.space == ".param");
  v.vector = one_of({1, 1, 1, 2, 4});
  v.align = drawn_alignment();
  v.pointer = chance(20);
  v.name = drawn_name();
  if (chance(30)) v.dims = drawn_dims();
  return v;
}

std::map<std::string, std::vector<int64_t>> drawn_directives() {
  std::map<std::string, std::vector<int64_t>> out;
  struct Row {
    const char* name;
    int most;
  };
  for (const Row& r : {Row{".maxntid", 3},
                       {".reqntid", 3},
                       {".minnctapersm", 1},
                       {".maxnreg", 1},
                       {".noreturn", 0},
                       {".reqnctapercluster", 3},
                       {".explicitcluster", 0},
                       {".maxclusterrank", 1}})
    if (chance(15))
      out[r.name] = r.most == 0 ? std::vector<int64_t>{} : several(1, r.most, [] {
        return one_of<int64_t>({0, 1, 32, 1024, 65535, 0xFFFFFFFF});
      });
  return out;
}

std::vector<Statement> drawn_body(int depth, SourceLine& source) {
  std::vector<Statement> out;
  for (int n = below(6); n > 0; --n) {
    Statement s;
    using Kind = Statement::Kind;
    s.kind = *rc::gen::weightedElement<Kind>({{8, Kind::instruction},
                                              {2, Kind::label},
                                              {3, Kind::variable},
                                              {1, Kind::block},
                                              {1, Kind::branch_targets},
                                              {1, Kind::call_targets},
                                              {1, Kind::call_prototype},
                                              {1, Kind::pragma}});
    if (s.kind == Kind::block && depth == 0) s.kind = Kind::label;
    const bool named = s.kind == Kind::label || s.kind == Kind::branch_targets ||
                       s.kind == Kind::call_targets || s.kind == Kind::call_prototype;
    if (named) s.name = drawn_name();
    switch (s.kind) {
      case Kind::instruction:
        if (chance(20)) source = {one_of({0, 1, 7}), one_of({0, 1, 100000})};
        s.instruction = drawn_instruction(source);
        break;
      case Kind::variable: s.variable = drawn_variable(true); break;
      case Kind::block: s.body = drawn_body(depth - 1, source); break;
      case Kind::branch_targets:
      case Kind::call_targets: s.targets = several(1, 3, drawn_name); break;
      case Kind::call_prototype: {
        Function f;
        f.name = "_";
        f.returns = several(0, 1, drawn_parameter);
        f.params = several(0, 2, drawn_parameter);
        if (chance(20)) f.directives[".noreturn"] = {};
        s.prototype.push_back(f);
        break;
      }
      case Kind::pragma: s.name = "\"nounroll\""; break;
      default: break;
    }
    out.push_back(s);
  }
  return out;
}

Function drawn_function() {
  Function f;
  f.is_entry = chance(50);
  f.linkage = one_of<std::string>({"", ".visible", ".weak", ".extern"});
  f.name = drawn_name();
  if (!f.is_entry) f.returns = several(0, 2, drawn_parameter);
  f.params = several(0, 3, drawn_parameter);
  f.directives = drawn_directives();
  f.has_body = chance(80);
  SourceLine source;
  if (f.has_body) f.body = drawn_body(2, source);
  return f;
}

Module drawn_module() {
  Module m;
  m.version = 10 + below(89);
  m.target = one_of<std::string>({"sm_90a", "sm_100", "sm_75"});
  m.target_options = several(0, 2, [] { return one_of<std::string>({"debug", "texmode_independent"}); });
  m.address_size = one_of({32, 64});
  if (chance(30)) m.files[one_of({1, 2, 400})] = one_of<std::string>({"/a/b.cu", "", "x y.cuh"});
  m.variables = several(0, 3, [] { return drawn_variable(false); });
  m.functions = several(0, 2, drawn_function);
  return m;
}

RC_GTEST_PROP(PrintThenParse, GivesTheSameModule, (unsigned style)) {
  for (int n = 0; n < 10; ++n) {
    const Module m = drawn_module();
    const std::string text = Printer(style).print(m);
    RC_LOG() << text << "\n";
    RC_ASSERT(parse(text) == m);
  }
}

// The only instruction whose registers have one.
TEST(PrintThenParse, ASignBeforeARegisterOfVmad) {
  const auto parsed = [](const std::string& instruction) {
    return parse(".version 9.0\n.target sm_90a\n.func f() { " + instruction + " }");
  };
  const Module m = parsed("vmad.s32.s32.s32 %r4, -%r1.b0, -5, -%r3;");
  const std::vector<Operand>& operands = m.functions.at(0).body.at(0).instruction.operands;
  EXPECT_EQ(operands.at(0).minus, false);
  EXPECT_EQ(operands.at(1).minus, true);
  EXPECT_EQ(operands.at(1).suffix, ".b0");
  EXPECT_EQ(operands.at(2).minus, false);
  EXPECT_EQ(operands.at(2).integer, static_cast<uint64_t>(-5));
  EXPECT_EQ(operands.at(3).minus, true);
  EXPECT_TRUE(parse(Printer(0).print(m)) == m);
  EXPECT_THROW(parsed("vadd.s32.s32.s32 %r4, -%r1, %r2;"), SyntaxError);
}

// What the syntax has to tell apart, by name: text and the operands it is.
TEST(PrintThenParse, BoundaryOperands) {
  const auto operand = [](const std::string& text) {
    return parse(".version 9.0\n.target sm_90a\n.func f() { i " + text + "; }")
        .functions.at(0)
        .body.at(0)
        .instruction;
  };
  const auto symbol = [](const std::string& name, uint64_t offset = 0) {
    Operand o;
    o.name = name;
    o.integer = offset;
    return o;
  };
  const auto integer = [](uint64_t value, bool is_unsigned = false) {
    Operand o;
    o.kind = OperandKind::integer;
    o.integer = value;
    o.is_unsigned = is_unsigned;
    return o;
  };
  const auto floating = [](uint64_t bits, bool single) {
    Operand o;
    o.kind = OperandKind::floating;
    o.integer = bits;
    o.is_single = single;
    return o;
  };
  const auto memory = [](std::vector<Operand> elements, uint64_t offset = 0) {
    Operand o;
    o.kind = OperandKind::memory;
    o.elements = std::move(elements);
    o.integer = offset;
    return o;
  };
  struct Row {
    const char* text;
    Operand operand;
  };
  for (const Row& r : {Row{"9223372036854775807", integer(INT64_MAX)},
                       {"9223372036854775808", integer(uint64_t{1} << 63, true)},
                       {"0xFFFFFFFFFFFFFFFF", integer(~uint64_t{0}, true)},
                       {"0XabU", integer(0xAB, true)},
                       {"0b101", integer(5)},
                       {"0B11U", integer(3, true)},
                       {"010", integer(8)},
                       {"0", integer(0)},
                       {"-1", integer(~uint64_t{0})},
                       {"0f80000000", floating(0x80000000, true)},
                       {"0F7FC00001", floating(0x7FC00001, true)},
                       {"0d8000000000000000", floating(uint64_t{1} << 63, false)},
                       {"0DFFFFFFFFFFFFFFFF", floating(~uint64_t{0}, false)},
                       {"1.5e3", floating(std::bit_cast<uint64_t>(1500.0), false)},
                       {"-2.5", floating(std::bit_cast<uint64_t>(-2.5), false)},
                       {"a-1", symbol("a", ~uint64_t{0})},
                       {"a+-1", symbol("a", ~uint64_t{0})},
                       {"[a]", memory({symbol("a")})},
                       {"[a+-8]", memory({symbol("a")}, ~uint64_t{7})},
                       {"[a - 8]", memory({symbol("a")}, ~uint64_t{7})},
                       {"[0x10]", memory({integer(16)})},
                       {"[a, b]", memory({symbol("a"), symbol("b")})}}) {
    const Instruction i = operand(r.text);
    ASSERT_EQ(i.operands.size(), 1u) << r.text;
    EXPECT_TRUE(i.operands[0] == r.operand) << r.text;
  }
}

}  // namespace
}  // namespace bitwell::ptx
