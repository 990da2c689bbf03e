// A module as PTX text, in a style drawn from a seed: blanks, comments, bases of integers, spellings of
// floating values, optional parentheses and declarations joined or not.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "model/ptx/syntax.h"

namespace bitwell::ptx {

// INT64_MIN as a signed number is no literal.
inline bool needs_parenthesis(const Operand& o) { return !o.is_unsigned && o.integer == uint64_t{1} << 63; }

class Printer {
 public:
  explicit Printer(unsigned style) : random_(style) {}

  std::string print(const Module& m) {
    out_.clear();
    word(".version"), word(std::to_string(m.version / 10) + "." + std::to_string(m.version % 10));
    word(".target"), word(m.target);
    for (const std::string& option : m.target_options) word(","), word(option);
    if (m.address_size != 32 || toss())
      word(".address_size"), unsigned_integer(static_cast<uint64_t>(m.address_size));
    for (const auto& [index, name] : m.files) {
      word(".file"), unsigned_integer(static_cast<uint64_t>(index)), word("\"" + name + "\"");
      if (toss()) word(","), word("1700000000"), word(","), word("512");
    }
    if (toss()) word(".section"), word(".debug_str"), word("{"), word(".b8"), word("1"), word("}");
    for (size_t i = 0; i < m.variables.size();) {
      i = declaration(i, m.variables.size(), [&](size_t n) -> const Variable& { return m.variables[n]; });
      if (toss()) word(".pragma"), word("\"x\""), word(";");
    }
    for (const Function& f : m.functions) function(f);
    return out_;
  }

 private:
  bool toss(int of = 2) { return static_cast<int>(random_() % static_cast<unsigned>(of)) == 0; }

  void word(const std::string& text) {
    static const std::array<std::string, 6> blanks{" ", "\n", "\t", " /* / * */ ", " // { ;\n", "\r\n"};
    const bool tight = text.size() == 1 && std::string(",;[](){}").find(text) != std::string::npos;
    if (!tight || toss()) out_ += toss() ? blanks[0] : blanks[random_() % blanks.size()];
    out_ += text;
  }

  static std::string digits(uint64_t value, unsigned base, bool capital) {
    const std::string_view figures = capital ? "0123456789ABCDEF" : "0123456789abcdef";
    std::string out;
    for (; value != 0 || out.empty(); value /= base) out.insert(out.begin(), figures[value % base]);
    return out;
  }
  std::string spelled(uint64_t value) {
    switch (random_() % 4) {
      case 0: return digits(value, 10, false);
      case 1: return "0" + digits(value, 8, false);
      case 2: return (toss() ? "0x" : "0X") + digits(value, 16, toss());
      default: return (toss() ? "0b" : "0B") + digits(value, 2, false);
    }
  }
  void unsigned_integer(uint64_t value) { word(spelled(value) + (toss(4) ? "U" : "")); }

  // An integer whose sign is that of `o`, which nothing but its value and type determine.
  void integer(const Operand& o) {
    const bool large = o.integer >> 63 == 1;
    if (o.is_unsigned)
      word(spelled(o.integer) + (large && toss() ? "" : "U"));
    else if (needs_parenthesis(o))
      word("("), word("-9223372036854775807"), word("-"), word("1"), word(")");
    else if (large)
      word("-"), word(spelled(0 - o.integer));
    else
      word(spelled(o.integer));
  }
  void constant(const Operand& o) {
    if (o.kind == OperandKind::integer) return integer(o);
    const double value = std::bit_cast<double>(o.integer);
    std::array<char, 40> text{};
    if (o.is_single) {
      std::snprintf(text.data(), text.size(), toss() ? "0f%08llX" : "0F%08llx",
                    static_cast<unsigned long long>(o.integer));
    } else if (std::isnormal(value) && toss()) {
      std::snprintf(text.data(), text.size(), "%.17e", std::abs(value));
      if (value < 0) word("-");
    } else {
      std::snprintf(text.data(), text.size(), toss() ? "0d%016llX" : "0D%016llx",
                    static_cast<unsigned long long>(o.integer));
    }
    word(text.data());
  }

  // "+ n" or "- n", with any n that makes `value`.
  void offset(uint64_t value) {
    if (value == 0 && toss()) return;
    const bool minus = toss();
    word(minus ? "-" : "+");
    Operand n;
    n.kind = OperandKind::integer;
    n.integer = minus ? 0 - value : value;
    integer(n);
  }
  void symbol(const Operand& o) {
    word(o.name);
    if (!o.suffix.empty()) word(o.suffix);
  }

  template <class Items, class Print>
  void list(const Items& items, Print print) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) word(",");
      first = false;
      print(item);
    }
  }
  void operands(const std::vector<Operand>& all) {
    list(all, [&](const Operand& o) { operand(o); });
  }
  void operand(const Operand& o) {
    switch (o.kind) {
      case OperandKind::name:
        if (o.negated) word("!");
        if (o.minus) word("-");
        symbol(o);
        if (!o.negated) offset(o.integer);
        return;
      case OperandKind::integer:
      case OperandKind::floating: return constant(o);
      case OperandKind::vector: word("{"), operands(o.elements), word("}"); return;
      case OperandKind::list: word("("), operands(o.elements), word(")"); return;
      case OperandKind::pair: symbol(o.elements[0]), word("|"), symbol(o.elements[1]); return;
      case OperandKind::memory: break;
    }
    word("[");
    if (o.elements[0].kind == OperandKind::name)
      symbol(o.elements[0]), offset(o.integer);
    else
      constant(o.elements[0]);
    for (size_t i = 1; i < o.elements.size(); ++i) word(","), operand(o.elements[i]);
    word("]");
  }

  void instruction(const Instruction& i) {
    if (i.source.file != source_.file || i.source.line != source_.line) {
      word(".loc"), word(std::to_string(i.source.file)), word(std::to_string(i.source.line)), word("3");
      if (toss())
        word(","), word("function_name"), word("$L__info"), word("+"), word("8"), word(","),
            word("inlined_at"), word("1"), word("2"), word("3");
      source_ = i.source;
    }
    if (i.guard) word("@"), word(i.guard->negated ? "!" : ""), word(i.guard->predicate);
    word(i.opcode);
    for (const std::string& m : i.modifiers) word(m);
    operands(i.operands);
    word(";");
  }

  void attributes(const Variable& v) {
    const bool align_first = toss();
    for (const bool align : {align_first, !align_first}) {
      if (align && v.align != 0) word(".align"), unsigned_integer(v.align);
      if (!align && v.vector != 1) word(".v" + std::to_string(v.vector));
    }
    word(v.type);
  }
  void initializer(const Initializer& i) {
    if (i.value.kind != OperandKind::name) return constant(i.value);
    if (i.value.suffix == "generic")
      word("generic"), word("("), word(i.value.name), word(")");
    else
      word(i.value.name);
    if (i.value.integer == 0 && toss()) return;
    word("+");
    Operand n = i.value;
    n.kind = OperandKind::integer;
    integer(n);
  }
  void declarator(const Variable& v) {
    word(v.name);
    if (v.range) word("<"), unsigned_integer(static_cast<uint64_t>(*v.range)), word(">");
    for (const int64_t dim : v.dims) {
      word("[");
      if (dim >= 0) unsigned_integer(static_cast<uint64_t>(dim));
      word("]");
    }
    if (!v.initialized) return;
    word("=");
    if (v.initializers.size() == 1 && toss()) return initializer(v.initializers[0]);
    word("{");
    list(v.initializers, [&](const Initializer& i) {
      const bool nested = toss(3);
      if (nested) word("{");
      initializer(i);
      if (nested) word("}");
    });
    word("}");
  }
  // Variables [i, ...) that one declaration can hold, at(n) being the n-th; returns the next.
  template <class At>
  size_t declaration(size_t i, size_t count, At at) {
    const Variable& first = at(i);
    if (!first.linkage.empty()) word(first.linkage);
    word(first.space);
    if (toss(8)) word(".attribute"), word("("), word(".managed"), word(")");
    attributes(first);
    declarator(first);
    for (++i; i < count && toss(); ++i) {
      const Variable& v = at(i);
      if (v.linkage != first.linkage || v.space != first.space || v.type != first.type ||
          v.vector != first.vector || v.align != first.align)
        break;
      word(","), declarator(v);
    }
    word(";");
    return i;
  }

  void parameters(const std::vector<Variable>& all, bool may_be_left_out) {
    if (all.empty() && may_be_left_out && toss()) return;
    word("(");
    list(all, [&](const Variable& v) {
      word(v.space);
      attributes(v);
      if (v.pointer) {
        word(".ptr");
        if (toss()) word(".global");
        if (toss()) word(".align"), word("16");
      }
      declarator(v);
    });
    word(")");
  }
  void directives(const Function& f) {
    for (const auto& [name, values] : f.directives) {
      word(name);
      list(values, [&](int64_t v) { unsigned_integer(static_cast<uint64_t>(v)); });
    }
  }
  void function(const Function& f) {
    if (!f.linkage.empty()) word(f.linkage);
    word(f.is_entry ? ".entry" : ".func");
    if (!f.is_entry) parameters(f.returns, true);
    word(f.name);
    parameters(f.params, true);
    directives(f);
    source_ = {};
    if (f.has_body)
      block(f.body);
    else
      word(";");
  }

  void block(const std::vector<Statement>& body) {
    word("{");
    for (size_t i = 0; i < body.size();) {
      if (body[i].kind == Statement::Kind::variable) {
        size_t end = i;
        while (end < body.size() && body[end].kind == Statement::Kind::variable) ++end;
        i = declaration(i, end, [&](size_t n) -> const Variable& { return body[n].variable; });
      } else {
        statement(body[i++]);
      }
    }
    word("}");
  }
  void statement(const Statement& s) {
    using Kind = Statement::Kind;
    switch (s.kind) {
      case Kind::instruction: return instruction(s.instruction);
      case Kind::block: return block(s.body);
      case Kind::pragma: word(".pragma"), word(s.name), word(";"); return;
      case Kind::variable: return;  // by declaration()
      default: break;
    }
    word(s.name), word(":");
    if (s.kind == Kind::branch_targets || s.kind == Kind::call_targets) {
      word(s.kind == Kind::branch_targets ? ".branchtargets" : ".calltargets");
      list(s.targets, [&](const std::string& t) { word(t); });
      word(";");
    } else if (s.kind == Kind::call_prototype) {
      const Function& f = s.prototype[0];
      word(".callprototype");
      parameters(f.returns, true);
      word("_");
      parameters(f.params, true);
      directives(f);
      word(";");
    }
  }

  std::mt19937 random_;
  std::string out_;
  SourceLine source_;
};

}  // namespace bitwell::ptx
