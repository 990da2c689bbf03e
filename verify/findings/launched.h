// Which launch a finding is of.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/hazard/finding.h"
#include "model/isa/form/program.h"
#include "model/machine/beside.h"
#include "model/run/launch.h"

namespace bitwell::findings {

// A launch, and where it stands in its list; it refers to the program.
struct Launched {
  const isa::Program& program;
  run::Shape shape;
  std::string ptx{};          // path, where the list has several
  size_t number = 1, of = 1;  // in the list, counted from 1 on; of 0: nobody knows of how many
  std::shared_ptr<const std::vector<machine::Named>> objects{};  // of global memory, by address; or nothing

  const std::string& entry() const { return program.functions[static_cast<size_t>(program.entry)].name; }
};

struct Between;

// A finding, and of which launches its two acts are: one, but for what overlaps. It refers to both.
struct Found {
  hazard::Finding finding;
  const Launched* earlier;
  const Launched* later;
  std::vector<size_t> numbers;       // of all launches in which the later act was found so
  const Between* between = nullptr;  // what stood between the two, where that was looked at
};

}  // namespace bitwell::findings
