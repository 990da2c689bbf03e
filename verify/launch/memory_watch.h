// What this machine has left for a process, and a guard that ends one before it has taken all of it: zero and
// unwritten memory costs nothing until a kernel touches it, and nobody knows before how much that will be.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace bitwell::launch {

// Bytes that this process may still touch: what the machine has available, its control group allows and its
// limit on resident memory (`ulimit -m`) leaves; UINT64_MAX where none is known. `root`: of the file system
// whose proc and sys say so.
uint64_t memory_left(const std::string& root = "/");

// Looks, from a thread of its own, how much the process has touched: nothing that runs pays for it.
class MemoryWatch {
 public:
  // `over` is told once, on that thread, when all but a reserve of `left` bytes has been touched.
  MemoryWatch(uint64_t left, std::function<void(uint64_t touched)> over);

 private:
  std::jthread thread_;
};

// The line with which `what` ("the launch") ends then.
std::string out_of_memory(const std::string& what, uint64_t touched, uint64_t left);

}  // namespace bitwell::launch
