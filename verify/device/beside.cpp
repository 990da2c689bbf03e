#include "verify/device/beside.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/machine/arch.h"
#include "verify/capture/evidence.h"
#include "verify/launch/file/numbers.h"
#include "verify/launch/steps.h"
#include "verify/launch/variables.h"

namespace bitwell::device {
namespace {

std::string hex(const std::vector<std::byte>& bytes, size_t from, size_t count) {
  std::string out = "0x";
  for (size_t i = std::min(from + count, bytes.size()); i-- > from;)
    out += fmt::format("{:02x}", static_cast<unsigned>(bytes[i]));
  return out;
}

}  // namespace

std::unique_ptr<Device> device_for(const std::string& target) {
  std::string why;
  std::unique_ptr<Device> device = Device::open(why);
  if (device == nullptr) throw machine::InputError("--device: no GPU to run on: " + why);
  if (const int there = device->compute_capability(); !runs_target(there, target))
    throw machine::InputError(
        fmt::format("--device: {} is sm_{}, which does not run PTX for {}", device->name(), there, target));
  return device;
}

OutputBeside output_beside(const std::string& name, const std::vector<std::byte>& simulated,
                           const std::vector<std::byte>& device, const launch::Output& output) {
  OutputBeside out{name, simulated.size()};
  const auto [here, there] = std::mismatch(simulated.begin(), simulated.end(), device.begin(), device.end());
  if (here == simulated.end() && there == device.end()) return out;
  const auto byte = static_cast<size_t>(here - simulated.begin());
  const uint64_t bits =
      output.format.empty() ? 8 * launch::element_size(output.dtype) : launch::bits_of_packed(output.format);
  const uint64_t element = byte * 8 / bits;
  const std::vector<uint64_t> shape =
      output.shape.empty() ? std::vector<uint64_t>{simulated.size() * 8 / bits} : output.shape;
  const size_t first = element * bits / 8, size = std::max<size_t>(bits / 8, 1);
  out.differs = {byte, launch::coordinates_text(shape, element), hex(simulated, first, size),
                 hex(device, first, size)};
  return out;
}

Unvouched unvouched(const std::vector<const isa::Program*>& programs, const std::string& captures) {
  const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& more) {
    for (const std::string& one : more)
      if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
  };
  Unvouched out;
  for (const isa::Program* p : programs) {
    add(out.instructions, capture::without_device_evidence(*p, captures));
    add(out.approximations, p->approximations);
    if (const std::string evidence(machine::arch(p->sm).evidence); evidence != "device")
      out.targets.emplace(p->target, evidence);
  }
  return out;
}

bool Beside::holds() const {
  return fault.empty() &&
         std::none_of(outputs.begin(), outputs.end(), [](const OutputBeside& o) { return o.differs; });
}

Beside run_beside(Device& device, launch::Launch before, const launch::LaunchFile& after,
                  const isa::Program& program, std::chrono::milliseconds limit, const std::string& captures) {
  Beside out{device.name(), device.driver(), "", {}, {}};
  launch::use_full_names(program, before);
  const std::vector<std::shared_ptr<const isa::Program>> of_steps = launch::load_steps(before);
  try {
    device.run_list(before, limit);
  } catch (const machine::Fault& fault) {
    out.fault = fault.what();
    return out;
  }
  for (const auto& [at, output] : after.outputs)
    out.outputs.push_back(output_beside(after.launch.buffers[at].name, after.launch.buffers[at].bytes,
                                        before.buffers[at].bytes, output));
  for (const auto& [at, output] : after.variable_outputs)
    out.outputs.push_back(output_beside(after.launch.variables[at].name, after.launch.variables[at].after,
                                        before.variables[at].after, output));
  std::vector<const isa::Program*> programs{&program};
  for (const auto& p : of_steps) programs.push_back(p.get());
  out.unvouched = unvouched(programs, captures);
  return out;
}

}  // namespace bitwell::device
