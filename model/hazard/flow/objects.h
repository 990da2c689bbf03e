// Where the addresses of a program's instructions come from: the variables that they derive from, followed
// through registers, parameters and calls. An address that leaves its variable is a mistake though another
// variable begins there.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/isa/form/program.h"

namespace bitwell::hazard {

// A variable: bytes of a CTA's shared memory or of a thread's local memory, by offset; or of constant or
// global memory, by generic address. Size 0: to the end of shared memory.
struct Object {
  enum class Space : uint8_t { shared, local, constant, global };

  std::string name;
  uint64_t offset = 0, size = 0;
  Space space = Space::shared;
  std::vector<uint64_t> elsewhere{};  // other offsets: of a local variable, by who called its function

  bool holds(uint64_t at, uint64_t bytes) const;
  // Whatever is of its space, as the one array of dynamic shared memory does where no other variable is.
  bool holds_everything() const { return offset == 0 && size == 0; }
};
// The space of a generic address, and the address as offsets of objects there count.
struct ObjectPlace {
  Object::Space space;
  uint64_t at;
};
ObjectPlace object_place(uint64_t generic);

class LocalPointers;

class Objects {
 public:
  // `places`: where the program's variables are; one of a name that is there twice is not followed.
  Objects(const isa::Program& program, std::vector<Object> places);

  // The variable that every address which the instructions of a PTX line read or write through derives
  // from; nullptr: none, several, or it is not known.
  const Object* read_at(int line) const { return at(reads_, line); }
  const Object* written_at(int line) const { return at(writes_, line); }
  // How addresses of local variables go from thread to thread.
  const std::shared_ptr<const LocalPointers>& local_pointers() const { return local_pointers_; }
  const Object& object(size_t number) const { return places_[number]; }
  // Whether the line calls device code's malloc or free. Their acts are told as writes of all of an object.
  enum class Heap : uint8_t { none, malloc, free };
  Heap heap_at(int line) const {
    const auto i = static_cast<size_t>(line);
    return i < heap_.size() ? heap_[i] : Heap::none;
  }

  // Whether none of that is so of the line's accesses, whatever they reach.
  bool nothing_at(int line) const {
    const auto i = static_cast<size_t>(line);
    return i < nothing_.size() ? nothing_[i] != 0 : none_elsewhere_;
  }

 private:
  using ByLine = std::vector<std::optional<size_t>>;
  void find_heap_calls(const isa::Program& program);
  const Object* at(const ByLine& lines, int line) const {
    const auto i = static_cast<size_t>(line);
    return i < lines.size() && lines[i] ? &places_[*lines[i]] : nullptr;
  }

  std::vector<Object> places_;
  ByLine reads_, writes_;
  std::vector<Heap> heap_;
  std::vector<uint8_t> nothing_;
  bool none_elsewhere_ = false;  // of lines behind those
  std::shared_ptr<const LocalPointers> local_pointers_;
};

}  // namespace bitwell::hazard
