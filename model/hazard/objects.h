// Where the addresses of a module's instructions come from: the shared variables that they derive from,
// followed through registers, parameters and calls. An address that leaves its variable is a mistake though
// another variable begins there.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ptx/syntax.h"

namespace bitwell::hazard {

// A .shared variable: bytes of a CTA's shared memory; size 0: to its end.
struct Object {
  std::string name;
  uint64_t offset = 0, size = 0;
};

class Objects {
 public:
  // `places`: where the module's shared variables are; one of a name that is there twice is not followed.
  Objects(const ptx::Module& module, std::vector<Object> places);

  // The variable that every shared address which the instructions of a PTX line read or write through derives
  // from; nullptr: none, several, or it is not known.
  const Object* read_at(int line) const { return at(reads_, line); }
  const Object* written_at(int line) const { return at(writes_, line); }
  // Whether the line calls device code's malloc or free. Their acts are told as writes of all of an object.
  enum class Heap : uint8_t { none, malloc, free };
  Heap heap_at(int line) const {
    const auto i = static_cast<size_t>(line);
    return i < heap_.size() ? heap_[i] : Heap::none;
  }

 private:
  using ByLine = std::vector<std::optional<size_t>>;
  void find_heap_calls(const std::vector<ptx::Statement>& body);
  const Object* at(const ByLine& lines, int line) const {
    const auto i = static_cast<size_t>(line);
    return i < lines.size() && lines[i] ? &places_[*lines[i]] : nullptr;
  }

  std::vector<Object> places_;
  ByLine reads_, writes_;
  std::vector<Heap> heap_;
};

}  // namespace bitwell::hazard
