// Launches kept as LAUNCH.json, with the memory that they began with: bitwell run makes each again.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/isa/context/context.h"
#include "verify/driver/core/asked.h"

namespace bitwell::driver {

// Several processes of a program may keep theirs in one folder.
class Recorder {
 public:
  explicit Recorder(const Asked& asked) : asked_(asked) {}
  // Whether the limits of the command let the launch of this number, in memory of so many bytes, be kept;
  // says once that they do not.
  bool keeps(uint64_t number, uint64_t bytes);
  // The folder of the launch, of this number or the next that is free. `buffers`: where those start that are
  // kept.
  std::string record(isa::Context& context, const std::vector<uint64_t>& buffers,
                     const isa::KernelLaunch& launch, uint64_t number);

 private:
  // A new folder, which no other process has.
  std::filesystem::path claim(uint64_t number);
  // The module's file, as launch files call it.
  std::string module_of(const std::string& path, const std::string& text, const std::string& folder);
  // The file with these bytes, which an earlier launch may have written.
  std::string file_of(const std::string& name, std::span<const std::byte> bytes, const std::string& folder);

  const Asked& asked_;
  uint64_t kept_ = 0, next_ = 1;
  bool said_ = false;
  std::map<std::string, std::string> modules_;                  // by path: the file
  std::map<std::string, std::pair<size_t, std::string>> last_;  // by name: what it was, and the file
};

}  // namespace bitwell::driver
