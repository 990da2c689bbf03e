#include "verify/capture/captures.h"

#include <sys/auxv.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/strict_json/parse.h"
#include "model/strict_json/write.h"
#include "verify/launch/launch.h"
#include "verify/launch/output/output_files.h"

namespace bitwell::capture {

using nlohmann::json;

std::optional<Capture> read_capture(const std::string& path) {
  std::error_code unreadable;
  if (!std::filesystem::exists(path, unreadable)) return std::nullopt;
  try {
    const json j = strict_json::parse(launch::read_file(path));
    return Capture{j.at("device"), j.at("driver"), j.at("toolkit"), j.at("digests")};
  } catch (const strict_json::JsonError& e) {
    throw machine::InputError("'" + path + "' is not JSON that can be used: " + e.what());
  } catch (const json::exception& e) {
    throw machine::InputError("'" + path + "' is not a capture: " + e.what());
  }
}

std::vector<Capture> read_captures(const std::string& folder) {
  std::set<std::string> paths;
  std::error_code unreadable;
  for (const auto& file : std::filesystem::directory_iterator(folder, unreadable))
    if (file.path().extension() == ".json") paths.insert(file.path().string());
  std::vector<Capture> out;
  for (const std::string& path : paths) out.push_back(*read_capture(path));
  return out;
}

void write_capture(const std::string& path, const Capture& c) {
  const json j{{"device", c.device}, {"driver", c.driver}, {"toolkit", c.toolkit}, {"digests", c.digests}};
  launch::replace_file(path, "the capture", strict_json::dumped(j, 2) + "\n");
}

std::set<std::string> unrecorded(const std::string& captures) {
  std::set<std::string> out;
  std::istringstream text(launch::read_file(captures + "/unrecorded.txt"));
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && line[0] != '#') out.insert(line);
  return out;
}

std::string share_folder(const std::string& name) {
  std::error_code no_proc;
  std::filesystem::path self = std::filesystem::canonical("/proc/self/exe", no_proc);
  if (no_proc)  // a bare root: the path that it was started by
    self = std::filesystem::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN)));
  return (self.parent_path().parent_path() / "share" / "bitwell" / name).string();
}

}  // namespace bitwell::capture
