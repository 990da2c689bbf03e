// What an instruction says of memory order reaches the program.
#include <gtest/gtest.h>

#include "model/isa/compile/compile.h"
#include "model/isa/family/memory/memory.h"
#include "model/ptx/parse.h"

namespace bitwell::isa {
namespace {

// The order that the only instruction with one states.
std::optional<Order> order_of(const std::string& instruction) {
  const Program p = compile(
      ptx::parse(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
                 ".reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .pred %p<2>;\n.shared .align 8 .b64 bar;\n" +
                 instruction + "\nret;\n}\n"),
      "k");
  for (const Op& op : p.functions[static_cast<size_t>(p.entry)].code) {
    if (const auto* use = dynamic_cast<const AddressUse*>(op.payload)) return use->order;
    if (const auto* fence = dynamic_cast<const FenceUse*>(op.payload)) return fence->order;
  }
  return std::nullopt;
}

struct Row {
  const char* instruction;
  Order order;
};
constexpr Row kRows[] = {
    {"ld.global.u32 %r0, [%a0];", {Semantics::weak, Scope::cta}},
    {"ld.global.nc.u32 %r0, [%a0];", {Semantics::weak, Scope::cta, Proxy::non_coherent}},
    {"ld.volatile.global.u32 %r0, [%a0];", {Semantics::volatile_, Scope::sys}},
    {"ld.relaxed.gpu.global.u32 %r0, [%a0];", {Semantics::relaxed, Scope::gpu}},
    {"ld.acquire.sys.global.u32 %r0, [%a0];", {Semantics::acquire, Scope::sys}},
    {"ld.acquire.cluster.shared::cluster.u32 %r0, [%r1];", {Semantics::acquire, Scope::cluster}},
    {"st.release.cta.shared.u32 [%r0], %r1;", {Semantics::release, Scope::cta}},
    {"st.global.u32 [%a0], %r1;", {Semantics::weak, Scope::cta}},
    {"atom.global.add.u32 %r0, [%a0], 1;", {Semantics::relaxed, Scope::gpu}},
    {"atom.acq_rel.sys.global.add.u32 %r0, [%a0], 1;", {Semantics::acq_rel, Scope::sys}},
    {"red.release.cta.shared.add.u32 [%r0], 1;", {Semantics::release, Scope::cta}},
    {"membar.gl;", {Semantics::sc, Scope::gpu}},
    {"membar.cta;", {Semantics::sc, Scope::cta}},
    {"fence.acq_rel.cluster;", {Semantics::acq_rel, Scope::cluster}},
    {"fence.gpu;", {Semantics::acq_rel, Scope::gpu}},
    {"fence.sc.sys;", {Semantics::sc, Scope::sys}},
    {"fence.proxy.async.shared::cta;", {Semantics::acq_rel, Scope::sys, Proxy::async}},
    {"fence.mbarrier_init.release.cluster;", {Semantics::release, Scope::cluster}},
    {"fence.proxy.tensormap::generic.release.gpu;", {Semantics::release, Scope::gpu, Proxy::tensor_map}},
    {"fence.proxy.tensormap::generic.acquire.cta [%a0], 128;",
     {Semantics::acquire, Scope::cta, Proxy::tensor_map}},
    {"mbarrier.arrive.shared.b64 _, [bar];", {Semantics::release, Scope::cta}},
    {"mbarrier.arrive.relaxed.cluster.shared.b64 _, [bar];", {Semantics::relaxed, Scope::cluster}},
    {"mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;", {Semantics::acquire, Scope::cta}},
    {"mbarrier.test_wait.parity.relaxed.cta.shared.b64 %p0, [bar], 0;", {Semantics::relaxed, Scope::cta}},
    {"mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 16;", {Semantics::relaxed, Scope::cta}},
};

TEST(Orders, AreWhatTheInstructionStates) {
  for (const Row& row : kRows) {
    const std::optional<Order> found = order_of(row.instruction);
    ASSERT_TRUE(found) << row.instruction;
    EXPECT_TRUE(*found == row.order) << row.instruction << ": semantics "
                                     << static_cast<int>(found->semantics) << ", scope "
                                     << static_cast<int>(found->scope) << ", proxy "
                                     << static_cast<int>(found->proxy);
  }
}

}  // namespace
}  // namespace bitwell::isa
