// One launch on a GPU many times over, and how often it leaves other bytes than it may.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "verify/device/driver.h"

namespace bitwell::device {

// What a launch may leave.
struct Legal {
  std::vector<std::vector<std::vector<std::byte>>> ends;  // each the bytes of every buffer; at least one
  std::vector<std::vector<std::byte>> compared;           // of every buffer: the bits that count
};

struct Repeated {
  uint64_t launches = 0;  // whose bytes were looked at
  uint64_t wrong = 0;     // of those: that left none of the ends
  std::string example;    // "byte 4 of 'out' is 0x07, not 0x2a" of one of them, held against the first end
  bool hangs = false;     // it ran into the limit: the process can only end
  std::string fault;      // the driver's words for what ended it; a hang has some too
};

// How many launches stand side by side, each on buffers of its own.
constexpr size_t kSideBySide = 32;

class Repeater {
 public:
  // Throws machine::Fault where the device takes nothing. The caller keeps the device.
  explicit Repeater(Device& device);

  // Launches it `launches` times, rounded up to whole graphs of them, and looks at every byte of every
  // buffer, and at 256 bytes behind each, which must stay. Before each launch its buffers are as `launch` has
  // them (all defined, none with pointers), and all shared memory holds words drawn at random. A hang or a
  // fault ends it; the device then takes nothing more. Throws InputError where the driver refuses the PTX.
  Repeated run(const std::string& ptx, const launch::Launch& launch, const Legal& legal, uint64_t launches);

 private:
  Device& device_;
  std::shared_ptr<Device::Module> between_;
};

}  // namespace bitwell::device
