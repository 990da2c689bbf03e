#include "verify/bugs/mutate.h"

#include <array>
#include <cstdint>
#include <optional>
#include <regex>
#include <utility>

#include "verify/bugs/parts.h"

namespace bitwell::bugs {
namespace {

// The parts of "{a, b, c}" within an operand, and what stands around them.
struct Braces {
  std::string before, after;
  std::vector<std::string> elements;
  std::string text() const {
    std::string out = before + "{";
    for (size_t i = 0; i < elements.size(); ++i) out += (i == 0 ? "" : ", ") + elements[i];
    return out + "}" + after;
  }
};
std::optional<Braces> braces(const std::string& operand) {
  const size_t open = operand.find('{');
  const size_t close = operand.find('}');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  Braces out{operand.substr(0, open), operand.substr(close + 1), {}};
  out.elements = split("x " + operand.substr(open + 1, close - open - 1)).operands;
  return out;
}

// Collects the mutants of one instruction.
class Site {
 public:
  Site(const Line& line, std::vector<Mutant>& out)
      : at_(line), p_(line.parts), before_(p_.text()), out_(out) {}

  void all() {
    synchronisation();
    amounts();
    constants();
    addresses();
    choices();
    order();
  }

 private:
  void add(const char* kind, const std::string& after) {
    if (after != before_) out_.push_back({kind, at_.number, before_, after, at_.at, at_.length});
  }
  void remove(const char* kind) { add(kind, ""); }
  void operand(const char* kind, size_t i, const std::string& value) {
    Parts q = p_;
    q.operands[i] = value;
    add(kind, q.text());
  }
  void opcode(const char* kind, const std::string& from, const std::string& to) {
    const size_t at = p_.opcode.find(from);
    if (at == std::string::npos) return;
    const size_t end = at + from.size();
    if (end < p_.opcode.size() && p_.opcode[end] != '.' && from.back() != ':')
      return;  // part of a longer name
    Parts q = p_;
    q.opcode.replace(at, from.size(), to);
    add(kind, q.text());
  }
  // Another value for a register operand: `compute` (an instruction without its destination) of it.
  void wrapped(const char* kind, size_t i, const std::string& type, const std::string& compute) {
    Parts q = p_;
    q.operands[i] = "planted";
    std::string value = compute;
    value.replace(value.find('$'), 1, p_.operands[i]);
    const size_t space = value.find(' ');
    add(kind, "{ .reg " + type + " planted; " + value.substr(0, space) + " planted," + value.substr(space) +
                  "; " + q.text() + " }");
  }
  // A number, `by` more and `by` less, register or not.
  void around(const char* kind, size_t i, int64_t by) {
    for (const int64_t d : {by, -by}) {
      if (const auto v = integer(p_.operands[i]))
        operand(kind, i, std::to_string(*v + d));
      else
        wrapped(kind, i, ".b32", "add.s32 $, " + std::to_string(d));
    }
  }
  void halved(const char* kind, size_t i) {
    if (const auto v = integer(p_.operands[i]))
      operand(kind, i, std::to_string(*v / 2));
    else
      wrapped(kind, i, ".b32", "shr.u32 $, 1");
  }

  void synchronisation() {
    const bool waits = p_.is("mbarrier") && (p_.has("try_wait") || p_.has("test_wait"));
    if (waits) {
      add("wait deleted", (p_.guard.empty() ? "" : p_.guard + " ") + "mov.pred " + p_.operands[0] + ", 1;");
      if (p_.has(".parity")) wrapped("parity flipped", 2, ".b32", "xor.b32 $, 1");
    }
    if (p_.has("wait_group") || p_.has("wait_all") || p_.is("griddepcontrol.wait") ||
        p_.is("barrier.cluster.wait"))
      remove("wait deleted");
    if ((p_.is("mbarrier") && (p_.has(".arrive") || p_.has(".expect_tx"))) || p_.has("commit_group") ||
        p_.is("barrier.cluster.arrive") || p_.is("cp.async.mbarrier.arrive") ||
        p_.is("griddepcontrol.launch_dependents"))
      remove("arrive deleted");
    if (p_.is("bar.warp.sync"))
      remove("warp barrier deleted");
    else if (p_.is("bar") || p_.is("barrier.sync"))
      remove("barrier deleted");
    if (p_.is("fence") || p_.is("membar") || p_.is("wgmma.fence")) remove("fence deleted");
    if (p_.is("mbarrier") || p_.is("fence") || p_.is("barrier.cluster")) {
      opcode("scope or order weakened", ".cluster", p_.is("barrier.cluster") ? ".cluster" : ".cta");
      for (const char* order : {".release", ".acquire"}) opcode("scope or order weakened", order, ".relaxed");
    }
    if (p_.is("st") || p_.is("stmatrix") || p_.is("red") || p_.is("atom")) remove("store deleted");
    if (p_.is("cp") && !p_.has("arrive") && !p_.has("_group") && !p_.has("wait")) remove("copy deleted");
    if (p_.is("setmaxnreg") || p_.is("prefetch")) remove("hint deleted");
  }

  void amounts() {
    if (p_.is("mbarrier.init") || (p_.is("mbarrier") && p_.has(".init"))) around("count changed", 1, 1);
    if (p_.is("mbarrier") && p_.has(".arrive") && p_.operands.size() == 3 && !p_.has("expect_tx"))
      around("count changed", 2, 1);
    if ((p_.is("barrier.sync") || p_.is("bar.sync"))) {
      around("barrier number changed", 0, 1);
      if (p_.operands.size() == 2) around("count changed", 1, 32);
    }
    if (p_.has("wait_group"))
      if (const auto v = integer(p_.operands[0])) operand("count changed", 0, std::to_string(*v + 1));
    if (p_.is("mbarrier") && p_.has("expect_tx")) {
      around("bytes changed", p_.operands.size() - 1, 1);
      around("bytes changed", p_.operands.size() - 1, 16);
      halved("bytes changed", p_.operands.size() - 1);
    }
    if (p_.is("cp.async.bulk.shared::cluster") || p_.is("cp.async.bulk.shared::cta") ||
        p_.is("cp.async.bulk.global")) {
      around("bytes changed", 2, 16);
      halved("bytes changed", 2);
    }
  }

  void constants() {
    static constexpr std::array kWith{"add", "sub", "mad",  "mul", "or",  "xor",  "min", "max",
                                      "mov", "fma", "dp4a", "bfi", "bfe", "shfl", "neg", "lop3"};
    const bool shifts = p_.is("shl") || p_.is("shr") || p_.is("shf");
    bool with = p_.is("and") || p_.is("selp") || p_.is("setp") || shifts || p_.is("prmt");
    for (const char* base : kWith) with = with || p_.is(base);
    if (!with) return;
    for (size_t i = 1; i < p_.operands.size(); ++i) {
      const std::string& o = p_.operands[i];
      if (o.size() == 10 && o.rfind("0f", 0) == 0) {  // fp32: twice as much
        const uint64_t bits = std::stoull(o.substr(2), nullptr, 16);
        char text[16];
        std::snprintf(text, sizeof text, "0f%08X",
                      static_cast<unsigned>(bits == 0 ? 0x3F800000 : bits + 0x00800000));
        operand("constant changed", i, text);
        continue;
      }
      const auto v = integer(o);
      if (!v) continue;
      if (p_.is("prmt")) {
        const int64_t swapped = (*v & ~0xFF) | (*v & 0xF) << 4 | (*v >> 4 & 0xF);
        operand("selector changed", i, std::to_string(swapped));
        operand("selector changed", i, std::to_string(*v ^ 1));
        continue;
      }
      if (p_.is("and")) {
        if (*v == 0) continue;
        operand("mask changed", i, std::to_string(*v & (*v - 1)));  // lowest bit
        const int width = p_.has("64") ? 64 : p_.has("16") ? 16 : 32;
        uint64_t top = uint64_t{1} << (width - 1);
        while ((static_cast<uint64_t>(*v) & top) == 0) top >>= 1;
        operand("mask changed", i, std::to_string(*v & ~static_cast<int64_t>(top)));  // highest
        continue;
      }
      const char* kind = p_.is("setp") ? "bound changed" : shifts ? "shift changed" : "constant changed";
      operand(kind, i, std::to_string(*v + 1));
      operand(kind, i, std::to_string(*v - 1));
    }
    if (p_.is("prmt") && !integer(p_.operands[3])) wrapped("selector changed", 3, ".b32", "xor.b32 $, 1");
  }

  void addresses() {
    if (p_.is("cp.async.bulk.tensor"))
      for (size_t i = 0; i < p_.operands.size(); ++i) {
        if (p_.operands[i].front() != '[') continue;
        const auto b = braces(p_.operands[i]);
        if (!b) continue;
        for (size_t c = 0; c + 1 < b->elements.size(); ++c) {
          Braces swapped = *b;
          std::swap(swapped.elements[c], swapped.elements[c + 1]);
          operand("coordinates swapped", i, swapped.text());
        }
      }
    const bool reads = p_.is("ld") && !p_.has(".param");
    if (!reads && !p_.is("st") && !p_.is("stmatrix") && !p_.is("cp.async.cg")) return;
    int bytes = 16;
    if (!p_.is("stmatrix") && !p_.is("cp.async.cg")) {
      bytes = p_.has("8") && !p_.has("v8") ? 1 : 4;
      for (const int b : {16, 32, 64})
        for (const char* t : {".u", ".s", ".b", ".f"})
          if (p_.has(t + std::to_string(b))) bytes = b / 8;
      if (p_.has(".v2")) bytes *= 2;
      if (p_.has(".v4")) bytes *= 4;
    }
    for (size_t i = 0; i < p_.operands.size(); ++i) {
      const std::string& o = p_.operands[i];
      if (o.front() != '[' || (p_.is("st.async") && i != 0)) continue;
      const size_t plus = o.find('+');
      const std::string base = plus == std::string::npos ? o.substr(0, o.size() - 1) : o.substr(0, plus);
      const std::optional<int64_t> offset =
          plus == std::string::npos ? 0 : integer(o.substr(plus + 1, o.size() - plus - 2));
      if (!offset) continue;
      for (const int by : {bytes, -bytes})
        operand("address moved", i, base + "+" + std::to_string(*offset + by) + "]");
    }
  }

  void choices() {
    if (p_.is("setp")) {
      static constexpr std::array<std::pair<const char*, const char*>, 5> kPairs{
          {{".lt", ".le"}, {".gt", ".ge"}, {".eq", ".ne"}, {".lo", ".ls"}, {".hi", ".hs"}}};
      for (const auto& [a, b] : kPairs) {
        if (p_.opcode.find(std::string(a) + ".") == 4)
          opcode("comparison changed", a, b);
        else if (p_.opcode.find(std::string(b) + ".") == 4)
          opcode("comparison changed", b, a);
      }
    }
    if (!p_.guard.empty()) {
      Parts q = p_;
      q.guard = p_.guard[1] == '!' ? "@" + p_.guard.substr(2) : "@!" + p_.guard.substr(1);
      add("guard negated", q.text());
    }
    static constexpr std::array<std::pair<const char*, const char*>, 10> kOther{{{"add", "sub"},
                                                                                 {"sub", "add"},
                                                                                 {"min", "max"},
                                                                                 {"max", "min"},
                                                                                 {"and", "or"},
                                                                                 {"or", "and"},
                                                                                 {"xor", "or"},
                                                                                 {"shl", "shr"},
                                                                                 {"shr", "shl"},
                                                                                 {"mul.lo", "mul.hi"}}};
    for (const auto& [from, to] : kOther)
      if (p_.is(from)) opcode("operation changed", from, to);
    if (p_.is("shl"))  // takes untyped bits; a shift to the right, signed or not
      out_.back().after.replace(out_.back().after.find("shr.b"), 5, "shr.u");
    if (p_.is("shr") && !p_.has(".b")) {
      std::string& text = out_.back().after;
      text.replace(text.find("shl.") + 4, 1, "b");
    }
    // The result's; products and sums inside are exact in many places.
    if (p_.is("cvt") && (p_.has(".f16") || p_.has(".bf16") || p_.has("f16x2")) && p_.has(".f32") &&
        !p_.has("e4m3"))
      opcode("rounding changed", ".rn", ".rz");
    if (p_.is("wgmma.mma_async")) {
      const size_t n = p_.operands.size();
      operand("accumulation changed", n - 4, p_.operands[n - 4] == "1" ? "0" : "1");
      operand("accumulation changed", n - 3, "-1");
      operand("accumulation changed", n - 2, "-1");
      operand("descriptor changed", n - 1, p_.operands[n - 1] == "0" ? "1" : "0");
      for (const char* field : {"1", "2", "65536", "4294967296", "4611686018427387904"})
        wrapped("descriptor changed", n - 5, ".b64", std::string("xor.b64 $, ") + field);
    }
    if (p_.is("stmatrix") || p_.is("ldmatrix")) opcode("order changed", ".trans", "");
  }

  void order() {
    if (p_.is("selp") || p_.is("prmt") || (p_.is("cvt") && p_.operands.size() == 3)) {
      Parts q = p_;
      std::swap(q.operands[1], q.operands[2]);
      add("order changed", q.text());
    }
    if (p_.is("sub")) {
      Parts q = p_;
      std::swap(q.operands[1], q.operands[2]);
      add("order changed", q.text());
    }
    if (p_.is("ld") || p_.is("st") || p_.is("stmatrix") || p_.is("wgmma.mma_async"))
      for (size_t i = 0; i < p_.operands.size(); ++i) {
        if (p_.is("wgmma.mma_async") && i != 1) continue;
        const auto b = braces(p_.operands[i]);
        if (!b || b->elements.size() < 2 || p_.operands[i].front() != '{') continue;
        Braces swapped = *b;
        std::swap(swapped.elements[0], swapped.elements[1]);
        operand("order changed", i, swapped.text());
      }
  }

  const Line& at_;
  const Parts& p_;
  std::string before_;
  std::vector<Mutant>& out_;
};

}  // namespace

std::string only_entry(const std::string& ptx, const std::string& entry) {
  std::string out = ptx;
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  bool inside = false;  // another entry, up to its closing brace in the first column
  for (size_t at = 0; at < out.size();) {
    size_t end = out.find('\n', at);
    if (end == std::string::npos) end = out.size();
    const std::string_view line(out.data() + at, end - at);
    if (line.rfind(".visible .entry ", 0) == 0) inside = line.substr(16, line.find('(') - 16) != entry;
    const bool closes = line == "}";
    if (inside || trim(line).rfind(".loc", 0) == 0) blank(at, end);
    if (closes) inside = false;
    at = end + 1;
  }
  return out;
}

std::vector<Mutant> mutants(std::string_view text) {
  std::vector<Mutant> out;
  for (const Line& l : instructions(text)) Site(l, out).all();
  return out;
}

std::string plant(const std::string& text, const Mutant& m) {
  std::string out = text;
  out.replace(m.at, m.length, m.after);
  return out;
}

std::string shape_of(std::string_view instruction) {
  static const std::regex names(R"(%[a-z]+[0-9]+|\$L__BB[0-9_]+)");
  return std::regex_replace(std::string(instruction), names, "%");
}

}  // namespace bitwell::bugs
