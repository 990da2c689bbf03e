// A folder for what a fuzzed reader wants as files; gone at the end.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace bitwell::fuzz {

class Scratch {
 public:
  Scratch() {
    // In memory where there is such a folder: a campaign writes ten million files.
    std::string name = std::filesystem::is_directory("/dev/shm") ? "/dev/shm/bitwell-fuzz-XXXXXX"
                                                                 : "/tmp/bitwell-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Writes a file and returns its path.
  std::string put(const std::string& name, const std::string& text) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
    return path;
  }

 private:
  std::string folder_;
};

}  // namespace bitwell::fuzz
