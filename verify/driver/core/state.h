// One process that calls CUDA: everything that its calls share.
#pragma once
#include <cuda.h>

#include <atomic>
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
#include "verify/driver/core/say.h"
#include "verify/driver/core/streams.h"
#include "verify/driver/device_row.h"
#include "verify/session/process.h"

namespace bitwell::driver {

// A CUcontext.
struct CudaContext {
  unsigned flags = 0;
  std::map<CUlimit, size_t> limits{};  // that were set
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
  std::atomic<bool> forked = false;  // the process is the child of one that was initialised
  CUresult lost = CUDA_SUCCESS;      // what ended the context: every later call gives it
  // Of a launch that could not be run, until the program has seen it: kernel<<<>>>() gives no result.
  CUresult unseen = CUDA_SUCCESS;
  CudaContext primary;
  std::map<int, uint64_t> pool;  // attributes of the memory pool that were set

  const DeviceRow& device();  // chosen when it is first asked for
  CudaContext* current() const;
  // The thread's, or Refused CUDA_ERROR_INVALID_CONTEXT.
  CudaContext& need_current() const;
  CudaContext& context(const void* handle);
  CudaContext& make_context(unsigned flags);
  void destroy_context(const void* handle);
  // The primary context ends, with all that is of it, and begins anew; who holds it goes on to.
  void reset_primary();
  std::vector<CudaContext*>& stack() const;  // the thread's, the current one the last
  uint64_t most_memory() { return device().size.memory; }

  // A line for the command that started the program, which would take a program whose launches it was not
  // told for one without: the process ends where that is not possible.
  void tell(const std::string& line);
  // Something that bitwell has not, by name: said once. `status`: what the command is to end with for it; 0:
  // that is the program's matter, which gets an error.
  void missing(const std::string& what, int status = 0);
  // Whether a texture, a surface or an array is among that.
  bool misses_textures() const;
  // The program's code, or a part of it.
  void cannot_run(const std::string& what) { missing(what, kUnsupported); }
  // A call that bitwell itself spoils: said, and the command ends with it.
  void bug(const std::string& what);

 private:
  const DeviceRow* device_ = nullptr;
  std::set<std::string> said_;
  std::map<const void*, std::unique_ptr<CudaContext>> contexts_;
  void release_all(const void* owner);
};

State& state();

// Why nothing works in a process that was forked; says it.
CUresult of_fork(const std::string& name);

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
  if (s.forked) return of_fork(Named::of(name));  // the lock may be held by a thread that is not there
  const std::lock_guard lock(s.mutex);
  try {
    f(s);
    return CUDA_SUCCESS;
  } catch (const NoCode& e) {
    if (*e.what() != 0) s.cannot_run(e.what());
    return e.code;
  } catch (const Mistake& e) {
    s.launches.mistake(Named::of(name), e);
    return e.code;
  } catch (const Refused& e) {
    if (*e.what() != 0) say(Named::of(name) + ": " + e.what());
    return e.code;
  } catch (const machine::Unsupported& e) {
    s.cannot_run(Named::of(name) + ": " + e.what());
    return CUDA_ERROR_NOT_SUPPORTED;
  } catch (const machine::InputError& e) {
    s.launches.mistake(Named::of(name), Mistake(CUDA_ERROR_INVALID_VALUE, e.what()));
    return CUDA_ERROR_INVALID_VALUE;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    s.bug(Named::of(name) + ": " + e.what());
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
