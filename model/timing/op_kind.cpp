#include "model/timing/op_kind.h"

namespace bitwell::timing {

using isa::Unit;

bool is_weak(std::string_view name) {
  for (const std::string_view text : {".volatile", ".relaxed", ".acquire", ".release", ".async", ".mmio"})
    if (name.find(text) != std::string_view::npos) return false;
  return name.substr(0, 2) == "ld" || name.substr(0, 3) == "st." || name.substr(0, 8) == "stmatrix";
}

OpKind kind_of(std::string_view name, Unit unit) {
  const auto begins = [&](std::string_view text) { return name.substr(0, text.size()) == text; };
  if (begins("mma.sync") || begins("wmma.mma")) return OpKind::multiply_warp;
  if (begins("wgmma.mma_async")) return OpKind::multiply;
  if (begins("tcgen05.mma") || begins("tcgen05.cp") || begins("tcgen05.shift")) return OpKind::tensor;
  if (begins("tcgen05.ld")) return OpKind::tensor_load;
  if (begins("tcgen05.st")) return OpKind::tensor_store;
  if (begins("tcgen05.wait")) return OpKind::barrier;
  if (begins("tcgen05")) return OpKind::order;
  if (begins("wgmma") || begins("setmaxnreg") || begins("griddepcontrol") || begins("nanosleep"))
    return OpKind::order;
  if (begins("cp.async.bulk.wait") || begins("cp.async.wait")) return OpKind::barrier;
  if (begins("cp.async.bulk.commit") || begins("cp.async.commit")) return OpKind::order;
  if (begins("cp.async.bulk") || begins("cp.reduce.async.bulk")) return OpKind::copy;
  if (begins("cp.async.mbarrier")) return OpKind::barrier;
  if (begins("cp.async") || begins("st.async") || begins("red.async")) return OpKind::memory;
  if (begins("bar.warp.sync")) return OpKind::arithmetic;
  switch (unit) {
    case Unit::load_store: return OpKind::memory;
    case Unit::texture: return OpKind::memory;
    case Unit::barrier: return OpKind::barrier;
    default: return OpKind::arithmetic;
  }
}

}  // namespace bitwell::timing
