// griddepcontrol: launches that overlap (PTX ISA 9.0, 9.7.13.13).
#include "model/isa/family/emit.h"
#include "model/isa/family/families.h"
#include "model/run/context.h"
#include "model/run/stuck/cause.h"
#include "model/run/stuck/nearby.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {
namespace {

std::string for_launch_before(run::Cluster& cluster, const run::Waiter&) {
  const run::Grid& before = *cluster.grid.before;
  return " for the end of the launch before, '" + run::readable(before.name()) + "', of which " +
         run::plural(before.ctas() - before.ended, "CTA") + " have not ended";
}
constexpr run::WaitKind kForLaunchBefore{
    .why = for_launch_before, .over = [](const run::Grid& grid) { return grid.before->complete(); }};

// The first thread of a CTA says it for all of them.
Next launch_dependents(const Op&, run::Context& context, uint32_t mask) {
  run::Cta& cta = context.cta;
  run::tell_synchronised(machine::Synchronisation::Kind::dependents_let, cta, context.warp, context.split(),
                         mask, 0);
  if (cta.lets_dependents_start || !cta.grid.has_dependents) return Next::advance;
  cta.lets_dependents_start = true;
  cta.cluster.let_dependents_start();
  return Next::advance;
}

Next wait_for_launch(const Op&, run::Context& context, uint32_t mask) {
  const run::Grid* before = context.cta.grid.before;
  if (before != nullptr && !before->complete()) {
    context.cta.cluster.yield();
    run::take_lanes(context, mask).wait = &kForLaunchBefore;
    return Next::moved;
  }
  run::tell_synchronised(machine::Synchronisation::Kind::grids_waited, context.cta, context.warp,
                         context.split(), mask, 0);
  return Next::advance;
}

void grid_dependency(Builder& b, const Match& m) {
  b.emit(effect_without_memory(b, m.modifiers.front() == ".wait" ? wait_for_launch : launch_dependents));
}

constexpr Form kForms[] = {{"griddepcontrol{.launch_dependents,.wait}", "", grid_dependency, 78, 90}};

}  // namespace

std::span<const Form> grid_dependency_forms() { return kForms; }

}  // namespace bitwell::isa
