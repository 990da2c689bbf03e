// What outlives launches, as a process sees it that lives on: memory, modules, textures, the heap of device
// code. Handles lead to all of it, and one that leads nowhere is refused by name.
//
//   Context context;
//   const ModuleHandle m = context.load(text, {.path = "scale.ptx"});
//   const Allocation x = context.allocate("x", 400);
//   const Outcome out = context.launch(m, "scale", shape, {argument(x), argument(100)});
#pragma once
#include <atomic>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "model/isa/compile/module.h"
#include "model/isa/context/misuse.h"
#include "model/machine/memory/snapshot.h"
#include "model/run/launch.h"

namespace bitwell::isa {

// A module of one context. Of none, as long as nothing is assigned.
struct ModuleHandle {
  uint64_t context = 0, number = 0;
  bool operator==(const ModuleHandle&) const = default;
};

// Bytes of one context's memory: a buffer, or a variable of a module.
struct Allocation {
  uint64_t address = 0, bytes = 0;
  uint64_t context = 0;
};

// What one parameter of an entry is given.
struct Argument {
  std::vector<std::byte> bytes;
  uint64_t context = 0;  // whose memory it points into; 0: nobody says
};
template <class T>
Argument argument(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  if constexpr (std::is_same_v<T, Allocation>) {
    Argument out = argument(value.address);
    out.context = value.context;
    return out;
  } else {
    Argument out{std::vector<std::byte>(sizeof value), 0};
    std::memcpy(out.bytes.data(), &value, sizeof value);
    return out;
  }
}

struct LoadOptions {
  std::string path{};  // of the file that the text stands in, for what is said of it
  Approximate approximate = Approximate::h200;
};

struct ContextOptions {
  std::optional<uint64_t> heap{};  // bytes of device code's malloc; none: CUDA's default
};

// What a launch came to, beside what stands in memory.
using Outcome = run::RunResult;

// One launch of a context, which may be in flight with others.
struct KernelLaunch {
  ModuleHandle module;
  std::string entry;
  run::Shape shape{};
  std::vector<Argument> arguments{};
  std::shared_ptr<const Program> program{};  // in the entry's place, of the module's place; nullptr: none
};

// Any number of threads may call it, one after the other has its turn: a launch holds all others up. From
// inside what a launch calls, only read() may be called. Whatever is thrown, it stays usable.
class Context {
 public:
  class Snapshot;
  explicit Context(const ContextOptions& options = {});
  // One that begins as another was: handles and allocations of that one, and of those that it began as, lead
  // to the same here. They share the memory that neither writes.
  explicit Context(const Snapshot& snapshot);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Places the variables of a module in memory, with their first values; entries are compiled when they are
  // first asked for. A text that was loaded before is not read again. Of a text that is loaded when its
  // module was unloaded, the variables stand where they stood. Throws InputError and Unsupported.
  ModuleHandle load(const std::string& text, const LoadOptions& options = {});
  ModuleHandle load(std::shared_ptr<const isa::Module> module, Approximate approximate = Approximate::h200);
  // The variables are freed; the handle is one of no module from now on.
  void unload(ModuleHandle module);
  // What was loaded; a program of it, as launch() takes it, compiled if it is not yet.
  std::shared_ptr<const isa::Module> module(ModuleHandle module) const;
  std::shared_ptr<const Program> program(ModuleHandle module, const std::string& entry) const;
  // Its .global and .const variables, where they stand; one of them, to be read and written as memory is.
  // Throws InputError where there is none of that name.
  const std::vector<GlobalVariable>& variables(ModuleHandle module) const;
  machine::ModulePlace place(ModuleHandle module) const;
  Allocation variable(ModuleHandle module, const std::string& name) const;

  // As machine::Memory has them.
  Allocation allocate(const std::string& name, uint64_t bytes);
  // `written`: whether the bytes count as written already.
  Allocation adopt(const std::string& name, void* host, uint64_t bytes, bool written = true);
  void mark(uint64_t address, uint64_t bytes, bool written);
  void free(const Allocation& buffer);
  void write(const Allocation& to, std::span<const std::byte> bytes, uint64_t offset = 0);
  void read(const Allocation& from, std::span<std::byte> bytes, uint64_t offset = 0) const;
  uint64_t add_texture(const machine::Texture& texture);
  void remove_texture(uint64_t handle);
  // All that is in it: memory, modules with their variables, textures, the heap. It costs what
  // machine::Memory::snapshot does.
  Snapshot snapshot();
  // For who sets memory up for a launch, or looks at it afterwards; no lock holds others up.
  machine::Memory& memory() { return memory_; }

  // Runs the launch to its end. Throws as run::run does, Misuse, and CallbackError; what a chooser throws
  // passes.
  Outcome launch(ModuleHandle module, const std::string& entry, const run::Shape& shape,
                 const std::vector<Argument>& arguments, const run::Options& options = {});
  // Launches of a stream that are in flight together, as run::run_chain has them.
  std::vector<Outcome> launch(std::span<const KernelLaunch> launches, const run::Options& options = {});

 private:
  // Where a module's variables can stand.
  struct Place {
    machine::ModulePlace at;
    std::vector<GlobalVariable> variables;  // there
    bool has_constants = false;
  };
  struct Loaded {
    std::shared_ptr<const isa::Module> module;
    Approximate approximate;
    std::shared_ptr<const Place> place;
    machine::Region constants;
    std::map<std::string, std::shared_ptr<const Program>> programs{};  // that were asked for, by entry
  };
  // What is kept of a module that is loaded, or was of late.
  struct Known {
    std::shared_ptr<const isa::Module> module;
    size_t hash = 0;                                   // of its text, where it came as one
    size_t loaded = 0;                                 // how often it is
    std::vector<std::shared_ptr<const Place>> places;  // where it stood, and nothing stands now
    std::list<const isa::Module*>::iterator idle{};    // where it is not loaded
  };
  class Turn;
  Loaded& find(ModuleHandle module) const;
  static const std::shared_ptr<const Program>& program(Loaded& of, const std::string& entry);
  void check_owner(uint64_t context, const std::string& what) const;
  machine::Region* constants_at(uint64_t address, uint64_t bytes) const;
  ModuleHandle load(Known& known, Approximate approximate);
  bool is_own(uint64_t context) const;
  std::shared_ptr<const Place> next_place(const isa::Module& module);
  machine::Region put(const Place& place);
  void forget(const isa::Module* module);

  // Of a context that this one began as: its number, and the last module that it had then.
  struct Origin {
    uint64_t context, last;
  };

  static uint64_t next_number();
  const uint64_t number_;  // among all contexts of the process
  std::vector<Origin> origins_;
  mutable std::mutex mutex_;
  mutable std::atomic<std::thread::id> turn_{};  // who runs a launch
  machine::Memory memory_;
  std::unordered_map<uint64_t, std::unique_ptr<Loaded>> loaded_;  // by number of the handle
  std::map<uint64_t, machine::Region*> constants_;                // of these, where they have any, by address
  uint64_t last_ = 0;
  std::unordered_map<const isa::Module*, Known> known_;
  std::unordered_multimap<size_t, const isa::Module*> texts_;  // of those that came as texts, by hash
  std::list<const isa::Module*> idle_;                         // known and not loaded, the oldest first
  std::vector<uint64_t> free_constants_;                       // places of modules that are forgotten
};

// A value that does not change and outlives the context; any number of threads may begin contexts as it.
class Context::Snapshot {
 private:
  friend class Context;
  struct Module {
    uint64_t number;
    std::shared_ptr<const isa::Module> module;
    Approximate approximate;
    std::shared_ptr<const Place> place;
    machine::Region::Saved constants;
    std::map<std::string, std::shared_ptr<const Program>> programs;
  };
  struct Text {
    std::shared_ptr<const isa::Module> module;
    std::vector<std::shared_ptr<const Place>> places;
    size_t hash = 0, loaded = 0;
    bool is_text = false;  // that load() finds by its hash
  };
  machine::Snapshot memory_;
  std::vector<Origin> origins_;  // the context itself the last
  std::vector<Module> modules_;
  std::vector<Text> known_;  // those that are not loaded the last, and of them the oldest first
  std::vector<uint64_t> free_constants_;
};

}  // namespace bitwell::isa
