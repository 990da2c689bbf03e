// Independent pieces of work on all cores.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace bitwell::suite {

// work(i) for every i below `count`, on `threads` host threads (0: all; never more than pieces, nor than the
// host gives). The first exception ends it and is thrown here; pieces not begun are then left out.
template <class Work>
void each_in_parallel(size_t count, int threads, Work work) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  {
    const unsigned all = threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
    std::vector<std::jthread> pool;
    try {
      for (size_t t = 1; t < std::min<size_t>(all, count); ++t) pool.emplace_back(loop);
    } catch (const std::system_error&) {  // no more threads: those that there are do the work
    }
    loop();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace bitwell::suite
