#include "verify/program/drawing.h"

#include <algorithm>
#include <mutex>

#include "model/isa/compile/compile.h"
#include "model/isa/form/type.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"

namespace bitwell::program {
namespace {

struct Pool {
  const char* prefix;
  int count;
};

Pool pool_of(int bits) {
  if (bits == 1) return {"%p", kPredicates};
  if (bits <= 16) return {"%h", kHalves};
  if (bits == 32) return {"%r", kWords};
  return {"%d", kDoubles};
}

int bits_of(const std::string& type) {
  if (const isa::Type* t = isa::find_type(type); t != nullptr) return t->bits;
  return 16;  // pairs of 8-bit formats
}

// Whether bitwell takes the instruction; asked once for each.
bool taken(const std::string& instruction) {
  static std::mutex mutex;
  static std::map<std::string, bool> known;
  const std::scoped_lock lock(mutex);
  const auto [at, fresh] = known.try_emplace(instruction.substr(0, instruction.find(' ')), true);
  if (!fresh) return at->second;
  try {
    isa::compile(ptx::parse(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry e()\n{\n" +
                            std::string(kRegisterText) + ".reg .b32 $m;\n" + instruction + ";\nret;\n}\n"),
                 "e");
  } catch (const machine::InputError&) {
    at->second = false;
  } catch (const machine::Unsupported&) {
    at->second = false;
  }
  return at->second;
}

}  // namespace

const char* const kRegisterText =
    ".reg .b16 %h<6>;\n.reg .b32 %r<10>;\n.reg .b64 %d<6>;\n.reg .pred %p<4>;\n"
    ".reg .pred %q<4>;\n.reg .b32 %c<4>;\n.reg .b32 %t<4>;\n.reg .b32 %i<4>;\n.reg .b32 %m<4>;\n.reg .b32 "
    "%e<4>;\n"
    ".reg .b32 %x<4>;\n.reg .b64 %y<4>;\n.reg .b32 %u<2>;\n.reg .b16 %z<4>;\n.reg .b32 %w<4>;\n"
    ".reg .b32 %thread;\n.reg .b32 %threads;\n.reg .b32 %lane;\n.reg .b32 %all;\n.reg .b32 %rest;\n"
    ".reg .b64 %in;\n.reg .b64 %own;\n.reg .b64 %cells;\n.reg .b64 %ends;\n.reg .b64 %stack;\n.reg .b64 "
    "%gstack;\n"
    ".reg .b32 %slot;\n.reg .b32 %slots;\n.reg .b32 %scells;\n.reg .b64 %gslot;\n.reg .b64 %gslots;\n.reg "
    ".b64 %gscells;\n";

bool has(const Drawing::Modifiers& modifiers, std::string_view modifier) {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Drawing::source(const std::string& type) {
  const Pool pool = pool_of(bits_of(type));
  std::vector<std::string> holding;
  for (int i = 0; i < pool.count; ++i) {
    const std::string name = pool.prefix + std::to_string(i);
    if (const auto at = holds_.find(name); at != holds_.end() && at->second == type) holding.push_back(name);
  }
  if (!holding.empty() && !one_in(4)) return pick(holding);
  return pool.prefix + std::to_string(below(static_cast<size_t>(pool.count)));
}

std::string Drawing::destination(const std::string& type) {
  const Pool pool = pool_of(bits_of(type));
  std::string name = pool.prefix + std::to_string(below(static_cast<size_t>(pool.count)));
  holds_[name] = type;
  return name;
}

std::vector<std::string> Drawing::registers(int bits, size_t n, const std::string& type) {
  const Pool pool = pool_of(bits);
  std::vector<std::string> out;
  for (size_t i = below(static_cast<size_t>(pool.count)); out.size() < n; ++i) {
    out.push_back(pool.prefix + std::to_string(i % static_cast<size_t>(pool.count)));
    if (!type.empty()) holds_[out.back()] = type;
  }
  return out;
}

std::string Drawing::spelled(std::span<const isa::Form> forms, std::string_view opcode,
                             const std::function<bool(const Modifiers&)>& fits,
                             const std::function<std::string(const Modifiers&)>& operands) {
  std::vector<const isa::Form*> of_opcode;
  for (const isa::Form& form : forms)
    if (isa::opcode_of(form) == opcode) of_opcode.push_back(&form);
  while (true) {
    Modifiers modifiers;
    for (const isa::Element& e : isa::elements_of(*pick(of_opcode))) {
      const size_t n = below(e.alternatives.size() + (e.optional ? 1 : 0));
      if (n < e.alternatives.size()) modifiers.push_back(e.alternatives[n]);
    }
    if (!fits(modifiers)) continue;
    std::string text(opcode);
    for (const std::string& m : modifiers) text += m;
    text += " " + operands(modifiers);
    if (taken(text)) return text + ";\n";
  }
}

}  // namespace bitwell::program
