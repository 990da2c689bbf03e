// What was found in the words of compute-sanitizer, which tools parse.
#pragma once
#include <string>

#include "model/machine/failure.h"
#include "verify/driver/core/device_memory.h"
#include "verify/driver/core/refused.h"
#include "verify/session/findings.h"

namespace bitwell::driver {

// What kind of mistake a kernel's fault is to a device.
enum class FaultKind { other, assertion, misaligned, out_of_bounds };
FaultKind kind_of(const machine::Fault& fault);

// `kernel`: its name as it is written. Instructions have no place in machine code here: it is said as +0x0.
std::string sanitizer_fault(const machine::Fault& fault, const std::string& kernel,
                            const DeviceMemory& memory);
std::string sanitizer_finding(const session::Finding& finding, const std::string& kernel);
// `call`: the function's name.
std::string sanitizer_mistake(const std::string& call, const Mistake& mistake);
std::string sanitizer_text(const std::string& title, const std::string& text, const std::string& kernel);

}  // namespace bitwell::driver
