// The PTX files of launches, each read once.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "verify/launch/launch.h"

namespace bitwell::launch {

// Of a launch, its module.
using ModuleOf = std::function<std::shared_ptr<const isa::Module>(const Launch&)>;

// For any number of threads.
class Modules {
 public:
  // The module of a file, as load_module().
  std::shared_ptr<const isa::Module> of(const std::string& path);
  // Of a launch that has none, that of its file.
  std::shared_ptr<const isa::Module> operator()(const Launch& launch) {
    return launch.module != nullptr ? launch.module : of(launch.ptx);
  }
  // Gives the launch its module, and those under `then` theirs.
  void load(Launch& launch);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const isa::Module>> modules_;  // by path
};

}  // namespace bitwell::launch
