// What any field of LAUNCH.json may be refused for.
#include "verify/launch/launch_reader.h"

namespace bitwell::verify {

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

void LaunchReader::allow(const json& j, const std::set<std::string>& keys, const std::string& where) const {
  if (!j.is_object()) refuse(where + " must be an object");
  for (const auto& [key, value] : j.items())
    if (key != "//" && keys.count(key) == 0) {
      std::string known;
      for (const std::string& k : keys) known += (known.empty() ? "" : ", ") + k;
      refuse("unknown field '" + key + "' in " + where + "; it knows " + known);
    }
}

std::string LaunchReader::text(const json& j, const char* key, const std::string& where) const {
  if (!j.contains(key)) refuse(where + " has no '" + std::string(key) + "'");
  if (!j.at(key).is_string())
    refuse(where + ": '" + key + "' holds " + shown(j.at(key)) + ", it must be a string");
  return j.at(key).get<std::string>();
}

std::string LaunchReader::text(const json& j, const char* key, const std::string& where,
                               const std::string& preset) const {
  return j.contains(key) ? text(j, key, where) : preset;
}

bool LaunchReader::flag(const json& j, const char* key, const std::string& where) const {
  if (!j.contains(key)) return false;
  if (!j.at(key).is_boolean())
    refuse(where + ": '" + key + "' holds " + shown(j.at(key)) + ", it must be true or false");
  return j.at(key).get<bool>();
}

std::string LaunchReader::shown(const json& v) {
  constexpr size_t most = 60;
  const std::string all = v.dump();
  return all.size() <= most ? all : all.substr(0, most) + "...";
}

uint64_t LaunchReader::whole_below(const json& v, const std::string& what, int bits) const {
  if (!v.is_number_unsigned() || (bits < 64 && v.get<uint64_t>() >> bits != 0))
    refuse(what + " holds " + shown(v) + ", it must be a whole number below 2^" + std::to_string(bits));
  return v.get<uint64_t>();
}

uint32_t LaunchReader::whole(const json& v, const char* key) const {
  return static_cast<uint32_t>(whole_below(v, std::string("'") + key + "'", 32));
}

double LaunchReader::number(const json& j, const char* key, const std::string& where) const {
  const json& v = j.at(key);
  if (!v.is_number() || !(v.get<double>() >= 0))
    refuse(where + ": '" + key + "' holds " + shown(v) + ", it must be a number, 0 or more");
  return v.get<double>();
}

std::array<uint32_t, 3> LaunchReader::triple(const json& j, const char* key) const {
  std::array<uint32_t, 3> out{1, 1, 1};
  if (!j.contains(key)) return out;
  const json& v = j.at(key);
  if (v.is_number_unsigned()) {
    out[0] = whole(v, key);
  } else {
    if (!v.is_array() || v.empty() || v.size() > 3)
      refuse(std::string("'") + key + "' must be one to three whole numbers");
    for (size_t i = 0; i < v.size(); ++i) out[i] = whole(v[i], key);
  }
  return out;
}

const json& LaunchReader::list(const json& j, const char* key) const {
  static const json none = json::array();
  if (!j.contains(key)) return none;
  if (!j.at(key).is_array()) refuse(std::string("'") + key + "' must be a list");
  return j.at(key);
}

}  // namespace bitwell::verify
