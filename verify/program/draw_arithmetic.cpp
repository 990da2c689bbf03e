// Statements that compute: from the tables of integer, logic, floating-point and conversion forms.
#include <set>

#include "model/isa/family/families.h"
#include "verify/probe/instruction.h"
#include "verify/program/drawing.h"

namespace bitwell::program {
namespace {

// Of a cvt: whether it rounds a floating-point number to a whole one of such a type.
bool whole_number(const std::string& cvt) {
  const size_t source = cvt.rfind('.');
  const std::string to = cvt.substr(cvt.rfind('.', source - 1));
  return (to.starts_with(".f") || to.starts_with(".bf")) && cvt.size() > 7 && cvt[6] == 'i' && cvt[4] == 'r';
}

// Of a cvt: whether it goes from a floating-point type to the same.
bool same_type(const std::string& cvt) {
  const size_t source = cvt.rfind('.');
  const std::string type = cvt.substr(source);
  return (type.starts_with(".f") || type.starts_with(".bf")) && cvt.substr(0, source).ends_with(type);
}

// What a program of several instructions cannot hold ptxas to, though each alone gives the same bits
// everywhere: mul, add and sub without a rounding, which may be fused; neg and abs, whose NaN is canonical or
// only has another sign, as they are folded into their neighbours; slct, whose third operand ptxas takes for
// neither NaN nor the least integer where it knows it for no negative one; cvt to a narrower number downwards
// or upwards, or to a whole number, which it makes one with a cvt to an integer behind it, whatever the
// types; cvt between one and the same floating-point type, which keeps a NaN's bits where it is optimised to
// a move (as it was recorded) and makes the NaN canonical where it is not; sums and differences that
// saturate, whose wrapped operands it adds up as if they were not. And testp, which came after the programs
// of which a GPU has recorded the bytes: they are drawn from the same tables as ever.
bool left_out(const std::string& opcode, const std::string& name, bool floating) {
  const bool rounds = name.find(".rn") != name.npos || name.find(".rz") != name.npos ||
                      name.find(".rm") != name.npos || name.find(".rp") != name.npos;
  if (opcode == "slct" || opcode == "testp") return true;
  if (opcode == "cvt")
    return name.starts_with("cvt.rm.") || name.starts_with("cvt.rp.") || whole_number(name) ||
           same_type(name);
  if ((opcode == "add" || opcode == "sub") && name.ends_with(".sat.s32")) return true;
  if (!floating) return false;
  return opcode == "neg" || opcode == "abs" ||
         ((opcode == "add" || opcode == "sub" || opcode == "mul") && !rounds);
}

// Every way of writing such an instruction, by opcode.
const std::vector<std::vector<probe::Probe>>& arithmetic_table() {
  static const std::vector<std::vector<probe::Probe>> table = [] {
    std::map<std::string, std::vector<probe::Probe>> by_opcode;
    for (probe::Probe& p : probe::probes("sm_90a")) {
      const std::string& name = p.instruction;
      const std::string opcode = name.substr(0, name.find('.'));
      const std::string type = name.substr(name.rfind('.'));
      const bool floating = type.starts_with(".f") || type.starts_with(".bf");
      if (left_out(opcode, name, floating)) continue;
      by_opcode[opcode + (floating ? type : "")].push_back(std::move(p));
    }
    std::vector<std::vector<probe::Probe>> out;
    for (auto& [opcode, all] : by_opcode) out.push_back(std::move(all));
    return out;
  }();
  return table;
}

// Opcodes whose operands may all be constants, but for the divisor: what a division by 0 gives is the
// device's.
bool takes_constants(const std::string& opcode) {
  static const std::set<std::string> all = [] {
    std::set<std::string> out;
    for (const auto family : {isa::integer_forms(), isa::logic_forms()})
      for (const isa::Form& form : family) out.emplace(isa::opcode_of(form));
    out.erase("div");
    out.erase("rem");
    return out;
  }();
  return all.contains(opcode);
}

bool integer(const std::string& type) {
  if (type.ends_with("x2")) return false;  // pairs are registers
  return type.starts_with(".u") || type.starts_with(".s") ||
         (type.starts_with(".b") && !type.starts_with(".bf"));
}

std::string canonical_nan(const std::string& type, const std::string& value) {
  return "setp.num" + type + " %q3, " + value + ", " + value + ";\nselp.b" + type.substr(2) + " " + value +
         ", " + value + ", " + (type == ".f64" ? "0x7ff8000000000000" : "0x7fffffff") + ", %q3;\n";
}

}  // namespace

Statement arithmetic(Drawing& d) {
  const probe::Probe& p = d.pick(d.pick(arithmetic_table()));
  const std::string opcode = p.instruction.substr(0, p.instruction.find('.'));
  std::string operands;
  bool constant = !takes_constants(opcode) || !d.one_in(4);  // at most one, never the first
  for (size_t i = 0; i < p.operands.size(); ++i) {
    const std::string& type = p.operands[i];
    const bool here = !constant && i > 0 && integer(type) && type != ".pred" && d.one_in(2);
    static constexpr int kConstants[] = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255};
    std::string one = here ? std::to_string(d.pick(kConstants)) : d.source(type);
    // ptxas makes max of a and a an a, NaN or not.
    while (!integer(type) && type != ".pred" && operands.find(one) != operands.npos) one = d.source(type);
    operands += ", " + one;
    constant = constant || here;
  }
  if (!p.immediate.empty()) operands += ", " + std::to_string(d.below(256));
  Statement out;
  // What a floating-point instruction wrote ptxas 13.0 converts, as a number, where it is to say how far to
  // shift.
  if (const size_t last = operands.rfind(", %r");
      (opcode == "shl" || opcode == "shr") && last != operands.npos && last == operands.rfind(", ")) {
    out.text = "and.b32 %x1" + operands.substr(last) + ", 255;\n";
    operands.replace(last, operands.npos, ", %x1");
  }
  if (p.carries) {
    out.text += "add.cc.u32 %x0, " + d.word() + ", " + d.word() + ";\n";
    out.text += p.instruction + " " + d.destination(p.results[0]) + operands + ";\n";
    out.text += "addc.u32 " + d.destination(".u32") + ", 0, 0;\n";
    return out;
  }
  std::string result = d.destination(p.results[0]);
  if (p.results.size() == 2) {
    const std::vector<std::string> two = d.registers(1, 2, "");
    result = two[0] + "|" + two[1];
  }
  std::string guard;
  // ptxas 13.0 converts or extends the old value of a guarded set's destination where the guard does not
  // hold.
  if (opcode != "set" && d.one_in(8)) guard = "@" + std::string(d.one_in(2) ? "!" : "") + d.predicate() + " ";
  out.text += guard + p.instruction + " " + result + operands + ";\n";
  // Which of two NaNs an fp64 instruction passes on hangs on the order in which ptxas takes its operands.
  if (p.results[0] == ".f64" || (p.results[0] == ".f32" && (opcode == "min" || opcode == "max")))
    out.text += canonical_nan(p.results[0], result);
  return out;
}

// Moves between kinds of registers, and what differs by thread.
Statement special(Drawing& d) {
  Statement out;
  const auto halves = [&] { return d.registers(16, 2, ".u16"); };
  switch (d.below(7)) {
    case 0: {
      static constexpr const char* kNames[] = {
          "%tid.x",       "%laneid",      "%ctaid.x",     "%ntid.x",      "%nctaid.x",        "%lanemask_eq",
          "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "%cluster_ctarank", "%tid.y"};
      const std::string name = d.pick(kNames);
      out.text = "mov.u32 " + d.destination(".u32") + ", " + name + ";\n";
      break;
    }
    case 1: {
      const auto two = d.registers(32, 2, "");
      out.text = "mov.b64 " + d.destination(".u64") + ", {" + two[0] + ", " + two[1] + "};\n";
      break;
    }
    case 2: {
      const auto two = d.registers(32, 2, ".u32");
      out.text = "mov.b64 {" + two[0] + ", " + two[1] + "}, " + d.source(".u64") + ";\n";
      break;
    }
    case 3: {
      const auto two = halves();
      out.text = "mov.b32 " + d.destination(".f16x2") + ", {" + two[0] + ", " + two[1] + "};\n";
      break;
    }
    case 4: {
      const auto two = halves();
      out.text = "mov.b32 {" + two[0] + ", " + two[1] + "}, " + d.source(".f16x2") + ";\n";
      break;
    }
    case 5: {
      const auto four = d.registers(16, 4, ".u16");
      out.text = "mov.b64 {" + four[0] + ", " + four[1] + ", " + four[2] + ", " + four[3] + "}, " +
                 d.source(".u64") + ";\n";
      break;
    }
    default:
      out.text = "selp.b32 " + d.destination(".u32") + ", " + d.word() + ", " +
                 std::to_string(d.below(1000)) + ", " + d.predicate() + ";\n";
  }
  return out;
}

}  // namespace bitwell::program
