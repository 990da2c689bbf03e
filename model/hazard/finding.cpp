#include "model/hazard/finding.h"

namespace bitwell::hazard {

namespace {

constexpr KindRow kRows[] = {
    {Kind::race, "race", Level::error, "nothing orders these two",
     "a barrier that both reach between them (bar.sync, mbarrier), or a release and an acquire"},
    {Kind::warp_race, "warp-race", Level::error,
     "nothing orders these two threads of a warp, which need not run in lockstep",
     "bar.warp.sync (__syncwarp) between them; shuffles and votes order no memory"},
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
};

}  // namespace

const KindRow& row_of(Kind kind) { return kRows[static_cast<size_t>(kind)]; }

}  // namespace bitwell::hazard
