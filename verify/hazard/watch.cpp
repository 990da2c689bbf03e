#include "verify/hazard/watch.h"

namespace bitwell::verify {

machine::Observer Watch::observer() {
  machine::Observer out;
  out.tell = [this](const machine::Event& event) { to_.tell(event); };
  out.accesses = true;
  out.steps = false;
  return out;
}

void Watch::begin(const isa::Program& program, const isa::Shape& shape, bool programmatic) {
  end();
  before_ = programmatic ? std::move(checker_) : nullptr;
  program_ = &program;
  shape_ = shape;
  ++launches_;
  const isa::Shape full = isa::full_shape(program, shape);
  checker_.reset(new hazard::Checker(full.grid, full.cluster));
  if (before_ != nullptr) checker_->overlaps(*before_);
  to_ = checker_->observer();
}

void Watch::end() {
  if (checker_ == nullptr || !first_.what.empty()) return;
  for (const hazard::Finding& f : checker_->findings())
    if (hazard::row_of(f.kind).level == hazard::Level::error) {
      first_ = {describe(f, *program_, shape_), launches_ - 1};
      return;
    }
}

Watch::Error Watch::error() {
  end();
  return first_;
}

}  // namespace bitwell::verify
