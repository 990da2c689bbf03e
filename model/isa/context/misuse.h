// What is wrong with how a context is used, and with what it was given to call.
#pragma once
#include <exception>
#include <stdexcept>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::isa {

// Nothing has happened, and the context goes on as it was.
struct Misuse : machine::InputError {
  enum class Kind {
    unknown_module,   // a handle that this context never gave
    unloaded_module,  // one that it gave, of a module that is there no more
    other_context,    // memory, a variable or a module of another context
    in_callback       // a call from inside what a launch calls: an observer, print, progress
  };
  Misuse(Kind kind_, const std::string& message) : machine::InputError(message), kind(kind_) {}
  Kind kind;
};

// What a launch called (an observer, print, progress) threw something that is none of machine/failure.h. The
// launch has ended there; memory is as far as it got.
struct CallbackError : std::runtime_error {
  explicit CallbackError(const std::string& message)
      : std::runtime_error(message), cause(std::current_exception()) {}
  std::exception_ptr cause;
};

}  // namespace bitwell::isa
