// How long work takes on the GPU.
#pragma once
#include <functional>

#include "verify/device/driver.h"

namespace bitwell::device {

struct Timing {
  double median = 0, least = 0;  // microseconds of one repetition
};

// `enqueue` puts repetition i of `repetitions` into a stream; all are captured into one graph, so that no
// launch gaps count, and the graph is replayed `replays` times after one warm-up, events around each replay.
// To keep caches cold, repetitions take turns among inputs that together are several times the L2.
Timing time_on(const Device& device, const std::function<void(size_t i, void* stream)>& enqueue,
               size_t repetitions, size_t replays);

}  // namespace bitwell::device
