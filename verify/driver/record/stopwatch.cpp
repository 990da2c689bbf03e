#include "verify/driver/record/stopwatch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "verify/driver/record/real.h"
#include "verify/driver/record/said.h"

namespace bitwell::driver {
namespace {

// What does nothing, and what reads bytes until no cache has others: none of its lines must be written back
// while what comes next is timed.
constexpr const char* kKernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing()
{
ret;
}
.visible .entry evict(.param .u64 bytes_from, .param .u64 bytes_end, .param .u64 sum_at)
{
.reg .b32 %id, %of, %step, %sum, %a, %b, %c, %d;
.reg .b64 %at, %end, %far, %sum_at;
.reg .pred %p;
ld.param.u64 %at, [bytes_from];
ld.param.u64 %end, [bytes_end];
ld.param.u64 %sum_at, [sum_at];
mov.u32 %id, %ctaid.x;
mov.u32 %of, %ntid.x;
mov.u32 %a, %tid.x;
mad.lo.u32 %id, %id, %of, %a;
mul.wide.u32 %far, %id, 16;
add.u64 %at, %at, %far;
mov.u32 %step, %nctaid.x;
mul.lo.u32 %step, %step, %of;
mul.wide.u32 %far, %step, 16;
mov.u32 %sum, 0;
next:
setp.ge.u64 %p, %at, %end;
@%p bra done;
ld.global.v4.u32 {%a, %b, %c, %d}, [%at];
xor.b32 %sum, %sum, %a;
xor.b32 %sum, %sum, %b;
xor.b32 %sum, %sum, %c;
xor.b32 %sum, %sum, %d;
add.u64 %at, %at, %far;
bra next;
done:
setp.eq.u32 %p, %sum, 0x5eed;
@%p st.global.u32 [%sum_at], %sum;
ret;
}
)";

constexpr size_t kFirst = 2;  // that are not counted: code comes, the clock rises
constexpr size_t kTimed = 9;
constexpr size_t kLeast = 3;                       // of those, however long they take
constexpr std::chrono::milliseconds kLimit{1000};  // after which no more are begun

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

}  // namespace

Stopwatch::Tools& Stopwatch::tools() {
  CUcontext context = nullptr;
  need(REAL(cuCtxGetCurrent)(&context), "cuCtxGetCurrent");
  Tools& out = tools_[context];
  if (out.empty_us != 0) return out;
  CUdevice device = 0;
  int l2 = 0, multiprocessors = 0;
  need(REAL(cuCtxGetDevice)(&device), "cuCtxGetDevice");
  need(REAL(cuDeviceGetAttribute)(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device), "the size of L2");
  need(REAL(cuDeviceGetAttribute)(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
       "the number of multiprocessors");
  out.multiprocessors = static_cast<unsigned>(multiprocessors);
  constexpr size_t kTimesL2 = 3, kWord = 4;
  out.other_bytes = kTimesL2 * static_cast<size_t>(l2);
  need(REAL(cuModuleLoadData)(&out.module, kKernels), "the kernels between launches that are timed");
  need(REAL(cuModuleGetFunction)(&out.nothing, out.module, "nothing"), "the kernel that does nothing");
  need(REAL(cuModuleGetFunction)(&out.evict, out.module, "evict"), "the kernel that fills caches");
  need(REAL(cuMemAlloc)(&out.other, out.other_bytes), "memory that fills caches");
  need(REAL(cuMemsetD8)(out.other, 0, out.other_bytes), "memory that fills caches");
  need(REAL(cuMemAlloc)(&out.sum, kWord), "a word");
  need(REAL(cuStreamCreate)(&out.stream, CU_STREAM_NON_BLOCKING), "a stream");
  need(REAL(cuEventCreate)(&out.start, CU_EVENT_DEFAULT), "an event");
  need(REAL(cuEventCreate)(&out.stop, CU_EVENT_DEFAULT), "an event");
  need(REAL(cuCtxSynchronize)(), "memory that fills caches");
  const Launch nothing = [&](CUstream to) {
    return REAL(cuLaunchKernel)(out.nothing, out.multiprocessors, 1, 1, 32, 1, 1, 0, to, nullptr, nullptr);
  };
  out.empty_us = median(timed(out, nothing, [] {}));
  return out;
}

// Microseconds, ascending.
std::vector<double> Stopwatch::timed(Tools& with, const Launch& launch,
                                     const std::function<void()>& restore) {
  CUdeviceptr end = with.other + with.other_bytes;
  std::array<void*, 3> parameters{&with.other, &end, &with.sum};
  constexpr unsigned kThreads = 1024, kCtasOfOne = 2;
  const auto stop_at = std::chrono::steady_clock::now() + kLimit;
  std::vector<double> out;
  for (size_t i = 0; i < kFirst + kTimed; ++i) {
    if (out.size() >= kLeast && std::chrono::steady_clock::now() > stop_at) break;
    restore();
    need(REAL(cuLaunchKernel)(with.evict, kCtasOfOne * with.multiprocessors, 1, 1, kThreads, 1, 1, 0,
                              with.stream, parameters.data(), nullptr),
         "filling caches");
    need(REAL(cuEventRecord)(with.start, with.stream), "an event before it");
    need(launch(with.stream), "a launch to be timed");
    need(REAL(cuEventRecord)(with.stop, with.stream), "an event behind it");
    need(REAL(cuStreamSynchronize)(with.stream), "a launch that is timed");
    float ms = 0;
    need(REAL(cuEventElapsedTime)(&ms, with.start, with.stop), "the time between two events");
    if (i >= kFirst) out.push_back(1000.0 * static_cast<double>(ms));
  }
  std::sort(out.begin(), out.end());
  return out;
}

nlohmann::ordered_json Stopwatch::measure(const Launch& launch, const std::function<void()>& restore) {
  Tools& with = tools();
  const std::vector<double> took = timed(with, launch, restore);
  CUdevice device = 0;
  std::array<char, 256> name{};
  need(REAL(cuCtxGetDevice)(&device), "cuCtxGetDevice");
  need(REAL(cuDeviceGetName)(name.data(), static_cast<int>(name.size()), device), "the device's name");
  const auto to_nanoseconds = [](double us) { return std::round(us * 1000) / 1000; };
  return {{"device", name.data()},
          {"us", to_nanoseconds(median(took))},
          {"least_us", to_nanoseconds(took.front())},
          {"most_us", to_nanoseconds(took.back())},
          {"empty_us", to_nanoseconds(with.empty_us)},
          {"launches", took.size()}};
}

}  // namespace bitwell::driver
