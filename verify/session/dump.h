// What stood in a CTA's memory when a line of the kernel was reached.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/layout/tensor_memory.h"
#include "verify/launch/launch.h"

namespace bitwell::session {

struct DumpOptions {
  std::vector<std::string> wanted;  // tmem@187, shared@tile.cu:60=stage.npy
  std::string cta;                  // "1,0,0"; empty: the first that comes there
  uint64_t visit = 1;               // of a warp of that CTA, from 1
};

struct Dump {
  static constexpr int64_t kUnwritten = -1, kUnallocated = -2;  // cells that hold nothing
  static constexpr auto kColumns = static_cast<size_t>(layout::kTensorColumns);

  std::string wanted;  // without the file
  bool tensor = false;
  std::map<int, std::string> lines;  // of the PTX, each with its instruction
  std::string path;                  // of the file, or empty
  std::optional<std::array<uint32_t, 3>> cta;
  uint64_t visits = 0;  // so far
  bool taken = false;
  // As taken. Tensor memory: words, [lane][column]; shared memory: bytes.
  machine::Reached at{};
  std::string instruction, source;  // of it
  std::vector<int64_t> cells{};
};

class Dumps {
 public:
  // Throws InputError for what no dump is, and for a line where `program`, the first of `launch`, has
  // nothing.
  Dumps(const DumpOptions& options, const isa::Program& program, const launch::Launch& launch);

  // To be handed to run::Options, where anything is wanted. Valid as long as this is.
  machine::Observer observer();
  const std::vector<Dump>& all() const { return dumps_; }
  uint64_t visit() const { return visit_; }
  // The first launch's PTX, where others of the list have theirs; or empty.
  const std::string& of() const { return of_; }
  // Of shared memory.
  struct Variable {
    std::string name;
    uint64_t offset, size;  // bytes; 0: dynamic
  };
  const std::vector<Variable>& variables() const { return variables_; }
  // What was wanted and never reached, one line each.
  std::vector<std::string> missing() const;

 private:
  void reached(const machine::Reached& at);

  std::vector<Dump> dumps_;
  std::string of_;
  uint64_t visit_;
  std::vector<Variable> variables_;
};

}  // namespace bitwell::session
