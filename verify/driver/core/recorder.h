// Launches kept as LAUNCH.json, with the memory that they began with: bitwell run makes each again.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "verify/driver/core/launches.h"

namespace bitwell::driver {

// Several processes of a program may keep theirs in one folder.
class Recorder {
 public:
  explicit Recorder(State& state) : state_(state) {}
  // The folder of the launch, of this number or the next that is free; empty where the limits of the command
  // say that it is not kept.
  std::string record(const isa::KernelLaunch& launch, uint64_t number);

 private:
  // A new folder, which no other process has.
  std::filesystem::path claim(uint64_t number);
  // The module's file, as launch files call it.
  std::string module_of(const std::string& path, const std::string& text, const std::string& folder);
  // The file with these bytes, which an earlier launch may have written.
  std::string file_of(const std::string& name, std::span<const std::byte> bytes, const std::string& folder);

  State& state_;
  uint64_t kept_ = 0, next_ = 1;
  bool said_ = false;
  std::map<std::string, std::string> modules_;                  // by path: the file
  std::map<std::string, std::pair<size_t, std::string>> last_;  // by name: what it was, and the file
};

}  // namespace bitwell::driver
