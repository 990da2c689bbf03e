#include "verify/launch/init/parameter_uses.h"

#include <algorithm>

namespace bitwell::launch {
namespace {

std::string geometry_of(const ptx::Instruction& i) {
  for (const std::string& m : i.modifiers)
    if (m == ".1d" || m == ".2d" || m == ".3d" || m == ".a1d" || m == ".a2d") return m;
  return ".2d";
}

// Whether another bit comes of it where an operand is signed: compilers write .s32 for any sum and for any
// comparison for equality.
bool asks_for_sign(const ptx::Instruction& i) {
  if (i.opcode == "setp" || i.opcode == "set") return !ptx::has(i, ".eq") && !ptx::has(i, ".ne");
  if (i.opcode == "mul" || i.opcode == "mad") return !ptx::has(i, ".lo");
  static const std::set<std::string> others{"min", "max", "shr", "div", "rem", "abs", "cvt"};
  return others.count(i.opcode) != 0;
}

}  // namespace

uint64_t bytes_of(const std::string& type) {
  const size_t digit = type.find_first_of("0123456789");
  if (type == ".pred" || digit == std::string::npos) return 1;
  const uint64_t bits = std::stoul(type.substr(digit));
  return std::max<uint64_t>(bits / 8, 1) * (type.ends_with("x2") ? 2 : 1);
}

uint64_t size_of(const ptx::Variable& v) {
  uint64_t size = bytes_of(v.type) * static_cast<uint64_t>(v.vector);
  for (const int64_t d : v.dims) size *= static_cast<uint64_t>(std::max<int64_t>(d, 0));
  return size;
}

ParameterUses::ParameterUses(const ptx::Function& entry) {
  for (const ptx::Variable& p : entry.params)
    if (p.pointer) pointers_.insert({p.name, 0});
  visit(entry.body);
}

std::string ParameterUses::element(const Place& at) const {
  const auto found = elements_.find(at);
  return found == elements_.end() || found->second.size() != 1 ? "" : *found->second.begin();
}

const std::pair<std::string, std::string>* ParameterUses::image(const Place& at) const {
  const auto found = images_.find(at);
  return found == images_.end() ? nullptr : &found->second;
}

std::map<uint64_t, std::string> ParameterUses::reads(const std::string& parameter) const {
  const auto at = reads_.find(parameter);
  return at == reads_.end() ? std::map<uint64_t, std::string>{} : at->second;
}

void ParameterUses::visit(const std::vector<ptx::Statement>& body) {
  for (const ptx::Statement& s : body) {
    if (s.kind == ptx::Statement::Kind::block) visit(s.body);
    if (s.kind == ptx::Statement::Kind::instruction) visit(s.instruction);
  }
}

void ParameterUses::visit(const ptx::Instruction& i) {
  if (i.opcode == "ld" && (ptx::has(i, ".param") || ptx::has(i, ".param::entry")) && i.operands.size() == 2)
    return load(i);
  if ((i.opcode == "mov" || i.opcode == "add" || i.opcode == "cvta") && i.operands.size() >= 2 &&
      i.operands[0].kind == ptx::OperandKind::name)
    follow(i);
  if (asks_for_sign(i) && !i.modifiers.empty()) sign(i);
  for (const ptx::Operand& o : i.operands) {
    if (o.kind != ptx::OperandKind::memory || o.elements.empty()) continue;
    const std::string& base = o.elements[0].name;
    if (const auto from = values_.find(base); from != values_.end()) use(i, from->second);
    const auto of = addresses_.find(base);
    if (ptx::has(i, ".tensor") || ptx::has(i, ".tensormap"))
      maps_.insert(of == addresses_.end() ? base : of->second);
  }
}

// A value that comes of another, by an address's arithmetic.
void ParameterUses::follow(const ptx::Instruction& i) {
  for (size_t n = 1; n < i.operands.size(); ++n)
    if (const auto from = values_.find(i.operands[n].name); from != values_.end()) {
      if (i.opcode == "cvta" && ptx::has(i, ".global")) pointers_.insert(from->second);
      values_.insert({i.operands[0].name, from->second});
    }
  if (i.opcode == "mov") addresses_.insert({i.operands[0].name, i.operands[1].name});
  if (const auto of = addresses_.find(i.operands[1].name); of != addresses_.end())
    addresses_.insert({i.operands[0].name, of->second});
}

void ParameterUses::sign(const ptx::Instruction& i) {
  const char type = i.modifiers.back()[1];  // of its operands; of cvt, too
  if (type != 's' && type != 'u') return;
  for (size_t n = 1; n < i.operands.size(); ++n)
    if (const auto from = values_.find(i.operands[n].name); from != values_.end())
      (type == 's' ? signed_ : unsigned_).insert(from->second);
}

void ParameterUses::use(const ptx::Instruction& i, const Place& through) {
  if (i.opcode == "tex" || i.opcode == "suld" || i.opcode == "sust") {
    images_[through] = {i.opcode, geometry_of(i)};
    return;
  }
  pointers_.insert(through);
  (i.opcode == "ld" || i.opcode == "ldu" ? read_ : written_).insert(through);
  if ((i.opcode == "ld" || i.opcode == "st") && !i.modifiers.empty())
    elements_[through].insert(i.modifiers.back());
}

void ParameterUses::load(const ptx::Instruction& i) {
  const ptx::Operand& from = i.operands[1];
  if (from.elements.empty()) return;
  const std::string& parameter = from.elements[0].name;
  const std::string type = i.modifiers.back();
  std::vector<ptx::Operand> to = i.operands[0].elements;
  if (to.empty()) to = {i.operands[0]};
  for (size_t n = 0; n < to.size(); ++n) {
    const uint64_t at = from.integer + n * bytes_of(type);
    reads_[parameter][at] = type;
    values_[to[n].name] = {parameter, at};
  }
}

}  // namespace bitwell::launch
