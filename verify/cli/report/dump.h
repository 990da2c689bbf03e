// What `bitwell run --dump` says of what stood in a CTA's memory when a line of the kernel was reached.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/number/format.h"
#include "verify/launch/output/output_files.h"
#include "verify/session/dump.h"

namespace bitwell::cli {

struct DumpOptions : session::DumpOptions {
  std::string as = "hex";  // what text shows: bits, or numbers of this format
};

class Dumps {
 public:
  // Throws InputError for what no dump is, and for a line where `program`, the first of `launch`, has
  // nothing.
  Dumps(const DumpOptions& options, const isa::Program& program, const launch::Launch& launch);
  void plan(launch::OutputFiles& files) const;

  // To be handed to a question, where anything is wanted. Valid as long as this is.
  machine::Observer observer() { return taken_.observer(); }
  bool any() const { return !taken_.all().empty(); }

  // Those that were taken, for files that are planned: lanes by columns or bytes as .npy, else as text.
  void write(launch::OutputFiles& files) const;
  // Those that were taken, for a reader.
  std::string text() const;
  nlohmann::json facts() const;
  // What was wanted and never reached, one line each.
  std::vector<std::string> missing() const { return taken_.missing(); }

 private:
  std::string place(const session::Dump& d) const;
  std::string contents(const session::Dump& d) const;
  std::string listing(const session::Dump& d) const;
  static std::string npy(const session::Dump& d);

  const number::Format* format_;  // of what text shows; none: bits
  session::Dumps taken_;
  std::string of_;         // " of FILE", where others of the list have theirs; or empty
  std::string variables_;  // of shared memory, and where they are
};

}  // namespace bitwell::cli
