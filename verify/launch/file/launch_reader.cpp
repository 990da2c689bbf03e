// What any field of LAUNCH.json may be refused for.
#include "verify/launch/file/launch_reader.h"

namespace bitwell::launch {

using machine::InputError;
namespace fs = std::filesystem;

void LaunchReader::refuse(const std::string& why) const { throw InputError("'" + path_ + "': " + why); }

std::string LaunchReader::input(const std::string& name) {
  file_.inputs.push_back(place(name));
  return file_.inputs.back();
}

std::string LaunchReader::place(const std::string& name) const {
  return fs::path(name).is_absolute() ? name : (folder_ / name).string();
}

}  // namespace bitwell::launch
