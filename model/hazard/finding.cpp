#include "model/hazard/finding.h"

namespace bitwell::hazard {

namespace {

using About = KindRow::About;

constexpr KindRow kRows[] = {
    {.kind = Kind::race,
     .name = "race",
     .level = Level::error,
     .what = "nothing orders these two",
     .remedy = "a barrier that both reach between them (bar.sync, mbarrier), or a release and an acquire",
     .either_first = true,
     .fix = KindRow::Fix::barrier},
    {.kind = Kind::warp_race,
     .name = "warp-race",
     .level = Level::error,
     .what = "nothing orders these two threads of a warp, which need not run in lockstep",
     .remedy = "bar.warp.sync (__syncwarp) between them; shuffles and votes order no memory",
     .either_first = true},
    {.kind = Kind::lockstep,
     .name = "warp-lockstep",
     .level = Level::note,
     .what = "a lane reads, volatile, what another has stored by an instruction of both: it is there by "
             "lockstep alone",
     .remedy = "bar.warp.sync (__syncwarp) between them; volatile orders no lanes"},
    {.kind = Kind::equal_stores,
     .name = "equal-stores",
     .level = Level::note,
     .what =
         "nothing orders these two stores, but they store equal bytes on this run: one of the two remains",
     .remedy = "none where they are equal for any input; else a barrier between them, or one thread that "
               "stores",
     .either_first = true},
    {.kind = Kind::operation_race,
     .name = "operation-race",
     .level = Level::error,
     .what = "nothing orders the operation and the other: it was not waited for, or was issued too early",
     .remedy =
         "a wait for the operation (its mbarrier, group or commit) before the other; or a wait for the other "
         "(a barrier, an 'empty' mbarrier that every reader arrives at) before the operation is issued",
     .fix = KindRow::Fix::wait},
    {.kind = Kind::proxy_fence,
     .name = "proxy-fence",
     .level = Level::error,
     .what = "they are ordered, but the operation works through the async proxy",
     .remedy = "fence.proxy.async, by the thread that wrote, before what orders the two",
     // Who copied may never wait: then there is one place left.
     .remedy_later = "fence.proxy.async behind the wait for the copy: by the thread that issues the "
                     "operation, or by those who copied, behind cp.async.wait_group and before what orders "
                     "the two"},
    {.kind = Kind::proxy_fence_war,
     .name = "proxy-fence-war",
     .level = Level::note,
     .what = "they are ordered, but the write is the async proxy's, and no proxy fence follows the read",
     .remedy = "fence.proxy.async between the read and what orders the two; the manual does not say that it "
               "is needed"},
    {.kind = Kind::scope,
     .name = "scope",
     .level = Level::error,
     .what = "what would order them has too narrow a scope for two CTAs",
     .remedy = "a wider scope (.cluster, .gpu) at the release, at the acquire or at the fence",
     .remedy_earlier =
         "a wider scope (.cluster, .gpu) on the side of the first: at its access, its release or its fence",
     .remedy_later =
         "a wider scope (.cluster, .gpu) on the side of the second: at its access, its acquire or its fence"},
    {.kind = Kind::release,
     .name = "release",
     .level = Level::error,
     .what = "one saw what the other stored, but as a relaxed or weak access, which orders nothing",
     .remedy =
         "a release at the store or a fence before it; an acquire at the load or wait, or a fence after it",
     .remedy_earlier = "a release at the store that was seen, or a fence before it: it is missing on the "
                       "side of the first",
     .remedy_later = "an acquire at the load or wait that saw it, or a fence behind it: it is missing on the "
                     "side of the second"},
    {.kind = Kind::init,
     .name = "mbarrier-init",
     .level = Level::error,
     .what = "nothing orders the mbarrier's initialisation before this use of it",
     .remedy = "a barrier between them; for another CTA fence.mbarrier_init and a cluster barrier",
     .about = About::mbarrier},
    {.kind = Kind::init_fence,
     .name = "mbarrier-init-fence",
     .level = Level::note,
     .what = "those who met at a barrier behind the mbarrier's initialisation know of it, but no fence makes "
             "it known to operations that complete on it, or, at a relaxed barrier, to other CTAs",
     .remedy = "fence.mbarrier_init.release.cluster, by the thread that initialised it; since PTX 9.3 the "
               "manual says that operations reach mbarriers as threads do",
     .about = About::mbarrier},
    {.kind = Kind::reuse,
     .name = "mbarrier-reuse",
     .level = Level::error,
     .what = "nothing orders this use of the mbarrier before it ends or is initialised again",
     .remedy = "a barrier behind the last wait and arrival of all who use it",
     .about = About::mbarrier},
    {.kind = Kind::phase,
     .name = "mbarrier-phase",
     .level = Level::error,
     .what = "nothing makes the mbarrier's next phase wait for this wait: the thread may come too late and "
             "wait for the wrong one",
     .remedy = "an arrival of every waiting thread, behind its wait, that the next phase depends on",
     .about = About::mbarrier},
    {.kind = Kind::mbarrier_scope,
     .name = "mbarrier-scope",
     .level = Level::error,
     .what = "the arrival at another CTA's mbarrier that should publish the write there has the scope of its "
             "own CTA",
     .remedy = "mbarrier.arrive.release.cluster, and try_wait.acquire.cluster",
     .about = About::mbarrier},
    {.kind = Kind::tensor_wait,
     .name = "tcgen05-wait",
     .level = Level::error,
     .what = "the warp had not waited for its tcgen05.ld or tcgen05.st when the other came to be behind it",
     .remedy = "tcgen05.wait::ld or tcgen05.wait::st before what orders the two"},
    {.kind = Kind::tensor_used,
     .name = "tcgen05-wait-used",
     .level = Level::note,
     .what = "the warp had read all registers of its tcgen05.ld, but not waited for it, when the other came "
             "to be behind it",
     .remedy = "tcgen05.wait::ld before what orders the two"},
    {.kind = Kind::tensor_fence,
     .name = "tcgen05-fence",
     .level = Level::note,
     .what = "they are ordered, but not with a tcgen05.fence on both sides",
     .remedy = "tcgen05.fence::before_thread_sync before what orders the two, and fence::after_thread_sync "
               "behind it"},
    {.kind = Kind::tensor_kinds,
     .name = "tcgen05-kinds",
     .level = Level::note,
     .what = "two MMAs of one shape and accumulator, but of two kinds: no version of the manual promises "
             "their order",
     .remedy = "a tcgen05.commit and a wait for it between them"},
    {.kind = Kind::tensor_mmas,
     .name = "tcgen05-mma",
     .level = Level::note,
     .what = "an MMA writes what another, issued before, reaches: the manual promises their order to MMAs of "
             "one accumulator and shape alone",
     .remedy = "a tcgen05.commit and a wait for it between them; attention kernels in use go without"},
    {.kind = Kind::tensor_copy,
     .name = "tcgen05-copy",
     .level = Level::note,
     .what = "the copy replaces what an MMA issued before reads: the manual does not promise that the MMA "
             "comes first",
     .remedy = "a tcgen05.commit and a wait for it between them; kernels in use go without"},
    {.kind = Kind::written_twice,
     .name = "written-twice",
     .level = Level::error,
     .what = "two threads or operations write this byte of global memory, which is to be written once",
     .remedy =
         "tiles that do not overlap: the index of one of the two is wrong, or both CTAs take the same tile"},
    {.kind = Kind::tensor_overlap,
     .name = "tcgen05-overlap",
     .level = Level::error,
     .what = "the MMA writes its accumulator over another of its operands",
     .remedy = "other columns: the accumulator, A and the scales must not share any"},
    {.kind = Kind::non_coherent,
     .name = "non-coherent",
     .level = Level::error,
     .what = "they are ordered, but ld.global.nc or tex may give what a cache holds from before the write",
     .remedy = "ld.global without .nc: no __ldg, no const __restrict__, no texture of memory that the launch "
               "writes"},
    {.kind = Kind::non_coherent_war,
     .name = "non-coherent-war",
     .level = Level::note,
     .what = "ld.global.nc and tex are for memory that nobody writes while the launch runs; this is written "
             "behind the load",
     .remedy = "ld.global without .nc, or another buffer for what is written"},
    {.kind = Kind::map_fence,
     .name = "tensormap-fence",
     .level = Level::error,
     .what = "they are ordered, but the copy reads its tensor map through a proxy of its own",
     .remedy = "tensormap.cp_fenceproxy or fence.proxy.tensormap::generic.release by the thread that wrote "
               "the map, and fence.proxy.tensormap::generic.acquire of this map's 128 bytes before the copy",
     .remedy_earlier = "tensormap.cp_fenceproxy or fence.proxy.tensormap::generic.release by the thread that "
                       "wrote the map: it is missing on the side of the first",
     .remedy_later = "fence.proxy.tensormap::generic.acquire of this map's 128 bytes before the copy: it is "
                     "missing on the side of the second"},
    {.kind = Kind::grid_wait,
     .name = "grid-wait",
     .level = Level::error,
     .what = "a launch before this programmatic one may not be over: its writes may come later, and its "
             "reads too",
     .remedy = "griddepcontrol.wait (cudaGridDependencySynchronize) before it, by this thread or by one that "
               "a barrier orders before it; or no programmatic_stream_serialization",
     .earlier_launch = true},
    {.kind = Kind::grid_between,
     .name = "grid-between",
     .level = Level::note,
     .what = "they are ordered by a launch between the two alone, which lets this one start behind its wait "
             "or never waits: an H200 keeps that order, the manual does not promise it",
     .remedy =
         "griddepcontrol.wait (cudaGridDependencySynchronize) before it, and in each launch between the two"},
    {.kind = Kind::barrier_lines,
     .name = "barrier-lines",
     .level = Level::note,
     .what = "warps meet at a barrier of all threads from two instructions: PTX counts them together, CUDA "
             "does not promise it of __syncthreads",
     .remedy = "one __syncthreads that all threads come to, or named barriers with a count for each role"},
    {.kind = Kind::peer_memory,
     .name = "cluster-start",
     .level = Level::error,
     .what = "nothing says that the other CTA has begun: before that it has no shared memory",
     .remedy = "a barrier of the cluster (barrier.cluster.arrive and wait) before the first access",
     .alone = true,
     .about = About::place},
    {.kind = Kind::peer_columns,
     .name = "tcgen05-pair-start",
     .level = Level::note,
     .what = "nothing says that the other CTA of the pair has begun, which is to allocate too",
     .remedy = "a barrier of the cluster before tcgen05.alloc with .cta_group::2",
     .alone = true,
     .about = About::place},
    {.kind = Kind::peer_allocation,
     .name = "tcgen05-pair-end",
     .level = Level::error,
     .what = "nothing orders the other CTA's tcgen05.alloc before this dealloc of the pair's columns",
     .remedy = "a barrier of the cluster between tcgen05.alloc and tcgen05.dealloc with .cta_group::2",
     .alone = true,
     .about = About::place},
    {.kind = Kind::mma_registers,
     .name = "wgmma-registers",
     .level = Level::error,
     .what = "the wgmma was not waited for: until then its registers are its own, and what ptxas makes of it "
             "is not promised",
     .remedy = "wgmma.commit_group behind the wgmma and wgmma.wait_group before the other"},
    {.kind = Kind::mma_fragments,
     .name = "wgmma-fragments",
     .level = Level::note,
     .what =
         "the wgmma, which reads this register of A too, was not waited for; nothing is changed by a read",
     .remedy = "wgmma.commit_group behind the wgmma and wgmma.wait_group before the other"},
    {.kind = Kind::mma_fence,
     .name = "wgmma-fence",
     .level = Level::note,
     .what =
         "no wgmma.fence stands between an access to this register and the wgmma that has it as an operand",
     .remedy =
         "wgmma.fence behind the access; between wgmmas of one shape on one accumulator none is needed"},
    {.kind = Kind::other_local,
     .name = "other-thread-local",
     .level = Level::error,
     .what = "the address is that of another thread's local variable: here it is this thread's own local "
             "memory, on a GPU too",
     .remedy = "shared or global memory for what several threads use, or the value in place of its address",
     .orders = false,
     .about = About::place,
     .earlier_does = "handed on",
     .derives = true},
    {.kind = Kind::use_after_free,
     .name = "use-after-free",
     .level = Level::error,
     .what =
         "nothing orders the access before the free: it may find the object gone, or another in its place",
     .remedy = "a barrier, or a release and an acquire, between the last access and the free",
     .about = About::place,
     .later_does = "free",
     .given = true},
    {.kind = Kind::outside_object,
     .name = "outside-object",
     .level = Level::error,
     .what = "the address derives from a variable that ends before these bytes, or begins behind them",
     .remedy = "an index within the variable; two that are used as one must be declared as one",
     .alone = true,
     .about = About::place,
     .derives = true},
};

}  // namespace

const KindRow& row_of(Kind kind) { return kRows[static_cast<size_t>(kind)]; }

std::string_view remedy_of(Kind kind, Side side) {
  const KindRow& row = row_of(kind);
  const std::string_view at_side = side == Side::earlier ? row.remedy_earlier
                                   : side == Side::later ? row.remedy_later
                                                         : std::string_view();
  return at_side.empty() ? row.remedy : at_side;
}

std::span<const KindRow> kind_rows() { return kRows; }

}  // namespace bitwell::hazard
