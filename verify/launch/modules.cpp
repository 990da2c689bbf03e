#include "verify/launch/modules.h"

namespace bitwell::launch {

std::shared_ptr<const isa::Module> Modules::of(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<const isa::Module>& module = modules_[path];
  if (module == nullptr) module = load_module(path);
  return module;
}

void Modules::load(Launch& launch) {
  launch.module = (*this)(launch);
  {
    const std::scoped_lock lock(mutex_);
    modules_.try_emplace(launch.ptx, launch.module);
  }
  for (Step& s : launch.then)
    if (!s.copy && !s.fill && s.module == nullptr) s.module = of(s.ptx);
}

}  // namespace bitwell::launch
