// Arguments and results of the functions that the driver provides.
#pragma once
#include <cstring>

#include "model/isa/family/control/call.h"
#include "model/run/context.h"

namespace bitwell::isa {

// A lane's n-th argument. Faults where the call passes no such one.
template <class T>
T builtin_argument(const run::Context& context, const CallSite& site, size_t n, int lane) {
  T v{};
  if (n >= site.arguments.size() || site.arguments[n].size < sizeof v)
    throw machine::Fault("a built-in function is called with the wrong arguments", lane);
  const auto& local = context.warp.local[static_cast<size_t>(lane)];
  const uint32_t base = context.warp.splits[context.split_index].activation->local_base;
  std::memcpy(&v, local.data() + base + site.arguments[n].offset, sizeof v);
  return v;
}

// A lane's result, where the call takes one; `name` is the function's. Faults where it has another size.
template <class T>
void builtin_result(run::Context& context, const CallSite& site, const char* name, int lane, const T& v) {
  if (site.results.empty()) return;
  if (site.results[0].size != sizeof v)
    throw machine::Fault(std::string(name) + "'s result must have " + std::to_string(sizeof v) + " bytes",
                         lane);
  const uint64_t at = context.activation().local_base + site.results[0].offset;
  std::memcpy(context.warp.local[static_cast<size_t>(lane)].data() + at, &v, sizeof v);
  std::memset(context.warp.local_defined[static_cast<size_t>(lane)].data() + at, machine::kWritten, sizeof v);
}

}  // namespace bitwell::isa
