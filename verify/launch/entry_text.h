// What of a PTX file one entry needs.
#pragma once
#include <string>

namespace bitwell::verify {

// The text of a PTX file. InputError where it is something else that nvcc makes or takes: what it is, and how
// its PTX is had.
std::string read_ptx(const std::string& path);

struct EntryText {
  std::string ptx;    // each line where it stands in the file
  std::string entry;  // its whole name
};
// By what name_among takes; of "" the whole file. InputError names the file.
EntryText read_entry(const std::string& path, const std::string& entry);

}  // namespace bitwell::verify
