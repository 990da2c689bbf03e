// How often a GPU showed the catalogue's bugs: a table of CSV beside the catalogue, which `unlucky` writes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/bugs/catalogue/catalogue.h"

namespace bitwell::bugs {

// Launches without delays, or with them.
struct Counted {
  uint64_t launches = 0;
  uint64_t wrong = 0;  // that left bytes which the kernel without the bug never leaves
  bool hangs = false;  // in one of them, or
  bool faults =
      false;  // the GPU reported an error: these are the last launches, and are not among those above
};

struct DeviceCount {
  std::string kernel, bug;  // no bug: the clean kernel
  std::string expected;     // as what the checks find it
  Counted plain;
  Counted delayed;  // no launches where those without delays ended in a hang or a fault
  // Empty; "void", where the kernel without a bug went wrong, hung or faulted; "refused", by the driver.
  std::string not_counted;
  std::string device;  // "NVIDIA H200"
  std::string digest;  // of digest_of
};

// Whether the GPU showed it: wrong bytes, a hang, an error.
bool shows(const DeviceCount& count);

// Of what a device is given, without comments: the kernel's PTX and its launch.
std::string digest_of(const Exhibit& exhibit, const std::string& bug);

// The rows of a file. Throws InputError naming file and line for what is no such row.
std::vector<DeviceCount> read_device_counts(const std::string& path);
// The first line, which names the columns, and one row; both end in a newline.
std::string device_counts_header();
std::string line_of(const DeviceCount& count);

// Two columns of 8 characters, without delays and with them: launches with wrong bytes, "hangs", "faults";
// "-" where the kernel did not run, what not_counted says, or "stale" where its text is another by now.
std::string counted_columns(const std::vector<DeviceCount>& counts, const Exhibit& exhibit,
                            const std::string& bug);

// A table: of the bugs of each kind, how many showed in every launch, in a hang or an error, in some
// launches, only with delays, and never.
std::string summary_of(const std::vector<DeviceCount>& counts);

}  // namespace bitwell::bugs
