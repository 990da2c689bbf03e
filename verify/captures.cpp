#include "verify/captures.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "verify/launch.h"

namespace bitwell::verify {

using nlohmann::json;

std::optional<Capture> read_capture(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    const json j = json::parse(read_file(path));
    return Capture{j.at("device"), j.at("driver"), j.at("toolkit"), j.at("digests")};
  } catch (const json::exception& e) {
    throw machine::InputError("'" + path + "' is not a capture: " + e.what());
  }
}

void write_capture(const std::string& path, const Capture& c) {
  const json j{{"device", c.device}, {"driver", c.driver}, {"toolkit", c.toolkit}, {"digests", c.digests}};
  std::ofstream out(path);
  out << j.dump(2) << "\n";
  if (!out.flush()) throw machine::InputError("cannot write '" + path + "'");
}

std::string share_folder(const std::string& name) {
  const std::filesystem::path self = std::filesystem::canonical("/proc/self/exe");
  return (self.parent_path().parent_path() / "share" / "bitwell" / name).string();
}

}  // namespace bitwell::verify
