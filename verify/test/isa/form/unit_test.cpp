// Which unit executes a form.
#include "model/isa/form/unit.h"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <random>
#include <set>

#include "model/isa/family/families.h"
#include "spellings.h"

namespace bitwell::isa {
namespace {

constexpr int kSpelled = 400;  // ways of a form

// visit(name) for spellings of every form.
template <class Visit>
void each_name(Visit visit) {
  std::mt19937_64 random(1);
  for (const isa::Form* form : isa::all_forms())
    for (int i = 0; i < kSpelled; ++i) {
      std::string name(isa::opcode_of(*form));
      for (const std::string& m : spell(*form, random).match.modifiers) name += m;
      visit(*form, name);
    }
}

// Each has one, and of the table each row is the one of some form; the table of opcodes is printed.
TEST(Unit, EveryFormHasOne) {
  std::set<const UnitRow*> left;
  for (const UnitRow& row : isa::unit_rows()) left.insert(&row);
  std::map<std::string_view, std::set<std::string>> opcodes;
  each_name([&](const isa::Form& form, const std::string& name) {
    const UnitRow* const row = isa::unit_row(name);
    ASSERT_NE(row, nullptr) << name << " of " << form.pattern;
    left.erase(row);
    opcodes[isa::kUnits[static_cast<size_t>(row->unit)].name].insert(std::string(isa::opcode_of(form)));
  });
  for (const UnitRow* row : left) ADD_FAILURE() << "of no form: " << row->begins << " " << row->has;
  for (const auto& [unit, all] : opcodes) {
    std::cout << unit << ":";
    for (const std::string& o : all) std::cout << " " << o;
    std::cout << "\n";
  }
  EXPECT_EQ(opcodes.size(), isa::kUnits.size());
}

TEST(Unit, NamesAreInTheOrderOfTheEnumeration) {
  for (size_t i = 0; i < isa::kUnits.size(); ++i) EXPECT_EQ(static_cast<size_t>(isa::kUnits[i].unit), i);
}

// By hand, of each unit some, those above all that share an opcode with others.
TEST(Unit, OfNames) {
  const std::map<Unit, std::vector<std::string>> wanted{
      {Unit::alu,
       {"add.s32", "add.u64", "abs.f32", "setp.lt.f32", "lop3.b32", "mov.b64", "div.s32",
        "cvta.to.global.u64"}},
      {Unit::fma,
       {"add.rn.f32", "sub.f16x2", "fma.rn.bf16", "mul.lo.s32", "mul.wide.u16", "mad.lo.u32",
        "dp4a.u32.u32"}},
      {Unit::fp64, {"add.f64", "fma.rn.f64", "max.f64", "sqrt.rn.f64", "rcp.rn.f64", "div.rn.f64"}},
      {Unit::sfu,
       {"ex2.approx.ftz.f32", "rcp.approx.ftz.f64", "rsqrt.approx.f32", "div.full.f32", "div.rn.f32",
        "popc.b32"}},
      {Unit::convert, {"cvt.rn.f16x2.f32", "cvt.rn.satfinite.e2m1x2.f32"}},
      {Unit::warp, {"shfl.sync.bfly.b32", "vote.sync.ballot.b32", "redux.sync.add.u32", "elect.sync"}},
      {Unit::load_store,
       {"ld.global.v4.f32", "st.shared.b32", "atom.global.add.u32", "cp.async.cg.shared.global",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "st.async.weak.shared::cluster.b32"}},
      {Unit::texture, {"tex.2d.v4.f32.f32", "suld.b.1d.b32.trap"}},
      {Unit::tensor,
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "tcgen05.mma.cta_group::1.kind::f16"}},
      {Unit::tensor_memory, {"tcgen05.ld.sync.aligned.32x32b.x1.b32", "tcgen05.cp.cta_group::1.128x256b"}},
      {Unit::copy,
       {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"}},
      {Unit::barrier,
       {"bar.sync", "mbarrier.try_wait.parity.b64", "fence.proxy.async", "cp.async.bulk.wait_group.read",
        "cp.async.commit_group", "wgmma.wait_group.sync.aligned", "tcgen05.commit.cta_group::1.b64"}},
      {Unit::control, {"bra.uni", "call.uni", "ret", "exit"}}};
  for (const auto& [unit, names] : wanted)
    for (const std::string& name : names) {
      const UnitRow* const row = isa::unit_row(name);
      ASSERT_NE(row, nullptr) << name;
      EXPECT_EQ(row->unit, unit) << name;
    }
  EXPECT_EQ(wanted.size(), isa::kUnits.size());
  EXPECT_EQ(isa::unit_row("frobnicate.b32"), nullptr);
  EXPECT_EQ(isa::unit_row("addx.s32"), nullptr);
}

}  // namespace
}  // namespace bitwell::isa
