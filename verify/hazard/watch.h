// The race check over launches that follow one another: each is behind all before it, as on a stream.
#pragma once
#include <memory>
#include <string>

#include "verify/hazard/report.h"

namespace bitwell::verify {

class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // To be told of the events of all launches; valid as long as this.
  machine::Observer observer();
  // To be called before each launch; `program` stays. A programmatic one may begin while the launch before it
  // runs: until griddepcontrol.wait nothing orders the two.
  void begin(const isa::Program& program, const isa::Shape& shape, bool programmatic = false);
  // To be called behind that: as the checker's.
  void follow(const hazard::Objects& objects) { checker_->follow(objects); }
  // The first error of the launches so far, in words, and which launch it was of, counted from 0; empty:
  // none.
  struct Error {
    std::string what;
    size_t launch = 0;
  };
  Error error();

 private:
  void end();
  std::unique_ptr<hazard::Checker> checker_, before_;  // of this launch, and of the one that it overlaps
  machine::Observer to_;
  const isa::Program* program_ = nullptr;
  isa::Shape shape_;
  size_t launches_ = 0;
  Error first_;
};

}  // namespace bitwell::verify
