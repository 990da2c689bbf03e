// What a launch in a living memory begins with, kept while it runs: it becomes a LAUNCH.json when it is known
// that somebody wants to see the launch again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/isa/context/context.h"

namespace bitwell::launch {

// Of buffers of up to so many bytes what they point to is followed.
inline constexpr uint64_t kFollowed = uint64_t{1} << 20;
// Where the buffers start that arguments lead to, by rising address: words of theirs point into them, on any
// boundary of 4 bytes, or words of those that were found so.
std::vector<uint64_t> reached(machine::Memory& memory, const std::vector<isa::Argument>& arguments);

class Recording {
 public:
  // Copies the buffers that start at these addresses, with what was written of them, and the variables of the
  // module.
  Recording(isa::Context& context, const isa::KernelLaunch& launch, const std::vector<uint64_t>& buffers);

  // Makes a file of that name with these bytes; says what the launch file is to call it.
  using Keep = std::function<std::string(const std::string& name, std::span<const std::byte> bytes)>;
  // What the launch is to leave; no outputs: all buffers, of which bytes may stay unwritten.
  struct Leaves {
    std::vector<isa::Allocation> outputs{};
    bool all_written = false;  // of these outputs
  };
  // The text of the launch file. `ptx`: what it calls the module's file. Outputs go to the folder `out`
  // beside it, which has to be there.
  std::string text(const std::string& ptx, const Keep& keep, const Leaves& leaves) const;
  std::string text(const std::string& ptx, const Keep& keep) const { return text(ptx, keep, Leaves{}); }
  const std::string& ptx() const { return module_->text(); }
  // What the launch had and its file has not, a part of a sentence each. `memory`: in which it was.
  std::vector<std::string> lacks(machine::Memory& memory) const;

 private:
  struct Buffer {
    std::string name;
    uint64_t address, size;
    bool read_only;
    std::vector<std::byte> bytes;    // empty: none is written
    std::vector<std::byte> written;  // a mask of bits for each byte; empty: all, or none
    bool partly_written = false;     // need not be whole, nor what is stored there
  };
  struct Variable {
    std::string name, file;
    bool is_const;
    std::vector<std::byte> bytes;
  };
  void take(isa::Context& context, uint64_t address);
  void move_variables(isa::Context& context, isa::ModuleHandle module);

  std::shared_ptr<const isa::Module> module_;
  std::string entry_;
  run::Shape shape_;
  std::vector<std::vector<std::byte>> arguments_;
  std::vector<Buffer> buffers_;
  std::vector<Variable> variables_;
  uint64_t heap_ = 0;
  bool variables_moved_ = false;    // its module is not the first
  std::vector<std::string> lacks_;  // what is known from the beginning
};

}  // namespace bitwell::launch
