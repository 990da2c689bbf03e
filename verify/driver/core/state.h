// One process that calls CUDA: everything that its calls share.
#pragma once
#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verify/driver/core/asked.h"
#include "verify/driver/core/device_memory.h"
#include "verify/driver/core/launches.h"
#include "verify/driver/core/modules.h"
#include "verify/driver/core/refused.h"
#include "verify/driver/core/streams.h"
#include "verify/driver/device_row.h"
#include "verify/session/process.h"

namespace bitwell::driver {

// A CUcontext.
struct CudaContext {
  unsigned flags = 0;
  bool primary = false;
  int retained = 0;  // of the primary one
};

struct State {
  State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::recursive_mutex
      mutex;  // a host function that a stream calls may ask CUDA for things that wait for nothing
  Asked asked;
  session::Process process;
  DeviceMemory memory;
  Modules modules;
  Streams streams;
  Launches launches;
  bool initialised = false;
  bool forked = false;           // the process is the child of one that was initialised
  CUresult lost = CUDA_SUCCESS;  // what ended the context: every later call gives it
  CudaContext primary;

  const DeviceRow& device();  // chosen when it is first asked for
  CudaContext* current() const;
  // The thread's, or Refused CUDA_ERROR_INVALID_CONTEXT.
  CudaContext& need_current() const;
  CudaContext& context(const void* handle);
  CudaContext& make_context(unsigned flags);
  void destroy_context(const void* handle);
  std::vector<CudaContext*>& stack() const;  // the thread's, the current one the last
  uint64_t most_memory() { return device().arch().device.memory; }

  // A line for the command that started the program.
  void tell(const std::string& line);
  // Something that bitwell has not, by name: said once.
  void missing(const std::string& what);

 private:
  const DeviceRow* device_ = nullptr;
  std::set<std::string> said_;
  std::map<const void*, std::unique_ptr<CudaContext>> contexts_;
};

State& state();

// A line to stderr, for the user.
void say(const std::string& text);

// While one of these lives, the thread's calls go by the name of the outermost.
class Named {
 public:
  explicit Named(const char* name);
  ~Named();
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
  static std::string of(const char* name);  // what a call of this name is called

 private:
  bool outermost_;
};

// `f(State&)`, with what it throws as an error, said in one line. Nothing else goes on meanwhile.
template <class F>
CUresult guarded(const char* name, F f) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  try {
    if (s.forked)
      throw Refused(
          CUDA_ERROR_NOT_INITIALIZED,
          "the process was forked from one that had initialised CUDA, which does not work on a device "
          "either: start it anew (multiprocessing: the start method spawn)");
    f(s);
    return CUDA_SUCCESS;
  } catch (const Refused& e) {
    if (*e.what() != 0) say(Named::of(name) + ": " + e.what());
    return e.code;
  } catch (const machine::Unsupported& e) {
    say(std::string(name) + ": unsupported: " + e.what());
    return CUDA_ERROR_NOT_SUPPORTED;
  } catch (const machine::InputError& e) {
    say(Named::of(name) + ": " + e.what());
    return CUDA_ERROR_INVALID_VALUE;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    say(std::string(name) + ": a bug in bitwell: " + e.what());
    return CUDA_ERROR_UNKNOWN;
  }
}

// What a call of the driver's needs before it.
enum class Need { nothing, init, context };

template <Need need = Need::context, class F>
CUresult driver_call(const char* name, F f) noexcept {
  return guarded(name, [&](State& s) {
    if (need != Need::nothing && !s.initialised) throw Refused(CUDA_ERROR_NOT_INITIALIZED);
    if (need == Need::context) {
      if (s.lost != CUDA_SUCCESS) throw Refused(s.lost);
      s.need_current();
    }
    f(s);
  });
}

template <class T>
T& present(T* pointer) {
  if (pointer == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
  return *pointer;
}

}  // namespace bitwell::driver
