// The files that a command writes: none replaces what the command reads or another of them, and a command
// that fails or is stopped leaves what was there.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "verify/launch/output/output_target.h"
#include "verify/launch/output/partial_files.h"

namespace bitwell::launch {

class OutputFiles {
 public:
  OutputFiles();  // nothing may replace a file that the standard output or error goes to
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  // The command reads this file. Before plan().
  void reads(const std::string& path);
  // The command will write this file, which its user named by `what` ("--svg"). Nothing is written yet.
  // Throws InputError where that cannot be, or where it would replace a file that the command reads or
  // another that it writes.
  void plan(const std::string& path, const std::string& what);
  // What a planned file will hold: kept beside it under another name, so that a full disk is found here. What
  // is no file may be written to more than once.
  // Throws InputError.
  void write(const std::string& path, std::string_view text);
  // Everything written so far takes its place. Throws InputError.
  void commit();

 private:
  struct Planned {
    OutputTarget target;
    std::string text = {};     // for what is no file
    PartialFile partial = {};  // for a file: where its contents are
    bool written = false;
  };
  void write_beside(Planned& planned, std::string_view text);

  std::map<Identity, std::string> taken_;  // and what to call it in a refusal
  std::map<std::string, Planned> planned_;
};

// One file alone.
void replace_file(const std::string& path, const std::string& what, std::string_view text);

}  // namespace bitwell::launch
