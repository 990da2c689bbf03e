// A kernel of the tests that operates once on tensor memory: every cell of 16 columns is written before and
// read after.
#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../../kernel.h"

namespace bitwell::isa {

inline constexpr uint32_t kTensorKernelColumns = 16;

// PTX of sm_100a. Its code may use %r0, the thread; %r6, the CTA's rank; %r7, the thread in the cluster; %r2,
// the tensor memory address; %a2, where `in` starts; and has %r3 to %r5, %r8, %r9, %a1, %a3, %h0 and %v0 to
// %v15 for itself.
struct TensorKernel {
  int ctas = 1;                                      // of a cluster, of 128 threads
  std::string shared{};                              // declarations
  std::string prepare{};                             // code before all threads of a CTA meet
  std::function<std::string(uint32_t column)> fill;  // code that puts a lane's cell of a column into %v of it
  std::string issuer{};                              // code that sets %p1: who issues
  std::string issue{};                               // code of those; a commit follows
  int commits = 1;                                   // that arrive at each CTA

  std::string text() const {
    const std::string group = ".cta_group::" + std::to_string(ctas);
    const std::string all =
        ctas == 2 ? "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" : "bar.sync 0;\n";
    std::string values;
    std::string filled;
    std::string stored;
    for (uint32_t c = 0; c < kTensorKernelColumns; ++c) {
      values += (c == 0 ? "{%v" : ", %v") + std::to_string(c);
      filled += fill(c);
      stored += "st.global.u32 [%a0+" + std::to_string(4 * c) + "], %v" + std::to_string(c) + ";\n";
    }
    values += "}";
    return ".version 9.0\n.target sm_100a\n.address_size 64\n"
           ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
           ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b32 %v<16>;\n.reg .b64 %a<6>;\n.reg .b16 %h0;\n"
           ".shared .align 8 .b8 bar[8];\n.shared .align 4 .b32 base;\n" +
           shared +
           "ld.param.u64 %a0, [out];\nld.param.u64 %a2, [in];\nmov.u32 %r0, %tid.x;\n"
           "mov.u32 %r6, %cluster_ctarank;\nshl.b32 %r7, %r6, 7;\nadd.u32 %r7, %r7, %r0;\n"
           "mul.wide.u32 %a1, %r7, 64;\nadd.u64 %a0, %a0, %a1;\nsetp.lt.u32 %p0, %r0, 32;\n"
           "setp.eq.u32 %p2, %r0, 0;\n@%p2 mbarrier.init.shared.b64 [bar], " +
           std::to_string(commits) + ";\n@%p0 tcgen05.alloc" + group +
           ".sync.aligned.shared::cta.b32 [base], 32;\n" + prepare +
           "bar.sync 0;\nld.shared.b32 %r2, [base];\nand.b32 %r1, %r0, 96;\nshl.b32 %r1, %r1, 16;\n"
           "add.u32 %r1, %r2, %r1;\n" +
           filled + "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r1], " + values +
           ";\ntcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\n" + all + issuer +
           "\n@!%p1 bra issued;\ntcgen05.fence::after_thread_sync;\n" + issue +
           "mov.u16 %h0, 3;\ntcgen05.commit" + group + ".mbarrier::arrive::one.shared::cluster" +
           (ctas == 2 ? ".multicast::cluster.b64 [bar], %h0;\n" : ".b64 [bar];\n") +
           "issued:\nwait: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra wait;\n"
           "bar.warp.sync -1;\ntcgen05.fence::after_thread_sync;\n"
           "tcgen05.ld.sync.aligned.32x32b.x16.b32 " +
           values + ", [%r1];\ntcgen05.wait::ld.sync.aligned;\n" + stored + all + "@%p0 tcgen05.dealloc" +
           group + ".sync.aligned.b32 %r2, 32;\nret;\n}\n";
  }

  // The cells afterwards, [thread in the cluster][column]. `in`: some bytes at least.
  std::vector<uint32_t> run(const std::vector<std::byte>& in, run::Schedule schedule = {}) const {
    const auto count = static_cast<uint32_t>(ctas);
    launch::Launch l;
    l.entry = "k";
    l.shape.grid = {count, 1, 1};
    l.shape.cluster = {count, 1, 1};
    l.shape.block = {128, 1, 1};
    l.add_buffer({"in", in});
    l.add_buffer(
        {"out", std::vector<std::byte>(size_t{4} * kTensorKernelColumns * 128 * count), true, false, true});
    run::Options options;
    options.schedule = schedule;
    test::run_ptx(text(), l, options);
    std::vector<uint32_t> out(kTensorKernelColumns * 128 * count);
    std::memcpy(out.data(), l.buffers[1].bytes.data(), l.buffers[1].bytes.size());
    return out;
  }
};

}  // namespace bitwell::isa
