// What `bitwell verify --device` says of a GPU's bytes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "verify/device/judge.h"

namespace bitwell::cli {

// A cell of the table: "2,964 bytes of 12 cases are equal", "not on this GPU", "3 bytes differ".
std::string device_cell(const device::OnDevice& kernel);
// Below the table: the first case of each kernel that differs, hangs or is refused. Empty: none.
std::string device_findings(const device::DeviceReport& report);
nlohmann::json device_json(const device::OnDevice& kernel);

}  // namespace bitwell::cli
