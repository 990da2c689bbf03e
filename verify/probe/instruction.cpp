#include "verify/probe/instruction.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "model/isa/family/families.h"
#include "model/isa/form/form.h"
#include "model/isa/form/type.h"
#include "model/number/format.h"
#include "model/ptx/parse.h"

namespace bitwell::probe {
namespace {

using isa::Element;
using isa::Form;
using isa::Match;

// Every way of writing a form.
void expand(const std::vector<Element>& elements, size_t at, std::vector<std::string>& modifiers,
            std::vector<std::string>& choice, const std::function<void()>& visit) {
  if (at == elements.size()) return visit();
  const Element& e = elements[at];
  for (const std::string& a : e.alternatives) {
    modifiers.push_back(a);
    if (e.group) choice.push_back(a);
    expand(elements, at + 1, modifiers, choice, visit);
    if (e.group) choice.pop_back();
    modifiers.pop_back();
  }
  if (e.optional) {
    choice.emplace_back();
    expand(elements, at + 1, modifiers, choice, visit);
    choice.pop_back();
  }
}

bool has(const std::vector<std::string>& modifiers, std::string_view m) {
  return std::find(modifiers.begin(), modifiers.end(), m) != modifiers.end();
}

// Operand types of the forms whose roles are left to their build functions.
bool custom_operands(const std::string& opcode, const std::vector<std::string>& m, Probe& p) {
  if (opcode == "setp" || opcode == "set") {
    p.operands = {m.back(), m.back()};
    if (has(m, ".and") || has(m, ".or") || has(m, ".xor")) p.operands.emplace_back(".pred");
    if (opcode == "setp" && (m.back() == ".f16" || m.back() == ".bf16"))
      p.results = {".pred"};
    else if (opcode == "setp")
      p.results = {".pred", ".pred"};
    else
      p.results = {m[m.size() - 2]};
    return true;
  }
  if (opcode == "cvt") {
    if (has(m, ".rs")) return false;  // vectors, which a probe's operands are not
    const std::string& from = m.back();
    const std::string& to = m[m.size() - 2];
    p.results = {to};
    p.operands = {from};
    if (from == ".f32" && to.ends_with("x2")) p.operands.push_back(from);
    return true;
  }
  return false;
}

// The register type for an instruction type, and how many bytes it has.
std::string register_type(const std::string& type) {
  if (type == ".u8" || type == ".s8") return "." + std::string(1, type[1]) + "16";
  if (type == ".bf16" || type == ".e4m3x2" || type == ".e5m2x2" || type == ".e2m3x2" || type == ".e3m2x2" ||
      type == ".ue8m0x2")
    return ".b16";
  if (type == ".e2m1x2") return ".b8";
  if (type == ".f32x2") return ".b64";
  if (type == ".tf32" || type == ".bf16x2" || type == ".u16x2" || type == ".s16x2" || type == ".f16x2")
    return ".b32";
  return type;
}
size_t register_bytes(const std::string& type) {
  const std::string r = register_type(type);
  return r == ".pred" ? 4 : static_cast<size_t>(isa::find_type(r)->bits) / 8;
}
std::string bits_type(size_t bytes) { return ".b" + std::to_string(8 * bytes); }

bool accepted(const Probe& p, const std::string& target) {
  try {
    const ptx::Module module = ptx::parse(probe_module({p}, target));
    isa::compile(module, p.entry);
    return true;
  } catch (const machine::InputError&) {
    return false;
  } catch (const machine::Unsupported&) {
    return false;
  }
}

const number::Format* float_format(const std::string& type) {
  std::string_view name = std::string_view(type).substr(1);
  if (name.ends_with("x2")) name.remove_suffix(2);
  return number::find_format(name);
}

}  // namespace

std::vector<uint64_t> boundary_values(const std::string& type) {
  std::vector<uint64_t> out;
  const size_t bytes = register_bytes(type);
  const uint64_t mask = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
  if (type == ".pred") return {0, 1};
  if (const number::Format* f = float_format(type); f != nullptr) {
    const uint64_t one = static_cast<uint64_t>(f->bias) << f->fraction_bits;
    const uint64_t unit = uint64_t{1} << f->fraction_bits;
    std::vector<uint64_t> codes;
    for (const uint64_t base :
         {uint64_t{0}, unit, one, one + unit, one - unit, one + unit / 2, f->max_code(), f->max_code() + 1,
          f->canonical_nan() >> f->ignored_low, one + (static_cast<uint64_t>(f->fraction_bits) + 1) * unit,
          one + 31 * unit, one + 30 * unit, one + 63 * unit})
      for (const int step : {-1, 0, 1}) {
        const uint64_t code = (base + static_cast<uint64_t>(step)) & f->magnitude_mask();
        codes.push_back(code << f->ignored_low);
        codes.push_back((code | f->sign_mask()) << f->ignored_low);
      }
    if (type.ends_with("x2")) {
      const int width = f->bits == 4 ? 4 : f->container < 8 ? 8 : f->container;
      for (size_t i = 0; i < codes.size(); ++i)
        out.push_back((codes[i] | codes[(i * 7 + 3) % codes.size()] << width) & mask);
    } else {
      out = codes;
    }
    return out;
  }
  const int bits = static_cast<int>(8 * bytes);
  for (const uint64_t v : {uint64_t{0},
                           uint64_t{1},
                           uint64_t{2},
                           uint64_t{7},
                           uint64_t{8},
                           uint64_t{31},
                           uint64_t{32},
                           uint64_t{33},
                           uint64_t{63},
                           uint64_t{64},
                           uint64_t{255},
                           uint64_t{256},
                           uint64_t{65535},
                           uint64_t{1} << 24,
                           (uint64_t{1} << 24) + 1,
                           uint64_t{1} << (bits - 1),
                           (uint64_t{1} << (bits - 1)) - 1,
                           (uint64_t{1} << (bits - 1)) + 1,
                           ~uint64_t{0},
                           ~uint64_t{0} - 1,
                           ~uint64_t{0} - 127,
                           uint64_t{0x8080808080808080},
                           uint64_t{0x7F7F7F7F7F7F7F7F}})
    out.push_back(v & mask);
  return out;
}

namespace {

// An input of a probe: what its type says of the values to draw, and `count` of them.
struct Operand {
  Operand(const std::string& type, size_t count)
      : bytes(register_bytes(type)),
        predicate(type == ".pred"),
        pair(type.ends_with("x2")),
        format(float_format(type)),
        edges(boundary_values(type)),
        values(bytes * count) {}
  size_t bytes;
  bool predicate, pair;
  const number::Format* format;
  std::vector<uint64_t> edges;
  std::vector<std::byte> values;
};

}  // namespace

std::vector<Probe> probes(const std::string& target, const std::string& of_opcode) {
  std::vector<Probe> out;
  for (const auto family : {isa::integer_forms(), isa::logic_forms(), isa::float_forms(), isa::half_forms(),
                            isa::compare_forms(), isa::bfloat_forms(), isa::convert_forms()})
    for (const Form& form : family) {
      const std::string opcode(isa::opcode_of(form));
      if (!of_opcode.empty() && opcode != of_opcode) continue;
      std::vector<std::string> modifiers;
      Match match;
      expand(isa::elements_of(form), 0, modifiers, match.choice, [&] {
        Probe p;
        p.instruction = opcode;
        for (const std::string& m : modifiers) p.instruction += m;
        if (form.operands == "*") {
          if (!custom_operands(opcode, modifiers, p)) return;
        } else {
          for (const isa::Role& role : isa::roles_of(form, match)) {
            if (role.optional) continue;
            if (role.kind == 'd' || role.kind == 'q')
              p.results.push_back(role.type);
            else if (role.kind == 'i')
              p.immediate = "0xB6";
            else
              p.operands.push_back(role.type);
          }
        }
        // The carry is an operand and a result too: set from the thread's number, read back as 0 or 1.
        p.carries = has(modifiers, ".cc") || opcode.ends_with("c");
        if (p.carries) p.results.emplace_back(".u32");
        p.entry = "probe";
        if (!accepted(p, target)) return;
        p.entry = "probe_" + std::to_string(out.size());
        out.push_back(std::move(p));
      });
    }
  return out;
}

std::string probe_module(const std::vector<Probe>& all, const std::string& target) {
  std::string out = ".version 9.0\n.target " + target + "\n.address_size 64\n";
  for (const Probe& p : all) {
    out += ".visible .entry " + p.entry + "(";
    for (size_t i = 0; i < p.operands.size(); ++i) out += ".param .u64 in" + std::to_string(i) + ", ";
    out +=
        ".param .u64 out)\n{\n.reg .b32 %i<4>;\n.reg .b64 %a<4>;\n.reg .b64 %w<4>;\n.reg .b32 %u<4>;\n.reg "
        ".b16 %h<4>;\n";
    out += "mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %tid.x;\nmad.lo.u32 %i2, %i0, 256, %i1;\n";
    std::string operands;
    const auto add = [&](const std::string& text) { operands += (operands.empty() ? "" : ", ") + text; };
    for (size_t r = 0; r < p.results.size(); ++r)
      out += ".reg " + register_type(p.results[r]) + " %d" + std::to_string(r) + ";\n";
    add(p.results.size() == 2 && !p.carries ? "%d0|%d1" : "%d0");
    for (size_t i = 0; i < p.operands.size(); ++i) {
      const std::string n = std::to_string(i);
      const std::string& type = p.operands[i];
      const std::string reg = register_type(type);
      const size_t bytes = register_bytes(type);
      out += ".reg " + reg + " %s" + n + ";\nld.param.u64 %a0, [in" + n + "];\nmad.wide.u32 %a1, %i2, " +
             std::to_string(bytes) + ", %a0;\n";
      if (reg == ".pred") {
        out += "ld.global.b32 %i3, [%a1];\nsetp.ne.b32 %s" + n + ", %i3, 0;\n";
      } else if (reg == ".b8") {
        out += "ld.global.b8 %s" + n + ", [%a1];\n";
      } else {
        out += "ld.global." + bits_type(bytes).substr(1) + " " +
               (bytes == 2   ? "%h0"
                : bytes == 4 ? "%u0"
                             : "%w0") +
               ", [%a1];\n";
        out += "mov" + bits_type(bytes) + " %s" + n + ", " +
               (bytes == 2   ? "%h0"
                : bytes == 4 ? "%u0"
                             : "%w0") +
               ";\n";
      }
      add("%s" + n);
    }
    if (!p.immediate.empty()) add(p.immediate);
    if (p.carries) out += "add.cc.u32 %i3, %i2, 0xFFFFFF55;\n";
    out += p.instruction + " " + operands + ";\n";
    if (p.carries) out += "addc.u32 %d1, 0, 0;\n";
    out += "ld.param.u64 %a0, [out];\nmad.wide.u32 %a1, %i2, " + std::to_string(8 * p.results.size()) +
           ", %a0;\n";
    for (size_t r = 0; r < p.results.size(); ++r) {
      const std::string d = "%d" + std::to_string(r);
      const std::string reg = register_type(p.results[r]);
      const size_t bytes = register_bytes(p.results[r]);
      if (reg == ".pred")
        out += "selp.b32 %u1, 1, 0, " + d + ";\ncvt.u64.u32 %w1, %u1;\n";
      else if (reg == ".b8")
        out += "mov.b16 %h1, {" + d + ", 0};\ncvt.u64.u16 %w1, %h1;\n";
      else if (bytes == 2)
        out += "mov.b16 %h1, " + d + ";\ncvt.u64.u16 %w1, %h1;\n";
      else if (bytes == 4)
        out += "mov.b32 %u1, " + d + ";\ncvt.u64.u32 %w1, %u1;\n";
      else
        out += "mov.b64 %w1, " + d + ";\n";
      out += "st.global.b64 [%a1+" + std::to_string(8 * r) + "], %w1;\n";
    }
    out += "ret;\n}\n";
  }
  return out;
}

std::vector<launch::Buffer> probe_inputs(const std::vector<std::string>& types, uint32_t count,
                                         uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool enumerate = types.size() == 1 && register_bytes(types[0]) <= 2;
  std::vector<Operand> operands;
  size_t crossed = 1;
  for (const std::string& type : types) {
    operands.emplace_back(type, count);
    crossed *= operands.back().edges.size();
  }
  for (uint32_t i = 0; i < count; ++i) {
    // Half of the tuples are boundary values: all crossings if they fit, else drawn from them. The rest are
    // random, with a boundary value among them every other time.
    size_t pick = i < crossed && crossed <= count / 2 ? i : i < count / 2 ? random() % crossed : SIZE_MAX;
    for (Operand& operand : operands) {
      uint64_t v = random();
      if (operand.predicate) v &= 1;
      if (enumerate) {
        v = i;
      } else if (pick != SIZE_MAX) {
        v = operand.edges[pick % operand.edges.size()];
        pick /= operand.edges.size();
      } else if (random() % (2 * operands.size()) == 0) {
        v = operand.edges[random() % operand.edges.size()];
      } else if (operand.format != nullptr && random() % 2 == 0 && operands.size() > 1) {
        // Exponents near each other, so that sums cancel and round.
        const number::Format& f = *operand.format;
        const uint64_t exponent = static_cast<uint64_t>(f.bias) + random() % 8;
        v = (random() & (f.fraction_mask() | f.sign_mask())) | exponent << f.fraction_bits;
        v <<= f.ignored_low;
        if (operand.pair) v |= v << (8 * operand.bytes / 2);
      }
      std::memcpy(operand.values.data() + operand.bytes * i, &v, operand.bytes);
    }
  }
  std::vector<launch::Buffer> out;
  for (size_t n = 0; n < operands.size(); ++n)
    out.push_back({"in" + std::to_string(n), std::move(operands[n].values), true, true, false});
  return out;
}
launch::Launch probe_launch(const Probe& p, uint32_t count, std::vector<launch::Buffer> inputs) {
  launch::Launch launch;
  launch.entry = p.entry;
  launch.shape.grid = {count / 256, 1, 1};
  launch.shape.block = {256, 1, 1};
  for (launch::Buffer& in : inputs) launch.add_buffer(std::move(in));
  launch.add_buffer(
      {"out", std::vector<std::byte>(8 * size_t{count} * p.results.size()), false, false, true});
  return launch;
}
launch::Launch probe_launch(const Probe& p, uint32_t count, uint64_t seed) {
  return probe_launch(p, count, probe_inputs(p.operands, count, seed));
}

}  // namespace bitwell::probe
