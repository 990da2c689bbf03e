// What GPUs returned: digests recorded by a device run, read by everything else.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bitwell::capture {

struct Capture {
  std::string device;  // "NVIDIA H200"
  std::string driver;
  std::string toolkit;
  std::map<std::string, std::string> digests;  // by subject
};

// The capture in `path`, or nothing if there is no such file. Throws InputError for one that cannot be read.
std::optional<Capture> read_capture(const std::string& path);
// Those in a folder, by name of file; none where there is no such folder.
std::vector<Capture> read_captures(const std::string& folder);
void write_capture(const std::string& path, const Capture& capture);

// The names in unrecorded.txt of a folder of captures: what no GPU has recorded, and the manual alone says.
std::set<std::string> unrecorded(const std::string& captures);

// Folders of the installation, relative to the executable: share/bitwell/<name>. For programs: what libraries
// read of them is given.
std::string share_folder(const std::string& name);

}  // namespace bitwell::capture
