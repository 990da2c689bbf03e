// What stood in a CTA's memory when a line of the kernel was reached: `bitwell run --dump`.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/number/format.h"
#include "model/run/launch.h"
#include "verify/launch/launch.h"
#include "verify/launch/output/output_files.h"

namespace bitwell::cli {

struct DumpOptions {
  std::vector<std::string> wanted;  // tmem@187, shared@tile.cu:60=stage.npy
  std::string cta;                  // "1,0,0"; empty: the first that comes there
  uint64_t visit = 1;               // of a warp of that CTA, from 1
  std::string as = "hex";           // what text shows: bits, or numbers of this format
};

class Dumps {
 public:
  // Throws InputError for what no dump is, and for a line where `program`, the first of `launch`, has
  // nothing.
  Dumps(const DumpOptions& options, const isa::Program& program, const verify::Launch& launch);
  void plan(verify::OutputFiles& files) const;

  // To be handed to isa::Options, where anything is wanted. Valid as long as this is.
  machine::Observer observer();
  bool any() const { return !dumps_.empty(); }

  // Those that were taken, for files that are planned: lanes by columns or bytes as .npy, else as text.
  void write(verify::OutputFiles& files) const;
  // Those that were taken, for a reader.
  std::string text() const;
  nlohmann::json facts() const;
  // What was wanted and never reached, one line each.
  std::vector<std::string> missing() const;

 private:
  struct Dump {
    std::string wanted;
    bool tensor = false;
    std::map<int, std::string> lines;  // of the PTX, each with its instruction
    std::string path;                  // empty: shown
    std::optional<std::array<uint32_t, 3>> cta;
    uint64_t visits = 0;  // so far
    bool taken = false;
    // As taken. Tensor memory: [lane][column], shared memory: bytes; kUnwritten and kUnallocated too.
    machine::Reached at{};
    std::string instruction, source;  // of it
    std::vector<int64_t> cells{};
  };
  void reached(const machine::Reached& at);
  std::string place(const Dump& d) const;
  std::string contents(const Dump& d) const;
  std::string listing(const Dump& d) const;
  static std::string npy(const Dump& d);

  std::vector<Dump> dumps_;
  std::string of_;  // " of FILE", the first launch's PTX, where others of the list have theirs; or empty
  uint64_t visit_;
  const number::Format* format_ = nullptr;  // of what text shows; none: bits
  std::string variables_;                   // of shared memory, and where they are
};

}  // namespace bitwell::cli
