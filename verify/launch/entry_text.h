// What of a PTX file one entry needs.
#pragma once
#include <string>

namespace bitwell::verify {

struct EntryText {
  std::string ptx;    // each line where it stands in the file
  std::string entry;  // its whole name
};
// By what name_among takes; of "" the whole file. InputError names the file.
EntryText read_entry(const std::string& path, const std::string& entry);

}  // namespace bitwell::verify
