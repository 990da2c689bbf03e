#include "model/hazard/finding.h"

namespace bitwell::hazard {

namespace {

constexpr KindRow kRows[] = {
    {Kind::race, "race", Level::error, "nothing orders these two",
     "a barrier that both reach between them (bar.sync, mbarrier), or a release and an acquire"},
    {Kind::warp_race, "warp-race", Level::error,
     "nothing orders these two threads of a warp, which need not run in lockstep",
     "bar.warp.sync (__syncwarp) between them; shuffles and votes order no memory"},
    {Kind::lockstep, "warp-lockstep", Level::note,
     "a lane reads, volatile, what another has stored by an instruction of both: it is there by lockstep "
     "alone",
     "bar.warp.sync (__syncwarp) between them; volatile orders no lanes"},
    {Kind::operation_race, "operation-race", Level::error,
     "nothing orders the operation and the other: it was not waited for, or was issued too early",
     "a wait for the operation (its mbarrier, group or commit) before the other; or a wait for the other (a "
     "barrier, an 'empty' mbarrier that every reader arrives at) before the operation is issued"},
    {Kind::proxy_fence, "proxy-fence", Level::error,
     "they are ordered, but the operation works through the async proxy",
     "fence.proxy.async, by the thread that wrote, before what orders the two"},
    {Kind::proxy_fence_war, "proxy-fence-war", Level::note,
     "they are ordered, but the write is the async proxy's, and no proxy fence follows the read",
     "fence.proxy.async between the read and what orders the two; the manual does not say that it is needed"},
    {Kind::scope, "scope", Level::error, "what would order them has too narrow a scope for two CTAs",
     "a wider scope (.cluster, .gpu) at the release, at the acquire or at the fence"},
    {Kind::release, "release", Level::error,
     "one saw what the other stored, but as a relaxed or weak access, which orders nothing",
     "a release at the store or a fence before it; an acquire at the load or wait, or a fence after it"},
    {Kind::init, "mbarrier-init", Level::error,
     "nothing orders the mbarrier's initialisation before this use of it",
     "a barrier between them; for another CTA fence.mbarrier_init and a cluster barrier"},
    {Kind::init_fence, "mbarrier-init-fence", Level::note,
     "those who met at a barrier behind the mbarrier's initialisation know of it, but no fence makes it "
     "known to "
     "operations that complete on it, or, at a relaxed barrier, to other CTAs",
     "fence.mbarrier_init.release.cluster, by the thread that initialised it; since PTX 9.3 the manual says "
     "that "
     "operations reach mbarriers as threads do"},
    {Kind::reuse, "mbarrier-reuse", Level::error,
     "nothing orders this use of the mbarrier before it ends or is initialised again",
     "a barrier behind the last wait and arrival of all who use it"},
    {Kind::phase, "mbarrier-phase", Level::error,
     "nothing makes the mbarrier's next phase wait for this wait: the thread may come too late and wait for "
     "the wrong one",
     "an arrival of every waiting thread, behind its wait, that the next phase depends on"},
    {Kind::mbarrier_scope, "mbarrier-scope", Level::error,
     "the arrival at another CTA's mbarrier that should publish the write there has the scope of its own CTA",
     "mbarrier.arrive.release.cluster, and try_wait.acquire.cluster"},
    {Kind::tensor_wait, "tcgen05-wait", Level::error,
     "the warp had not waited for its tcgen05.ld or tcgen05.st when the other came to be behind it",
     "tcgen05.wait::ld or tcgen05.wait::st before what orders the two"},
    {Kind::tensor_used, "tcgen05-wait-used", Level::note,
     "the warp had read all registers of its tcgen05.ld, but not waited for it, when the other came to be "
     "behind "
     "it",
     "tcgen05.wait::ld before what orders the two"},
    {Kind::tensor_fence, "tcgen05-fence", Level::note,
     "they are ordered, but not with a tcgen05.fence on both sides",
     "tcgen05.fence::before_thread_sync before what orders the two, and fence::after_thread_sync behind it"},
    {Kind::tensor_kinds, "tcgen05-kinds", Level::note,
     "two MMAs of one shape and accumulator, but of two kinds: no version of the manual promises their order",
     "a tcgen05.commit and a wait for it between them"},
    {Kind::tensor_mmas, "tcgen05-mma", Level::note,
     "an MMA writes what another, issued before, reaches: the manual promises their order to MMAs of one "
     "accumulator and shape alone",
     "a tcgen05.commit and a wait for it between them; attention kernels in use go without"},
    {Kind::tensor_copy, "tcgen05-copy", Level::note,
     "the copy replaces what an MMA issued before reads: the manual does not promise that the MMA comes "
     "first",
     "a tcgen05.commit and a wait for it between them; kernels in use go without"},
    {Kind::written_twice, "written-twice", Level::error,
     "two threads or operations write this byte of global memory, which is to be written once",
     "tiles that do not overlap: the index of one of the two is wrong, or both CTAs take the same tile"},
    {Kind::tensor_overlap, "tcgen05-overlap", Level::error,
     "the MMA writes its accumulator over another of its operands",
     "other columns: the accumulator, A and the scales must not share any"},
    {Kind::non_coherent, "non-coherent", Level::error,
     "they are ordered, but ld.global.nc or tex may give what a cache holds from before the write",
     "ld.global without .nc: no __ldg, no const __restrict__, no texture of memory that the launch writes"},
    {Kind::non_coherent_war, "non-coherent-war", Level::note,
     "ld.global.nc and tex are for memory that nobody writes while the launch runs; this is written behind "
     "the load",
     "ld.global without .nc, or another buffer for what is written"},
    {Kind::map_fence, "tensormap-fence", Level::error,
     "they are ordered, but the copy reads its tensor map through a proxy of its own",
     "tensormap.cp_fenceproxy or fence.proxy.tensormap::generic.release by the thread that wrote the map, "
     "and "
     "fence.proxy.tensormap::generic.acquire of this map's 128 bytes before the copy"},
    {Kind::grid_wait, "grid-wait", Level::error,
     "a launch before this programmatic one may not be over: its writes may come later, and its reads too",
     "griddepcontrol.wait (cudaGridDependencySynchronize) before it, by this thread or by one that a barrier "
     "orders before it; or no programmatic_stream_serialization"},
    {Kind::grid_between, "grid-between", Level::note,
     "they are ordered by a launch between the two alone, which lets this one start behind its wait or never "
     "waits: an H200 keeps that order, the manual does not promise it",
     "griddepcontrol.wait (cudaGridDependencySynchronize) before it, and in each launch between the two"},
    {Kind::barrier_lines, "barrier-lines", Level::note,
     "warps meet at a barrier of all threads from two instructions: PTX counts them together, CUDA does not "
     "promise it of __syncthreads",
     "one __syncthreads that all threads come to, or named barriers with a count for each role"},
    {Kind::peer_memory, "cluster-start", Level::error,
     "nothing says that the other CTA has begun: before that it has no shared memory",
     "a barrier of the cluster (barrier.cluster.arrive and wait) before the first access", true},
    {Kind::peer_columns, "tcgen05-pair-start", Level::note,
     "nothing says that the other CTA of the pair has begun, which is to allocate too",
     "a barrier of the cluster before tcgen05.alloc with .cta_group::2", true},
    {Kind::peer_allocation, "tcgen05-pair-end", Level::error,
     "nothing orders the other CTA's tcgen05.alloc before this dealloc of the pair's columns",
     "a barrier of the cluster between tcgen05.alloc and tcgen05.dealloc with .cta_group::2", true},
    {Kind::mma_registers, "wgmma-registers", Level::error,
     "the wgmma was not waited for: until then its registers are its own, and what ptxas makes of it is not "
     "promised",
     "wgmma.commit_group behind the wgmma and wgmma.wait_group before the other"},
    {Kind::mma_fragments, "wgmma-fragments", Level::note,
     "the wgmma, which reads this register of A too, was not waited for; nothing is changed by a read",
     "wgmma.commit_group behind the wgmma and wgmma.wait_group before the other"},
    {Kind::mma_fence, "wgmma-fence", Level::error,
     "no wgmma.fence stands between an access to this register and the wgmma that has it as an operand",
     "wgmma.fence behind the access; between wgmmas of one shape on one accumulator none is needed"},
    {Kind::other_local, "other-thread-local", Level::error,
     "the address is that of another thread's local variable: here it is this thread's own local memory, on "
     "a "
     "GPU too",
     "shared or global memory for what several threads use, or the value in place of its address", false,
     false},
    {Kind::use_after_free, "use-after-free", Level::error,
     "nothing orders the access before the free: it may find the object gone, or another in its place",
     "a barrier, or a release and an acquire, between the last access and the free"},
    {Kind::outside_object, "outside-object", Level::error,
     "the address derives from a variable that ends before these bytes, or begins behind them",
     "an index within the variable; two that are used as one must be declared as one", true},
};

struct SideRow {
  Kind kind;
  Side side;
  std::string_view remedy;
};
constexpr SideRow kSides[] = {
    // Who copied may never wait: then there is one place left.
    {Kind::proxy_fence, Side::later,
     "fence.proxy.async behind the wait for the copy: by the thread that issues the operation, or by those "
     "who "
     "copied, behind cp.async.wait_group and before what orders the two"},
    {Kind::release, Side::earlier,
     "a release at the store that was seen, or a fence before it: it is missing on the side of the first"},
    {Kind::release, Side::later,
     "an acquire at the load or wait that saw it, or a fence behind it: it is missing on the side of the "
     "second"},
    {Kind::scope, Side::earlier,
     "a wider scope (.cluster, .gpu) on the side of the first: at its access, its release or its fence"},
    {Kind::scope, Side::later,
     "a wider scope (.cluster, .gpu) on the side of the second: at its access, its acquire or its fence"},
    {Kind::map_fence, Side::earlier,
     "tensormap.cp_fenceproxy or fence.proxy.tensormap::generic.release by the thread that wrote the map: it "
     "is "
     "missing on the side of the first"},
    {Kind::map_fence, Side::later,
     "fence.proxy.tensormap::generic.acquire of this map's 128 bytes before the copy: it is missing on the "
     "side of "
     "the second"},
};

}  // namespace

const KindRow& row_of(Kind kind) { return kRows[static_cast<size_t>(kind)]; }

std::string_view remedy_of(Kind kind, Side side) {
  for (const SideRow& row : kSides)
    if (row.kind == kind && row.side == side) return row.remedy;
  return row_of(kind).remedy;
}

std::span<const KindRow> kind_rows() { return kRows; }

}  // namespace bitwell::hazard
