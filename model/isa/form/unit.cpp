#include "model/isa/form/unit.h"

#include <unordered_map>
#include <vector>

namespace bitwell::isa {
namespace {

constexpr UnitRow kRows[] = {
    {"add", ".f64", Unit::fp64},
    {"sub", ".f64", Unit::fp64},
    {"mul", ".f64", Unit::fp64},
    {"fma", ".f64", Unit::fp64},
    {"mad", ".f64", Unit::fp64},
    {"div", ".f64", Unit::fp64},
    {"abs", ".f64", Unit::fp64},
    {"neg", ".f64", Unit::fp64},
    {"min", ".f64", Unit::fp64},
    {"max", ".f64", Unit::fp64},
    {"setp", ".f64", Unit::fp64},
    {"set", ".f64", Unit::fp64},
    {"sqrt", ".f64", Unit::fp64},
    {"copysign", ".f64", Unit::fp64},
    {"rcp.approx", "", Unit::sfu},
    {"rsqrt.approx", "", Unit::sfu},
    {"sqrt.approx", "", Unit::sfu},
    {"div.approx", "", Unit::sfu},
    {"div.full", "", Unit::sfu},
    {"rcp", ".f64", Unit::fp64},
    {"rcp", "", Unit::sfu},
    {"sqrt", "", Unit::sfu},
    {"ex2", "", Unit::sfu},
    {"lg2", "", Unit::sfu},
    {"sin", "", Unit::sfu},
    {"cos", "", Unit::sfu},
    {"tanh", "", Unit::sfu},
    {"popc", "", Unit::sfu},
    {"clz", "", Unit::sfu},
    {"bfind", "", Unit::sfu},
    {"brev", "", Unit::sfu},
    {"fns", "", Unit::sfu},
    {"div", ".f32", Unit::sfu},
    {"add", ".f32", Unit::fma},
    {"add", ".f16", Unit::fma},
    {"add", ".f16x2", Unit::fma},
    {"add", ".bf16", Unit::fma},
    {"add", ".bf16x2", Unit::fma},
    {"add", ".f32x2", Unit::fma},
    {"sub", ".f32", Unit::fma},
    {"sub", ".f16", Unit::fma},
    {"sub", ".f16x2", Unit::fma},
    {"sub", ".bf16", Unit::fma},
    {"sub", ".bf16x2", Unit::fma},
    {"sub", ".f32x2", Unit::fma},
    {"fma", "", Unit::fma},
    {"mul", "", Unit::fma},
    {"mad", "", Unit::fma},
    {"madc", "", Unit::fma},
    {"mul24", "", Unit::fma},
    {"mad24", "", Unit::fma},
    {"dp2a", "", Unit::fma},
    {"dp4a", "", Unit::fma},
    {"add", "", Unit::alu},
    {"sub", "", Unit::alu},
    {"addc", "", Unit::alu},
    {"subc", "", Unit::alu},
    {"div", "", Unit::alu},
    {"rem", "", Unit::alu},
    {"sad", "", Unit::alu},
    {"abs", "", Unit::alu},
    {"neg", "", Unit::alu},
    {"min", "", Unit::alu},
    {"max", "", Unit::alu},
    {"setp", "", Unit::alu},
    {"set", "", Unit::alu},
    {"selp", "", Unit::alu},
    {"slct", "", Unit::alu},
    {"and", "", Unit::alu},
    {"or", "", Unit::alu},
    {"xor", "", Unit::alu},
    {"not", "", Unit::alu},
    {"cnot", "", Unit::alu},
    {"lop3", "", Unit::alu},
    {"shf", "", Unit::alu},
    {"shl", "", Unit::alu},
    {"shr", "", Unit::alu},
    {"prmt", "", Unit::alu},
    {"bfe", "", Unit::alu},
    {"bfi", "", Unit::alu},
    {"bmsk", "", Unit::alu},
    {"vadd2", "", Unit::alu},
    {"vsub2", "", Unit::alu},
    {"vavrg2", "", Unit::alu},
    {"vabsdiff2", "", Unit::alu},
    {"vmin2", "", Unit::alu},
    {"vmax2", "", Unit::alu},
    {"vset2", "", Unit::alu},
    {"vadd4", "", Unit::alu},
    {"vsub4", "", Unit::alu},
    {"vavrg4", "", Unit::alu},
    {"vabsdiff4", "", Unit::alu},
    {"vmin4", "", Unit::alu},
    {"vmax4", "", Unit::alu},
    {"vset4", "", Unit::alu},
    {"szext", "", Unit::alu},
    {"mov", "", Unit::alu},
    {"cvta", "", Unit::alu},
    {"isspacep", "", Unit::alu},
    {"copysign", "", Unit::alu},
    {"testp", "", Unit::alu},
    {"mapa", "", Unit::alu},
    {"getctarank", "", Unit::alu},
    {"createpolicy", "", Unit::alu},
    {"cvt", "", Unit::convert},
    {"shfl", "", Unit::warp},
    {"vote", "", Unit::warp},
    {"match", "", Unit::warp},
    {"redux", "", Unit::warp},
    {"elect", "", Unit::warp},
    {"activemask", "", Unit::warp},
    {"movmatrix", "", Unit::warp},
    {"ld", "", Unit::load_store},
    {"ldu", "", Unit::load_store},
    {"st", "", Unit::load_store},
    {"atom", "", Unit::load_store},
    {"red", "", Unit::load_store},
    {"prefetch", "", Unit::load_store},
    {"prefetchu", "", Unit::load_store},
    {"ldmatrix", "", Unit::load_store},
    {"stmatrix", "", Unit::load_store},
    {"tensormap", "", Unit::load_store},
    {"tex", "", Unit::texture},
    {"suld", "", Unit::texture},
    {"sust", "", Unit::texture},
    {"mma", "", Unit::tensor},
    {"wgmma.mma_async", "", Unit::tensor},
    {"tcgen05.mma", "", Unit::tensor},
    {"wmma.load", "", Unit::load_store},
    {"wmma.store", "", Unit::load_store},
    {"wmma.mma", "", Unit::tensor},
    {"wgmma", "", Unit::barrier},
    {"tcgen05.ld", "", Unit::tensor_memory},
    {"tcgen05.st", "", Unit::tensor_memory},
    {"tcgen05.cp", "", Unit::tensor_memory},
    {"tcgen05.shift", "", Unit::tensor_memory},
    {"tcgen05", "", Unit::barrier},
    {"cp.async.bulk.commit_group", "", Unit::barrier},
    {"cp.async.bulk.wait_group", "", Unit::barrier},
    {"cp.async.commit_group", "", Unit::barrier},
    {"cp.async.wait_group", "", Unit::barrier},
    {"cp.async.wait_all", "", Unit::barrier},
    {"cp.async.mbarrier", "", Unit::barrier},
    {"cp.async.bulk", "", Unit::copy},
    {"cp.reduce.async.bulk", "", Unit::copy},
    {"cp.async", "", Unit::load_store},
    {"bar", "", Unit::barrier},
    {"barrier", "", Unit::barrier},
    {"mbarrier", "", Unit::barrier},
    {"fence", "", Unit::barrier},
    {"membar", "", Unit::barrier},
    {"griddepcontrol", "", Unit::barrier},
    {"clusterlaunchcontrol", "", Unit::barrier},
    {"bra", "", Unit::control},
    {"brx", "", Unit::control},
    {"call", "", Unit::control},
    {"ret", "", Unit::control},
    {"exit", "", Unit::control},
    {"trap", "", Unit::control},
    {"brkpt", "", Unit::control},
    {"nanosleep", "", Unit::control},
    {"setmaxnreg", "", Unit::control},
};

std::string_view opcode(std::string_view name) { return name.substr(0, name.find('.')); }

bool ends_there(std::string_view name, size_t at) { return at == name.size() || name[at] == '.'; }

bool has_modifier(std::string_view name, std::string_view modifier) {
  for (size_t at = name.find(modifier); at != std::string_view::npos; at = name.find(modifier, at + 1))
    if (ends_there(name, at + modifier.size())) return true;
  return false;
}

}  // namespace

std::span<const UnitRow> unit_rows() { return kRows; }

const UnitRow* unit_row(std::string_view name) {
  static const auto by_opcode = [] {
    std::unordered_map<std::string_view, std::vector<const UnitRow*>> out;
    for (const UnitRow& row : kRows) out[opcode(row.begins)].push_back(&row);
    return out;
  }();
  const auto at = by_opcode.find(opcode(name));
  if (at == by_opcode.end()) return nullptr;
  for (const UnitRow* row : at->second)
    if (name.starts_with(row->begins) && ends_there(name, row->begins.size()) &&
        (row->has.empty() || has_modifier(name, row->has)))
      return row;
  return nullptr;
}

}  // namespace bitwell::isa
