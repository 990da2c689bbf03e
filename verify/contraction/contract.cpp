#include "verify/contraction/contract.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "model/ptx/blocks.h"
#include "model/ptx/contraction.h"

namespace bitwell::contraction {
namespace {

using ptx::Contractible;
using ptx::Instruction;

// How the registers of a type are declared, copied and negated.
struct Words {
  std::string_view type, declared, copied, negated;
  Rounded LineCode::*code;
};
constexpr Words kWords[] = {
    {".f32", ".f32", "mov.f32", "neg.f32", &LineCode::single},
    {".f64", ".f64", "mov.f64", "neg.f64", &LineCode::twice},
    {".f16", ".b16", "mov.b16", "neg.f16", &LineCode::half},
    {".f16x2", ".b32", "mov.b32", "neg.f16x2", &LineCode::half},
    {".bf16", ".b16", "mov.b16", "neg.bf16", &LineCode::half},
    {".bf16x2", ".b32", "mov.b32", "neg.bf16x2", &LineCode::half},
    {".f32x2", ".b64", "mov.b64", "", &LineCode::single},
};
const Words& words(std::string_view type) {
  return *std::find_if(std::begin(kWords), std::end(kWords), [&](const Words& w) { return w.type == type; });
}

// Of registers, by what reads them.
std::map<std::string, size_t> uses_in(const ptx::Function& f) {
  std::map<std::string, size_t> out;
  ptx::each_instruction(f.body, [&](const Instruction& i) {
    for (size_t n = 0; n < i.operands.size(); ++n)
      if (n != 0 || i.operands[n].kind == ptx::OperandKind::memory)
        ptx::each_name(i.operands[n], [&](const std::string& name) { ++out[name]; });
  });
  return out;
}

std::string guard_of(const Instruction& i) {
  return i.guard ? (i.guard->negated ? "@!" : "@") + i.guard->predicate + " " : "";
}

class Text {
 public:
  explicit Text(const std::string& text) : text_(text) {
    for (size_t end = 0; (end = text.find('\n', lines_.back())) != std::string::npos;)
      lines_.push_back(end + 1);
  }

  // Of an instruction from its opcode to behind its semicolon.
  std::pair<size_t, size_t> of(const Instruction& i) const {
    const size_t from = at(i.at);
    return {from, behind(from, ';')};
  }
  // Behind the brace that a function's body begins with.
  size_t body(const ptx::Function& f) const { return behind(at(f.at), '{'); }
  // Its operands as they are written; those of a mul, add or sub have no braces.
  std::vector<std::string> operands(const Instruction& i) const {
    const auto [from, to] = of(i);
    size_t next = text_.find_first_of(" \t\r\n/", from);
    std::vector<std::string> out(1);
    while (next < to - 1) {
      if (const size_t behind = behind_comment(next); behind != next) {
        next = behind;
        continue;
      }
      const char c = text_[next++];
      if (c == ',')
        out.emplace_back();
      else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
        out.back() += c;
    }
    return out;
  }

  // What is put in place of it keeps the number of lines.
  void replace(std::pair<size_t, size_t> piece, std::string by) {
    const auto line_ends = std::count(text_.begin() + static_cast<std::ptrdiff_t>(piece.first),
                                      text_.begin() + static_cast<std::ptrdiff_t>(piece.second), '\n');
    edits_[piece.first] = {piece.second, std::move(by) + std::string(static_cast<size_t>(line_ends), '\n')};
  }
  std::string edited() const {
    std::string out;
    size_t at = 0;
    for (const auto& [from, edit] : edits_) {
      out += text_.substr(at, from - at) + edit.second;
      at = edit.first;
    }
    return out + text_.substr(at);
  }

 private:
  size_t at(ptx::Position p) const {
    return lines_[static_cast<size_t>(p.line) - 1] + static_cast<size_t>(p.column) - 1;
  }
  size_t behind(size_t from, char c) const {
    while (text_[from] != c) {
      const size_t behind = behind_comment(from);
      from = behind != from ? behind : from + 1;
    }
    return from + 1;
  }
  // Behind a comment that begins there; there, if none does.
  size_t behind_comment(size_t from) const {
    if (text_.compare(from, 2, "//") == 0) return text_.find('\n', from);
    if (text_.compare(from, 2, "/*") == 0) return text_.find("*/", from + 2) + 2;
    return from;
  }

  const std::string& text_;
  std::vector<size_t> lines_{0};  // where each begins
  std::map<size_t, std::pair<size_t, std::string>> edits_{};
};

// Of one function, what the machine code has fused.
class Contraction {
 public:
  Contraction(const ptx::Function& function, const std::map<int64_t, LineCode>& code, Text& text,
              size_t& names)
      : code_(code),
        text_(text),
        names_(names),
        function_(function),
        blocks_(function),
        uses_(uses_in(function)) {}

  void tell(Contracted& out) {
    const std::vector<Contractible> all = ptx::contractible(function_);
    std::vector<const Contractible*> fused;
    for (size_t i = 0; i < all.size();) {
      size_t end = i + 1;
      while (end < all.size() && all[end].sum == all[i].sum) ++end;
      if (const Contractible* c = decide({&all[i], end - i}, out)) fused.push_back(c);
      i = end;
    }
    std::map<size_t, std::vector<const Contractible*>> sums;  // by where the product stands
    for (const Contractible* c : fused) sums[text_.of(*c->product).first].push_back(c);
    for (const auto& [at, of] : sums) put(*of[0]->product, of);
    if (!declared_.empty()) {
      const size_t at = text_.body(function_);
      text_.replace({at, at}, declared_);
    }
  }

 private:
  Rounded rounded(const Instruction& i, std::string_view type) const {
    const auto at = code_.find(i.at.line);
    return at == code_.end() ? Rounded{} : at->second.*words(type).code;
  }

  // The product that the sum was fused with, of those that it may take.
  const Contractible* decide(std::span<const Contractible> of, Contracted& out) const {
    const Contractible* gone = nullptr;
    size_t products_gone = 0;
    for (const Contractible& c : of) {
      const Rounded product = rounded(*c.product, c.type);
      if (product.products + product.fused != 0) continue;
      ++products_gone;
      gone = &c;
    }
    const Rounded sum = rounded(*of[0].sum, of[0].type);
    if (sum.sums + sum.fused == 0) return nullptr;  // nobody takes what comes of it
    ++out.sums;
    const bool half = words(of[0].type).code == &LineCode::half;
    if (sum.fused == 0 || (half && gone == nullptr)) return nullptr;
    const Pair pair{of[0].sum->at.line, (gone == nullptr ? of[0] : *gone).product->at.line};
    if (sum.sums != 0 || products_gone != 1 || !gone->certain) {
      out.unclear.push_back(pair);
      return nullptr;
    }
    out.fused.push_back(pair);
    return gone;
  }

  // Whether the sum can take the product's own operands: nothing writes one of them before the sum.
  bool direct(const Instruction& product, const Instruction& sum) const {
    return std::all_of(product.operands.begin() + 1, product.operands.end(), [&](const ptx::Operand& factor) {
      return factor.name != product.operands[0].name && blocks_.keep(product, sum, factor.name);
    });
  }

  std::string fresh(const Words& w) {
    std::string out = "%bitwell_fused" + std::to_string(names_++);
    declared_ += " .reg " + std::string(w.declared) + " " + out + ";";
    return out;
  }

  void put(const Instruction& product, const std::vector<const Contractible*>& sums) {
    const Words& w = words(sums[0]->type);
    std::vector<std::string> taken = text_.operands(product);
    const std::string guard = guard_of(product);
    const auto piece = text_.of(product);
    std::string copies;  // in front of it, behind its guard
    const bool all_direct = std::all_of(sums.begin(), sums.end(),
                                        [&](const Contractible* c) { return direct(product, *c->sum); });
    for (size_t n = 1; n < 3 && !all_direct; ++n) {
      if (product.operands[n].kind != ptx::OperandKind::name) continue;
      const std::string to = fresh(w);
      copies += std::string(w.copied) + " " + to + ", " + taken[n] + "; " + guard;
      taken[n] = to;
    }
    for (const Contractible* c : sums) put(*c, taken);
    const auto at_once = [](const Contractible* c) { return c->at_once; };
    const bool needed = product.guard || !std::all_of(sums.begin(), sums.end(), at_once) ||
                        uses_[product.operands[0].name] != sums.size();
    text_.replace(needed ? std::pair(piece.first, piece.first) : piece, copies);
  }

  void put(const Contractible& c, const std::vector<std::string>& product) {
    const Words& w = words(c.type);
    const std::string guard = guard_of(*c.sum);
    const std::vector<std::string> written = text_.operands(*c.sum);
    const size_t other = 3 - c.operand;
    std::string a = product[1], addend = written[other], before;
    const auto negate = [&](std::string& what) {
      const std::string to = fresh(w);
      before += w.negated.empty() ? "xor.b64 " + to + ", " + what + ", 0x8000000080000000; "
                                  : std::string(w.negated) + " " + to + ", " + what + "; ";
      before += guard;
      what = to;
    };
    const bool sub = c.sum->opcode == "sub";
    if (c.negated != (sub && c.operand == 2)) negate(a);
    if (sub && c.operand == 1) negate(addend);
    std::string fma = "fma.rn";
    for (const std::string_view m : {".ftz", ".sat"})
      if (ptx::has(*c.sum, m)) fma += m;
    fma += std::string(c.type) + " " + written[0] + ", " + a + ", " + product[2] + ", " + addend + ";";
    text_.replace(text_.of(*c.sum), before + fma);
  }

  const std::map<int64_t, LineCode>& code_;
  Text& text_;
  size_t& names_;
  const ptx::Function& function_;
  const ptx::Blocks blocks_;
  std::map<std::string, size_t> uses_;
  std::string declared_{};
};

}  // namespace

Contracted contracted(const std::string& text, const ptx::Module& module,
                      const std::map<int64_t, LineCode>& code) {
  Contracted out;
  Text edited(text);
  size_t names = 0;
  for (const ptx::Function& f : module.functions)
    if (f.has_body) Contraction(f, code, edited, names).tell(out);
  out.text = edited.edited();
  return out;
}

}  // namespace bitwell::contraction
