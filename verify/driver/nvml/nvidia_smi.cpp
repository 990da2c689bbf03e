// nvidia-smi, as far as test suites ask it: -L, --query-gpu=FIELD,... --format=csv[,noheader][,nounits], and
// without arguments a line for people.
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "verify/driver/nvml/seen_device.h"

using namespace bitwell::driver;

namespace {

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');)
    out.push_back(one.substr(std::min(one.find_first_not_of(' '), one.size())));
  return out;
}

std::string mebibytes(uint64_t bytes, bool units) {
  return std::to_string(bytes >> 20) + (units ? " MiB" : "");
}

std::string value(const std::string& field, const DeviceRow& d, bool units) {
  if (field == "name" || field == "gpu_name") return std::string(d.name) + " (bitwell)";
  if (field == "index" || field == "memory.used") return field == "index" ? "0" : mebibytes(0, units);
  if (field == "count") return "1";
  if (field == "uuid" || field == "gpu_uuid") return uuid_text(d);
  if (field == "driver_version") return kDriverVersion;
  if (field == "compute_cap") return std::to_string(d.sm / 10) + "." + std::to_string(d.sm % 10);
  if (field == "memory.total" || field == "memory.free") return mebibytes(d.size.memory, units);
  if (field == "utilization.gpu" || field == "utilization.memory") return units ? "0 %" : "0";
  return "[N/A]";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : ", ") + w;
  return out;
}

}  // namespace

int main(int count, char** words) {
  const DeviceRow* device = nullptr;
  try {
    device = &seen_device();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bitwell: %s\n", e.what());
    return 2;
  }
  std::vector<std::string> fields;
  bool head = true, units = true;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "-L" || word == "--list-gpus") {
      std::printf("GPU 0: %s (UUID: %s)\n", value("name", *device, true).c_str(),
                  value("uuid", *device, true).c_str());
      return 0;
    }
    if (word.starts_with("--query-gpu=")) fields = parts(word.substr(12));
    if (word.starts_with("--format=")) {
      head = word.find("noheader") == std::string::npos;
      units = word.find("nounits") == std::string::npos;
    }
  }
  if (fields.empty()) {
    std::printf("bitwell: GPU 0 is a simulated %s, CUDA 13.0\n", std::string(device->name).c_str());
    return 0;
  }
  if (head) std::printf("%s\n", joined(fields).c_str());
  std::vector<std::string> values;
  for (const std::string& f : fields) values.push_back(value(f, *device, units));
  std::printf("%s\n", joined(values).c_str());
  return 0;
}
