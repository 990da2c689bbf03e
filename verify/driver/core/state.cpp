#include "verify/driver/core/state.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/strict_json/write.h"
#include "verify/driver/names/not_supported.h"
#include "verify/launch/memory_watch.h"

namespace bitwell::driver {
namespace {

// A program's device memory is this process's: what it touches is counted, as a launch's is.
void watch_memory(State& s) {
  const uint64_t left = launch::memory_left();
  // As long as the process.
  static const launch::MemoryWatch* const watch = new launch::MemoryWatch(left, [&s, left](uint64_t touched) {
    const std::string words = launch::out_of_memory("the program", touched, left);
    say(words);
    s.tell(strict_json::dumped(nlohmann::json{{"stopped", words}}));
    _exit(kUnusable);
  });
  static_cast<void>(watch);
}

// Where launches are kept in front of a GPU, and bitwell is that GPU, it is asked for no more than a GPU is.
Asked asked_of_device() {
  const Asked all = asked_of_environment();
  if (all.driver.empty()) return all;
  Asked own;
  own.arch = all.arch;
  return own;
}

State* the_state = nullptr;
thread_local const char* called = nullptr;

}  // namespace

State::State()
    : asked(asked_of_device()),
      memory(process.context()),
      modules(process.context(), asked),
      launches(*this) {
  primary.primary = true;
}

State& state() {
  // Never destroyed: programs call CUDA from destructors of their own.
  static State* const one = [] {
    try {
      the_state = new State;
    } catch (const std::exception& e) {
      say(e.what());
      _exit(kUnusable);
    }
    watch_memory(*the_state);
    std::atexit([] {
      const std::unique_lock lock(the_state->mutex, std::try_to_lock);
      if (lock && !the_state->forked) the_state->launches.end();
    });
    pthread_atfork(nullptr, nullptr, [] {
      the_state->forked = the_state->initialised;
      new (&the_state->mutex) std::recursive_mutex;  // whoever held it
    });
    return the_state;
  }();
  return *one;
}

const DeviceRow& State::device() {
  if (device_ == nullptr)
    device_ = asked.arch.empty() ? &device_for(modules.newest()) : &device_row(asked.arch);
  return *device_;
}

std::vector<CudaContext*>& State::stack() const {
  // Those of the thread that ends the process outlive it, for destructors of the program's run behind a
  // thread's own.
  struct Own {
    std::vector<CudaContext*>*& at;
    ~Own() {
      if (getpid() != gettid()) delete std::exchange(at, nullptr);
    }
  };
  static thread_local std::vector<CudaContext*>* contexts = nullptr;
  static thread_local const Own own{contexts};
  if (contexts == nullptr) contexts = new std::vector<CudaContext*>;
  return *contexts;
}

CudaContext* State::current() const { return stack().empty() ? nullptr : stack().back(); }

CudaContext& State::need_current() const {
  CudaContext* const c = current();
  if (c == nullptr)
    throw Refused(CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context (cuCtxSetCurrent)");
  if (c->primary ? c->retained == 0 : !contexts_.contains(c))
    throw Refused(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the thread's context was destroyed");
  return *c;
}

CudaContext& State::context(const void* handle) {
  if (handle == &primary) return primary;
  const auto at = contexts_.find(handle);
  if (at == contexts_.end()) throw Refused(CUDA_ERROR_INVALID_CONTEXT, "this is no context of the process");
  return *at->second;
}

CudaContext& State::make_context(unsigned flags) {
  auto made = std::make_unique<CudaContext>();
  made->flags = flags;
  CudaContext* const key = made.get();
  return *(contexts_[key] = std::move(made));
}

void State::destroy_context(const void* handle) {
  if (handle == &primary)
    throw Refused(CUDA_ERROR_INVALID_CONTEXT, "the primary context is released, not destroyed");
  context(handle);
  if (current() == handle) stack().pop_back();
  release_all(handle);
  contexts_.erase(handle);
}

void State::release_all(const void* owner) {
  streams.release_all(owner);
  modules.release_all(owner);
  memory.release_all(owner);
}

void State::reset_primary() {
  release_all(&primary);
  modules.begin_anew();
  pool.clear();
  primary.limits.clear();
  primary.flags = 0;
  lost = unseen = CUDA_SUCCESS;
}

void State::tell(const std::string& line) {
  if (!asked.told.empty() && !append(asked.told, line + "\n")) _exit(kUnusable);
}

void State::missing(const std::string& what, int status) {
  if (!said_.insert(what).second) return;
  say("not supported: " + what);
  nlohmann::json told{{"missing", what}};
  if (status != 0) told["status"] = status;
  tell(strict_json::dumped(told));
}

void State::bug(const std::string& what) {
  say("a bug in bitwell: " + what);
  tell(strict_json::dumped(nlohmann::json{{"bug", what}}));
}

bool State::misses_textures() const {
  return std::any_of(said_.begin(), said_.end(), [](const std::string& what) {
    return what.find("Tex") != std::string::npos || what.find("Surf") != std::string::npos ||
           what.find("Array") != std::string::npos;
  });
}

Named::Named(const char* name) : outermost_(called == nullptr) {
  if (outermost_) called = name;
}
Named::~Named() {
  if (outermost_) called = nullptr;
}
std::string Named::of(const char* name) { return called == nullptr ? name : called; }

int not_supported(const char* name) {
  State& s = state();
  if (s.forked) return of_fork(name);
  const std::lock_guard lock(s.mutex);
  s.missing(name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult of_fork(const std::string& name) {
  say(name +
      ": the process was forked from one that had initialised CUDA, which does not work on a device either: "
      "start it anew (multiprocessing: the start method spawn)");
  return CUDA_ERROR_NOT_INITIALIZED;
}

}  // namespace bitwell::driver
