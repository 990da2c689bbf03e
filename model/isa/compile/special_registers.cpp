// Special registers by name (PTX ISA 9.0, chapter 10).
#include <algorithm>
#include <array>

#include "model/isa/compile/function_builder.h"
#include "model/isa/family/control/time.h"
#include "model/isa/form/explicit_cluster.h"
#include "model/isa/form/reserved_shared.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

struct Named {
  std::string_view name;
  Special special;
};
constexpr std::array<Named, 43> kNames{{{"%tid.x", Special::tid_x},
                                        {"%tid.y", Special::tid_y},
                                        {"%tid.z", Special::tid_z},
                                        {"%ntid.x", Special::ntid_x},
                                        {"%ntid.y", Special::ntid_y},
                                        {"%ntid.z", Special::ntid_z},
                                        {"%ctaid.x", Special::ctaid_x},
                                        {"%ctaid.y", Special::ctaid_y},
                                        {"%ctaid.z", Special::ctaid_z},
                                        {"%nctaid.x", Special::nctaid_x},
                                        {"%nctaid.y", Special::nctaid_y},
                                        {"%nctaid.z", Special::nctaid_z},
                                        {"%laneid", Special::laneid},
                                        {"%warpid", Special::warpid},
                                        {"%nwarpid", Special::nwarpid},
                                        {"%smid", Special::smid},
                                        {"%nsmid", Special::nsmid},
                                        {"%gridid", Special::gridid},
                                        {"%lanemask_eq", Special::lanemask_eq},
                                        {"%lanemask_le", Special::lanemask_le},
                                        {"%lanemask_lt", Special::lanemask_lt},
                                        {"%lanemask_ge", Special::lanemask_ge},
                                        {"%lanemask_gt", Special::lanemask_gt},
                                        {"%clusterid.x", Special::clusterid_x},
                                        {"%clusterid.y", Special::clusterid_y},
                                        {"%clusterid.z", Special::clusterid_z},
                                        {"%nclusterid.x", Special::nclusterid_x},
                                        {"%nclusterid.y", Special::nclusterid_y},
                                        {"%nclusterid.z", Special::nclusterid_z},
                                        {"%cluster_ctaid.x", Special::cluster_ctaid_x},
                                        {"%cluster_ctaid.y", Special::cluster_ctaid_y},
                                        {"%cluster_ctaid.z", Special::cluster_ctaid_z},
                                        {"%cluster_nctaid.x", Special::cluster_nctaid_x},
                                        {"%cluster_nctaid.y", Special::cluster_nctaid_y},
                                        {"%cluster_nctaid.z", Special::cluster_nctaid_z},
                                        {"%cluster_ctarank", Special::cluster_ctarank},
                                        {"%cluster_nctarank", Special::cluster_nctarank},
                                        {"%total_smem_size", Special::total_smem_size},
                                        {"%dynamic_smem_size", Special::dynamic_smem_size},
                                        {"%aggr_smem_size", Special::aggr_smem_size},
                                        {"%tid", Special::tid_x},
                                        {"%ctaid", Special::ctaid_x},
                                        {"%ntid", Special::ntid_x}}};
constexpr size_t kWholeVectors = 3;  // the last rows: names of vectors, refused without a component

struct Clock {
  std::string_view name;
  int bits;
  bool high;
};
constexpr Clock kClocks[] = {{"%clock", 32, false},          {"%clock_hi", 32, true},
                             {"%clock64", 64, false},        {"%globaltimer", 64, false},
                             {"%globaltimer_lo", 32, false}, {"%globaltimer_hi", 32, true}};

// The part of a CTA's shared memory that the system keeps, as an H200 tells of it (docs/evidence.md).
struct Reserved {
  std::string_view name;
  uint32_t value;
  bool address;  // in the CTA's shared memory, or bytes
};
constexpr Reserved kReserved[] = {{"%reserved_smem_offset_begin", 0, true},
                                  {"%reserved_smem_offset_end", kReservedForCode, true},
                                  {"%reserved_smem_offset_cap", 1024, false},
                                  {"%reserved_smem_offset_0", 0, true},
                                  {"%reserved_smem_offset_1", 0, true}};

// Legal, and nothing that bitwell has: performance counters, graphs.
constexpr std::string_view kUnsupported[] = {"%pm0",
                                             "%pm1",
                                             "%pm2",
                                             "%pm3",
                                             "%pm4",
                                             "%pm5",
                                             "%pm6",
                                             "%pm7",
                                             "%pm0_64",
                                             "%pm1_64",
                                             "%pm2_64",
                                             "%pm3_64",
                                             "%pm4_64",
                                             "%pm5_64",
                                             "%pm6_64",
                                             "%pm7_64",
                                             "%current_graph_exec"};

// The number of %envreg0 to 31.
std::optional<size_t> environment_register(std::string_view name) {
  constexpr std::string_view prefix = "%envreg";
  if (!name.starts_with(prefix)) return std::nullopt;
  for (size_t n = 0; n < 32; ++n)
    if (name.substr(prefix.size()) == std::to_string(n)) return n;
  return std::nullopt;
}

}  // namespace

bool is_special_register(std::string_view name) {
  if (name == kExplicitCluster) return true;
  const auto named = [&](const auto& row) { return row.name == name; };
  return std::any_of(kNames.begin(), kNames.end(), named) ||
         std::any_of(std::begin(kClocks), std::end(kClocks), named) ||
         std::any_of(std::begin(kReserved), std::end(kReserved), named) ||
         std::find(std::begin(kUnsupported), std::end(kUnsupported), name) != std::end(kUnsupported) ||
         environment_register(name);
}

std::optional<Value> FunctionBuilder::special(const ptx::Operand& o, const Type& want) {
  if (o.name.empty() || o.name[0] != '%') return std::nullopt;
  const std::string full = o.name + o.suffix;
  if (find_register(o.name) != nullptr) {  // of the kernel's own: it hides the special one
    for (const Named& n : kNames)
      if (n.name.starts_with(o.name + ".") && !o.suffix.empty())
        throw Invalid("'" + full + "', where '" + o.name + "' is a register of the kernel's own");
    if (o.suffix.empty()) return std::nullopt;
  }
  const auto is_float = [](const std::string& m) {
    return find_type(m) != nullptr && find_type(m)->kind == 'f';
  };
  const std::vector<std::string>& modifiers = instruction_->modifiers;
  const bool converts = instruction_->opcode == "cvt" && (want.kind == 'u' || want.kind == 's') &&
                        std::none_of(modifiers.begin(), modifiers.end(), is_float);
  // Between integers cvt takes the low bits of one that is wider than its type, as ptxas 13.0 takes all.
  const auto low_bits_of = [&](int bits, uint32_t row) {
    return Value{row, want.bits < bits ? &type(".b" + std::to_string(bits)) : nullptr};
  };
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].name != full) continue;
    if (i + kWholeVectors >= kNames.size()) throw Invalid("'" + full + "' needs a component, .x, .y or .z");
    const bool wide = kNames[i].special == Special::gridid;
    if (converts && want.bits < 32) return low_bits_of(32, special_row(32, kNames[i].special));
    // Those that had 16 bits before PTX 2.0 are still read as such by mov.
    const bool short_once = wide || kNames[i].special <= Special::nctaid_z;
    if (want.bits == 16 && short_once && instruction_->opcode == "mov")
      return Value{special_row(16, kNames[i].special), nullptr};
    if (want.bits != 32 && !(wide && want.bits == 64))
      throw Invalid("'" + full + "' is .u32 where " + std::string(want.name) + " is needed");
    if (want.kind == 'f')
      throw Invalid("'" + full + "' is .u32 where " + std::string(want.name) + " is needed");
    return Value{special_row(want.bits, kNames[i].special), nullptr};
  }
  const auto only_mov = [&](int bits) {
    if (want.kind == 'f' ||
        (converts ? want.bits > bits : want.bits != bits || instruction_->opcode != "mov"))
      throw Invalid("'" + full + "' can be moved or converted as an integer of " + std::to_string(bits) +
                    " bits, and nothing else");
  };
  if (const std::optional<size_t> n = environment_register(full)) {
    only_mov(32);
    return low_bits_of(32,
                       special_row(32, static_cast<Special>(static_cast<size_t>(Special::envreg_0) + *n)));
  }
  for (const Reserved& r : kReserved)
    if (full == r.name) {
      only_mov(32);
      if (sm() != 90)
        throw machine::Unsupported("special register '" + full +
                                   "', whose value is recorded of an H200 alone");
      return low_bits_of(
          32, r.address ? special_row(32, Special::shared_base, r.value) : constant_row(32, r.value));
    }
  for (const Clock& c : kClocks)
    if (full == c.name) {
      only_mov(c.bits);
      return low_bits_of(c.bits, emit_time(*this, c.bits, c.high));
    }
  for (const char* colour : {".r", ".g", ".b", ".a"})
    if (o.suffix == colour)
      for (const Named& n : kNames)
        if (n.name == o.name + ".x")
          throw machine::Unsupported("'" + full + "', a component named by a colour");
  if (full == kExplicitCluster)
    throw Invalid("predicate '" + full + "' where " + std::string(want.name) + " is needed");
  for (const std::string_view known : kUnsupported)
    if (full == known) throw machine::Unsupported("special register '" + full + "'");
  return std::nullopt;
}

}  // namespace bitwell::isa
