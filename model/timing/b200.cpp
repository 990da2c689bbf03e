// What a B200 costs, by what others have published: no probe of ours has run on one. What only a B300's
// figure is known of says so. `what` of a row that is published or in conflict: who.
#include "model/timing/tables.h"

namespace bitwell::timing {
namespace {

constexpr std::string_view kSemi = "SemiAnalysis microbench-blackwell, B200";
constexpr std::string_view kQuick = "QuickRunCUDA, B300";
constexpr std::string_view kLikeHopper = "as an H200";

constexpr Cost kB200Costs[] = {
    {Key::clock, "clock of multiprocessors", 1845, 1800, 1965, Scale::megahertz, Source::conflict,
     "Modal's B200s 1,845; QuickRunCUDA: boost 1,965"},
    {Key::loaded_clock, "clock with busy tensor cores", 1600, 1057, 1845, Scale::megahertz, Source::conflict,
     "QuickRunCUDA: a B300 down to 1,057 with NVFP4; FlashGPU-Sim: bf16 2,185 TFLOP/s, which is 1,800"},
    {Key::sms, "multiprocessors", 148, 148, 148, Scale::count, Source::published, "NVIDIA"},
    {Key::memory_clock_free_bandwidth, "DRAM, all multiprocessors", 7260, 7000, 7300,
     Scale::gigabytes_a_second, Source::published, kSemi},
    {Key::l2_bandwidth, "L2, all multiprocessors", 20500, 13300, 29000, Scale::gigabytes_a_second,
     Source::conflict,
     "FlashGPU-Sim 20.5 TB/s; CUTLASS's NVFP4 at 4352x3840x15360 by ultism/svdquant-kernels takes at least "
     "20.2; QuickRunCUDA, B300: 13.3 on the bus, 23.9 with L1, 29 by TMA"},
    {Key::few_sms, "of which each takes all that it can", 1, 1, 1, Scale::count, Source::published, kQuick},
    // 128 bytes a cycle.
    {Key::few_sms_bandwidth, "L2, one multiprocessor", 236, 196, 241, Scale::gigabytes_a_second,
     Source::published, "QuickRunCUDA, B300: 241 alone at 1,920 MHz, 29 TB/s of 148"},
    {Key::l2_bytes, "L2, MB that stay", 126, 60, 130, Scale::count, Source::published, "NVIDIA: 126 MB"},
    {Key::launch, "an empty kernel", 0.77, 0.7, 2.2, Scale::microseconds, Source::guess, kLikeHopper},
    {Key::launch_a_cta, "an empty kernel of 16896 CTAs", 9.1, 7.7, 12, Scale::microseconds, Source::published,
     "QuickRunCUDA, B300: 0.54 ns a CTA"},
    {Key::launch_a_cluster, "the same in clusters of 2", 15.96, 9, 22.4, Scale::microseconds, Source::guess,
     kLikeHopper},
    {Key::bar_sync, "bar.sync of one warp", 24, 14, 26, Scale::cycles, Source::published,
     "QuickRunCUDA, B300: 22 and 2 for each warp"},
    {Key::bar_sync_a_warp, "bar.sync of 32 warps", 86, 76, 90, Scale::cycles, Source::published, kQuick},
    {Key::cluster_barrier, "barrier.cluster of 2 CTAs of one warp", 373, 102, 380, Scale::cycles,
     Source::conflict, "QuickRunCUDA, B300: 102 relaxed, 373 cluster.sync"},
    {Key::cluster_barrier_a_warp, "of 8 warps", 404, 110, 420, Scale::cycles, Source::guess, kLikeHopper},
    {Key::mbarrier_arrive, "mbarrier.arrive", 24, 15, 30, Scale::cycles, Source::published, kQuick},
    {Key::mbarrier_arrive_expect, "mbarrier.arrive.expect_tx", 24, 20, 30, Scale::cycles, Source::guess,
     "as mbarrier.arrive"},
    {Key::mbarrier_token, "mbarrier.arrive, until its token is there", 38.95, 24, 54, Scale::cycles,
     Source::guess, kLikeHopper},
    {Key::mbarrier_wait, "mbarrier.try_wait that is over", 30, 20, 54, Scale::cycles, Source::published,
     "QuickRunCUDA, B300: arrive and test 54"},
    {Key::mbarrier_handover, "mbarrier, from one warp to another", 99, 78, 123, Scale::cycles,
     Source::conflict, "QuickRunCUDA, B300: arrive and wait 123; an H200 78"},
    {Key::copy_issue, "bulk copy, its thread", 48, 32, 48, Scale::cycles, Source::published, kQuick},
    {Key::tensor_copy_issue, "tensor copy, its thread", 32, 32, 48, Scale::cycles, Source::conflict,
     "QuickRunCUDA, B300: 48; SemiAnalysis's smallest mainloop: two, with a wait and an arrive, in 113"},
    {Key::remote_copy_rate, "bulk copy to another CTA, bytes a cycle", 21.3, 15, 43, Scale::count,
     Source::guess, kLikeHopper},
    {Key::store_read, "bulk copy to global memory of 16 bytes, until read", 69, 60, 120, Scale::cycles,
     Source::guess, kLikeHopper},
    {Key::store_rate, "of 32768 bytes, until read", 1090, 500, 1101, Scale::cycles, Source::guess,
     kLikeHopper},
    {Key::shared_latency, "ld.shared", 29, 19, 30, Scale::cycles, Source::conflict,
     "Huerta et al., Blackwell: 29; FlashGPU-Sim: 19"},
    {Key::shared_interval, "ld.shared, a warp without conflicts", 1, 1, 1.1, Scale::cycles, Source::published,
     "QuickRunCUDA, B300: 128 bytes a cycle"},
    {Key::shared_atomic, "atom.shared", 36, 28, 44, Scale::cycles, Source::published, kQuick},
    {Key::remote_latency, "ld.shared::cluster", 200, 180, 240, Scale::cycles, Source::published,
     "QuickRunCUDA, B300: 8 times a load of one's own"},
    {Key::l1_latency, "ld.global, L1 hit", 34, 29, 41, Scale::cycles, Source::guess, kLikeHopper},
    {Key::l1_interval, "ld.global.v4, a warp, L1 hits", 7.31, 4, 8, Scale::cycles, Source::guess,
     kLikeHopper},
    {Key::l2_latency, "ld.global, L2 hit", 358, 260, 660, Scale::cycles, Source::guess,
     "an H200's, and the half that is far: 300 more"},
    {Key::dram_latency, "ld.global, DRAM", 813, 600, 1100, Scale::cycles, Source::guess,
     "between an H200's and a gather's 595 ns"},
    {Key::global_atomic, "atom.global", 413, 340, 790, Scale::cycles, Source::published, kQuick},
    {Key::fence_cta, "fence of a CTA", 8, 8, 18, Scale::cycles, Source::published, kQuick},
    {Key::fence_gpu, "fence of the GPU or a cluster", 267, 265, 560, Scale::cycles, Source::published,
     kQuick},
    {Key::fence_sys, "fence of the system", 2806, 1017, 2900, Scale::cycles, Source::published, kQuick},
    {Key::fence_proxy, "fence.proxy.async", 145, 145, 315, Scale::cycles, Source::guess, kLikeHopper},
    {Key::fence_proxy_shared, "fence.proxy.async.shared::cta", 9.3, 9, 18, Scale::cycles, Source::guess,
     kLikeHopper},
    {Key::fence_proxy_global, "fence.proxy.async.global", 4.24, 4, 54, Scale::cycles, Source::guess,
     kLikeHopper},
    {Key::cluster_wait, "barrier.cluster.wait, of one that is complete", 20, 10, 40, Scale::cycles,
     Source::guess},
    {Key::small_step, "an operation that only arrives", 10, 2, 30, Scale::cycles, Source::guess},
    {Key::wait_group, "a wait for copies that are over", 7, 2, 20, Scale::cycles, Source::guess},
    {Key::wait_beside, "in the probe of mbarrier.try_wait beside it", 0, 0, 10, Scale::cycles, Source::guess},
    {Key::copy_beside, "in the probe of a copy beside it", 0, 0, 50, Scale::cycles, Source::guess},
    {Key::store_beside, "in the probe of a copy to global memory beside it", 0, 0, 65, Scale::cycles,
     Source::guess},
    {Key::warp_step, "bar.warp.sync and other small orders", 2, 1, 4, Scale::cycles, Source::guess},
    {Key::cp_async_latency, "cp.async beside a load", 30, 0, 60, Scale::cycles, Source::guess},
    {Key::queue, "wavefronts that wait for the port of shared memory", 16, 4, 32, Scale::count,
     Source::guess},
    {Key::unknown_latency, "an instruction without a row", 10, 4, 40, Scale::cycles, Source::guess},
    {Key::unknown_interval, "the same, of a multiprocessor", 1, 0.25, 4, Scale::cycles, Source::guess},
    {Key::l2_beside, "ld.global, L2 hit, while copies queue for L2", 838, 400, 1400, Scale::cycles,
     Source::guess, "an H200's part of the queue"},
    {Key::mma_latency, "mma.sync without a row", 33, 17, 40, Scale::cycles, Source::guess},
    {Key::mma_interval, "the same, of a multiprocessor", 2.02, 1, 8.4, Scale::cycles, Source::guess},
    {Key::tensor_issue, "tcgen05.mma, cp or shift, its thread", 12, 2, 32, Scale::cycles, Source::guess},
    {Key::tensor_load_latency, "tcgen05.ld", 60, 20, 420, Scale::cycles, Source::conflict,
     "20 by a model's file, 200 to 420 quoted, 295 withdrawn"},
    {Key::tensor_load_rate, "tcgen05.ld, bytes a cycle of a multiprocessor", 512, 197, 2480, Scale::count,
     Source::conflict, "QuickRunCUDA, B300: 56 TB/s in all; another's 693; 128 lanes of a word: 512"},
    {Key::tensor_store_rate, "tcgen05.st", 402, 345, 512, Scale::count, Source::published,
     "QuickRunCUDA, B300: 98 to 131 TB/s in all"},
    {Key::tensor_copy_first, "tcgen05.cp until its commit has arrived", 168, 140, 180, Scale::cycles,
     Source::published, "a Modal B200, 64 rows"},
    {Key::tensor_copy_rate, "the next ones, bytes a cycle", 30, 15, 64, Scale::count, Source::published,
     "a Modal B200: 68 cycles for 64 rows of 32 bytes"},
    {Key::copy_line, "copy, a line of at most 128 bytes", 1, 0.9, 1.6, Scale::cycles, Source::published,
     "SemiAnalysis's mainloops: a cycle for each row of a box, of 32, 64 or 128 bytes; QuickRunCUDA, B300"},
    {Key::tensor_commit, "tcgen05.commit, from the end of what is committed until a wait is past", 60, 30,
     120, Scale::cycles, Source::guess},
};

// A gather of rows took 197 ns from the near half of L2, 540 from the far one, 595 from DRAM (a Modal B200);
// SemiAnalysis's figures of a box of 8 KB go from 511 to 2,714 cycles. More bytes cost their lines, before
// that.
constexpr CopyCost kB200Copies[] = {
    {16, 374, 1000, Source::conflict},
    {65536, 374, 1000, Source::conflict},
};

// What is not here costs what it does on an H200.
constexpr OpCost kB200Ops[] = {
    {"fma", ".f64", 8, 0.5, Source::guess},
    {"add", ".f64", 8, 0.5, Source::guess},
    {"mul", ".f64", 8, 0.5, Source::guess},
    {"fma", ".f32", 4, 0.25, Source::published, kQuick},
    {"fma", ".f32x2", 4, 0.5, Source::published, "FlashGPU-Sim: one every two cycles"},
    {"lop3", "", 4, 0.5, Source::published, kQuick},
    {"prmt", "", 4, 0.5, Source::published, kQuick},
    {"shf", "", 4, 0.5, Source::published, kQuick},
    {"setp", "", 4, 0.5, Source::published, kQuick},
    {"add", ".s32", 4, 0.41, Source::published, kQuick},
    {"add", ".u32", 4, 0.41, Source::published, kQuick},
    {"mad.lo", "", 4, 0.5, Source::published, kQuick},
    {"popc", "", 17, 2, Source::published, kQuick},
    {"brev", "", 17, 2, Source::published, kQuick},
    {"ex2", "", 16, 1, Source::published, kQuick},
    {"lg2", "", 18, 2, Source::published, kQuick},
    {"rsqrt.approx", "", 18, 2, Source::published, kQuick},
    {"sin", "", 24, 2, Source::published, kQuick},
    {"cos", "", 24, 2, Source::published, kQuick},
    {"cvt.rn.f16x2.e2m1x2", "", 4, 0.5, Source::published, kQuick},
    {"cvt.rn.f16x2.e4m3x2", "", 4, 0.5, Source::published, kQuick},
    {"cvt.rn.f16x2.e5m2x2", "", 4, 0.5, Source::published, kQuick},
    {"cvt.rn.f16x2.f32", "", 4, 1, Source::published, kQuick},
    {"cvt.rn.bf16x2.f32", "", 4, 1, Source::published, kQuick},
    {"cvt.rn.satfinite.e4m3x2.f32", "", 4, 1, Source::published, kQuick},
    {"cvt.rn.satfinite.e4m3x2.f16x2", "", 4, 1, Source::published, kQuick},
    {"cvt.rn.satfinite.e2m1x2.f32", "", 4, 2.2, Source::published, kQuick},
    {"shfl", "", 24, 1, Source::published, kQuick},
    {"vote", "", 22, 0.5, Source::published, kQuick},
    {"elect", "", 22, 0.5, Source::guess},
    {"redux", "", 45, 2, Source::published, kQuick},
    {"match", "", 375, 20, Source::published, kQuick},
    {"tcgen05.fence", "", 2, 0.25, Source::guess},
    {"tcgen05.commit", "", 12, 0.25, Source::guess},
    {"tcgen05.alloc", "", 100, 1, Source::guess},
    {"tcgen05.dealloc", "", 20, 1, Source::guess},
    {"tcgen05.relinquish_alloc_permit", "", 10, 1, Source::guess},
};

constexpr WarpMmaCost kB200Mmas[] = {
    {".m16n8k16.row.col.f32.f16.f16.f32", 33, 2.02, "QuickRunCUDA, B300: 577 TFLOP/s", Source::published},
    {".m16n8k32.row.col.f32.e4m3.e4m3.f32", 33, 8.4, "QuickRunCUDA, B300: 276 TFLOP/s", Source::published},
};

constexpr TensorMmaCost kB200Tensors[] = {
    {1, 64, 8, 20, 20, 140, Source::guess, {}},
    {1, 64, 64, 32, 32, 152, Source::published, kSemi},
    {1, 64, 128, 64, 64, 184, Source::published, kSemi},
    {1, 64, 256, 128, 128, 248, Source::published, kSemi},
    {1, 128, 8, 36, 20, 140, Source::guess, {}},
    {1, 128, 64, 48, 32, 168, Source::published, kSemi},
    {1, 128, 80, 52, 40, 174, Source::published, kSemi},
    {1, 128, 96, 56, 48, 180, Source::published, kSemi},
    {1, 128, 112, 60, 56, 188, Source::published, kSemi},
    {1, 128, 128, 64, 64, 192, Source::published, kSemi},
    {1, 128, 256, 128, 128, 264, Source::published, kSemi},
    {2, 128, 8, 18, 16, 180, Source::guess, {}},
    {2, 128, 64, 25, 16, 190, Source::published, kSemi},
    {2, 128, 128, 32, 32, 202, Source::published, kSemi},
    {2, 128, 256, 64, 64, 234, Source::published, kSemi},
    {2, 256, 8, 36, 20, 190, Source::guess, {}},
    {2, 256, 64, 43, 32, 202, Source::published, kSemi},
    {2, 256, 80, 45.4, 40, 210, Source::published, kSemi},
    {2, 256, 96, 49.4, 48, 218, Source::published, kSemi},
    {2, 256, 112, 56, 56, 226, Source::published, kSemi},
    {2, 256, 128, 64, 64, 234, Source::published, kSemi},
    {2, 256, 256, 128, 128, 298, Source::published, kSemi},
};

}  // namespace

const Device& b200() {
  static const Device kDevice{"b200",      "B200",   100,       kB200Costs,   kB200Copies,
                              kB200Copies, kB200Ops, kB200Mmas, kB200Tensors, &h200()};
  return kDevice;
}

}  // namespace bitwell::timing
