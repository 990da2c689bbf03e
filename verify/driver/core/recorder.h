// Launches kept as LAUNCH.json, with the memory that they began with: bitwell run makes each again.
#pragma once
#include <map>
#include <string>

#include "verify/driver/core/launches.h"

namespace bitwell::driver {

class Recorder {
 public:
  explicit Recorder(State& state) : state_(state) {}
  // The folder of the launch; empty where the limits of the command say that it is not kept.
  std::string record(const Wanted& wanted, uint64_t number);

 private:
  // The file with these bytes, which an earlier launch may have written.
  std::string file_of(const std::string& name, std::span<const std::byte> bytes, uint64_t number);

  State& state_;
  uint64_t kept_ = 0;
  bool said_ = false;
  std::map<std::string, std::pair<size_t, std::string>> last_;  // by name: what it was, and the file
};

}  // namespace bitwell::driver
