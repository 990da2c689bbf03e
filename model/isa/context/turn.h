// One call of a context's at a time.
#pragma once
#include "model/isa/context/context.h"

namespace bitwell::isa {

// Of one call: nobody else's goes on meanwhile.
class Context::Turn {
 public:
  // `launches`: callbacks may call during it.
  Turn(const Context& context, const char* call, bool launches = false) : context_(context) {
    if (context.turn_ == std::this_thread::get_id())
      throw Misuse(Misuse::Kind::in_callback,
                   std::string(call) + " is called from inside a launch of the same context");
    lock_ = std::unique_lock(context.mutex_);
    if (launches) context.turn_ = std::this_thread::get_id();
  }
  ~Turn() { context_.turn_ = std::thread::id(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const Context& context_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace bitwell::isa
