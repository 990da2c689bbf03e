// Which part of a multiprocessor does an instruction, by its name.
#include <gtest/gtest.h>

#include "model/timing/loops.h"
#include "model/timing/op_kind.h"

namespace bitwell::timing {
namespace {

using isa::Unit;

TEST(Kinds, ByTheName) {
  struct Row {
    OpKind kind;
    std::initializer_list<const char*> names;
  };
  const Row rows[] = {
      {OpKind::multiply_warp, {"mma.sync.aligned.m16n8k16", "wmma.mma.sync.aligned.row.col.m16n16k16"}},
      {OpKind::multiply, {"wgmma.mma_async.sync.aligned.m64n8k16"}},
      {OpKind::tensor,
       {"tcgen05.mma.cta_group::1", "tcgen05.cp.cta_group::1.128x256b", "tcgen05.shift.cta_group::1.down"}},
      {OpKind::tensor_load, {"tcgen05.ld.sync.aligned.32x32b.x8.b32"}},
      {OpKind::tensor_store, {"tcgen05.st.sync.aligned.32x32b.x8.b32"}},
      {OpKind::barrier,
       {"tcgen05.wait::ld.sync.aligned", "cp.async.bulk.wait_group.read", "cp.async.wait_all",
        "cp.async.mbarrier.arrive.noinc.shared.b64"}},
      {OpKind::order,
       {"tcgen05.commit.cta_group::1", "tcgen05.alloc.cta_group::1", "wgmma.fence.sync.aligned",
        "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned", "setmaxnreg.inc.sync.aligned.u32",
        "griddepcontrol.wait", "nanosleep.u32", "cp.async.bulk.commit_group", "cp.async.commit_group"}},
      {OpKind::copy,
       {"cp.async.bulk.tensor.2d.shared::cluster", "cp.async.bulk.global.shared::cta.bulk_group",
        "cp.async.bulk.prefetch.L2.global", "cp.reduce.async.bulk.global.shared::cta"}},
      {OpKind::memory,
       {"cp.async.ca.shared.global", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32",
        "red.async.shared::cluster.mbarrier::complete_tx::bytes.inc.u32"}},
      {OpKind::arithmetic, {"bar.warp.sync"}},
  };
  for (const Row& row : rows)
    for (const char* const name : row.names)
      for (const Unit unit : {Unit::alu, Unit::load_store, Unit::barrier, Unit::tensor})
        EXPECT_EQ(kind_of(name, unit), row.kind) << name;
}

// Others by the unit that executes them.
TEST(Kinds, ByTheUnit) {
  EXPECT_EQ(kind_of("ld.global.u32", Unit::load_store), OpKind::memory);
  EXPECT_EQ(kind_of("tex.2d.v4.f32.f32", Unit::texture), OpKind::memory);
  EXPECT_EQ(kind_of("bar.sync", Unit::barrier), OpKind::barrier);
  for (const Unit unit : {Unit::alu, Unit::fma, Unit::fp64, Unit::sfu, Unit::convert, Unit::warp})
    EXPECT_EQ(kind_of("add.f32", unit), OpKind::arithmetic);
}

// What an instruction makes of the warp that does it.
TEST(Kinds, WhatAWarpDoes) {
  for (const char* const name : {"wgmma.mma_async.sync.aligned", "mma.sync.aligned", "wmma.mma.sync.aligned",
                                 "tcgen05.mma.cta_group::1"})
    EXPECT_EQ(does(name), kMultiplies) << name;
  for (const char* const name :
       {"cp.async.ca.shared.global", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"})
    EXPECT_EQ(does(name), kCopies) << name;
  EXPECT_EQ(does("tcgen05.ld.sync.aligned"), kReads);
  for (const char* const name :
       {"cp.async.wait_group", "cp.async.commit_group", "cp.async.bulk.wait_group",
        "cp.async.bulk.commit_group", "cp.async.bulk.prefetch.L2.global",
        "cp.async.mbarrier.arrive.shared.b64", "cp.async.bulk.global.shared::cta.bulk_group",
        "tcgen05.st.sync.aligned", "wgmma.fence", "ld.global.u32"})
    EXPECT_EQ(does(name), 0) << name;
}

}  // namespace
}  // namespace bitwell::timing
