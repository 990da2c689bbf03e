// One launch as a value: what every subject (simulator, GPU) is given.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/isa/context/context.h"
#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map.h"
#include "model/machine/texture.h"
#include "model/ptx/parse.h"
#include "model/run/launch.h"

namespace bitwell::launch {

// An address or a tensor map inside bytes that a launch is given, known when its buffers are in memory.
struct Pointer {
  uint64_t at = 0;                                 // where in those bytes: 8 of them, or the 128 of a map
  size_t buffer = 0;                               // that it leads to
  uint64_t offset = 0;                             // bytes into that buffer
  std::optional<machine::TensorMap> tensor_map{};  // over the buffer; its address is the offset in it
  std::optional<machine::Texture> texture{};       // over the buffer's start: 8 bytes, the handle
};

struct Buffer {
  std::string name;
  std::vector<std::byte> bytes;
  bool defined = true;  // false: contents start unwritten
  bool read_only = false;
  bool output = false;  // compared and kept after the run
  uint64_t blank =
      0;  // bytes behind `bytes` that are 0, or unwritten, and cost nothing until they are touched
  uint64_t size() const { return bytes.size() + blank; }
  std::vector<Pointer> pointers{};  // that `bytes` hold
  // Where it must stand in the simulator: from machine::kBuffers on, defined. None: where there is room.
  std::optional<uint64_t> address{};
  bool partly_written = false;  // an output that need not be whole, nor is what is stored there
  bool all_written = true;      // an output of which no byte may stay unwritten
  // Where contents count as written: a mask of bits for each byte. Empty: everywhere.
  std::vector<std::byte> written{};
};

// A __device__ or __constant__ variable of the module.
struct Variable {
  std::string name;                                // or what name_among takes for it
  std::optional<std::vector<std::byte>> before{};  // written at its start before the launch; none: its own
  bool output = false;
  std::vector<std::byte> after{};  // all of it, of an output, after the launch
};

struct Argument {
  std::vector<std::byte> scalar;  // of any size, a structure's too; empty for a buffer
  size_t buffer = 0;
  // A tensor map over the buffer; its address is the offset in it.
  std::optional<machine::TensorMap> tensor_map{};
  std::vector<Pointer> pointers{};  // that `scalar` holds
};

// What follows a launch on the same buffers and modules: another launch, a copy between buffers, or a fill.
struct Step {
  std::string ptx, entry;  // of a launch; else empty
  // Of a launch that comes right behind another: it may start before that one ends (run::run_chain).
  bool programmatic = false;
  run::Shape shape;
  std::vector<Argument> arguments;
  struct Copy {
    size_t from, to;  // buffers
    uint64_t from_offset, to_offset, bytes;
  };
  std::optional<Copy> copy;
  struct Fill {
    size_t buffer;
    uint64_t offset, bytes;
    std::byte value;
  };
  std::optional<Fill> fill;
  std::shared_ptr<const isa::Module> module{};  // of a launch; nullptr: what stands in `ptx`
};

// What a GPU took for a launch, in microseconds between an event before it and one behind it, caches cold.
struct Measured {
  std::string device;                  // as its driver calls it
  double us = 0, least = 0, most = 0;  // the median, and between which
  double empty = 0;                    // of a kernel that does nothing, likewise
  uint64_t launches = 0;
};

struct Launch {
  std::string ptx;  // path
  std::string entry;
  run::Shape shape;
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
  std::vector<Variable> variables{};
  std::vector<Step> then{};                // in order, when it has ended
  std::optional<uint64_t> heap{};          // bytes of device code's malloc; none: CUDA's default
  std::optional<uint64_t> memory_limit{};  // bytes it may take in all; none: what the target's device has
  bool fmad = false;                       // products and sums as ptxas fuses them
  std::optional<Measured> measured{};      // once, on a GPU
  isa::Approximate approximate = isa::Approximate::h200;
  std::shared_ptr<const isa::Module> module{};  // nullptr: what stands in `ptx`

  template <class T>
  void add_scalar(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    arguments.push_back({{bytes, bytes + sizeof value}, 0});
  }
  size_t add_buffer(Buffer buffer) {
    buffers.push_back(std::move(buffer));
    arguments.push_back({{}, buffers.size() - 1});
    return buffers.size() - 1;
  }
  // A buffer that only tensor maps lead to.
  size_t add_hidden_buffer(Buffer buffer) {
    buffers.push_back(std::move(buffer));
    return buffers.size() - 1;
  }
  void add_tensor_map(size_t buffer, const machine::TensorMap& map) {
    arguments.push_back({{}, buffer, map});
  }
};

constexpr uint64_t kMostText = uint64_t{1} << 28;    // bytes of a file that is parsed
constexpr uint64_t kMostBuffer = uint64_t{1} << 37;  // bytes of a buffer: nearly what an H200 holds

// The bytes of a file; of a pipe or a device, whose size nobody knows before, at most kMostText. Throws
// InputError naming it: not there, no permission, more than `most` bytes.
std::string read_file(const std::string& path, uint64_t most = kMostText);
using isa::naming;
// The PTX in a file; of several texts in it the one with that entry. InputError where it is none, naming the
// file.
std::shared_ptr<const isa::Module> load_module(const std::string& path, const std::string& entry = "");
// The program of a launch, as a memory's first module; its entry is given by what name_among takes.
// InputError and Unsupported name the file.
std::shared_ptr<const isa::Program> program_of(const Launch& launch);

class Placed;

// What a launch, and what follows it, came to; the memory that it left stays as long as this.
class Ran {
 public:
  Ran(std::unique_ptr<isa::Context> context, std::unique_ptr<Placed> placed, isa::ModuleHandle module);
  Ran(Ran&&) noexcept;
  ~Ran();

  run::RunResult result;
  // All that a buffer holds, or so many of its bytes, and a variable, by their numbers in the launch that was
  // run.
  std::vector<std::byte> buffer(const Launch& launch, size_t number, uint64_t most = UINT64_MAX) const;
  std::vector<std::byte> variable(const Launch& launch, size_t number) const;
  // The first byte of a buffer that is another in `other`, which is of the same Start; one byte of it. What
  // neither of them has written is not looked at.
  std::optional<uint64_t> difference(const Ran& other, size_t number) const;
  std::byte byte(size_t number, uint64_t at) const;
  // The memory that it left.
  machine::Memory& memory() const { return context_->memory(); }
  // Makes the launch's buffers what memory has, outputs all of it (blank ones are blank no more), and what
  // its variables hold.
  void keep(Launch& launch) const;
  const Placed& placed() const { return *placed_; }

 private:
  std::unique_ptr<isa::Context> context_;
  std::unique_ptr<Placed> placed_;
  isa::ModuleHandle module_;
};

// Told before each launch begins: its program, its step (nullptr: it is the first), and the memory that it
// begins with, where that is known.
using Beginning = std::function<void(const std::shared_ptr<const isa::Program>& program, const Step* step,
                                     const machine::Memory* memory)>;

// Runs the launch, and what follows it, on the simulator, in a context of its own. Throws as run::run,
// program_of and check_memory do, and Fault when an output has bytes that were never written and
// `all_written` asks for them. With `beginning`, no two launches are in flight together: a programmatic one
// begins when the one before has ended.
Ran simulate(const Launch& launch, const run::Options& options, bool all_written,
             const Beginning& beginning = nullptr);
// A launch and those that follow it; copies and fills are none.
size_t count_launches(const Launch& launch);

}  // namespace bitwell::launch
