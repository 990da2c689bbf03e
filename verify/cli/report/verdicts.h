// Verdicts on kernels, as one table and as data.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "verify/cli/report/junit.h"
#include "verify/device/judge.h"

namespace bitwell::cli {

// `timed`: with what hangs on the machine and its load.
nlohmann::json verdict_json(const verdict::Verdict& v, bool timed);
// One line: whether all holds, of how much.
std::string summary(const std::string& subject, const std::vector<verdict::Verdict>& verdicts,
                    const device::DeviceReport& on_device);
// `on_device`: with the GPU's column, where it has a device.
void print_verdicts(const std::vector<verdict::Verdict>& verdicts, const device::DeviceReport& on_device,
                    bool timed, bool verbose);
// A test for each row of the table, and one for what the GPU gave for it.
std::vector<TestCase> tests_of(const std::vector<verdict::Verdict>& verdicts,
                               const device::DeviceReport& on_device);
// What the GPU gave for that verdict's kernel, or nullptr.
const device::OnDevice* of_verdict(const device::DeviceReport& on_device, const verdict::Verdict& v);

}  // namespace bitwell::cli
