#include "verify/device/timing.h"

#include <algorithm>
#include <vector>

#include "verify/device/impl.h"

namespace bitwell::device {

Timing time_on(const Device& device, const std::function<void(size_t i, void* stream)>& enqueue,
               size_t repetitions, size_t replays) {
  const Device::Impl& d = device.impl();
  d.check(d.api.set_current(d.context), "cuCtxSetCurrent");
  CUstream stream = nullptr;
  d.check(d.api.stream_create(&stream, CU_STREAM_NON_BLOCKING), "creating a stream");
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUevent start = nullptr;
  CUevent stop = nullptr;
  const auto release = [&] {
    if (start != nullptr) d.api.event_destroy(start);
    if (stop != nullptr) d.api.event_destroy(stop);
    if (exec != nullptr) d.api.graph_exec_destroy(exec);
    if (graph != nullptr) d.api.graph_destroy(graph);
    d.api.stream_destroy(stream);
  };
  try {
    enqueue(0, stream);  // whatever is set up at a first launch stays out of the graph
    d.check(d.api.stream_synchronize(stream), "running the work to be timed");
    d.check(d.api.begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capturing a graph");
    for (size_t i = 0; i < repetitions; ++i) enqueue(i, stream);
    d.check(d.api.end_capture(stream, &graph), "capturing a graph");
    d.check(d.api.graph_instantiate(&exec, graph, 0), "instantiating a graph");
    d.check(d.api.event_create(&start, CU_EVENT_DEFAULT), "creating an event");
    d.check(d.api.event_create(&stop, CU_EVENT_DEFAULT), "creating an event");
    std::vector<double> times;
    for (size_t i = 0; i <= replays; ++i) {
      d.check(d.api.event_record(start, stream), "recording an event");
      d.check(d.api.graph_launch(exec, stream), "launching a graph");
      d.check(d.api.event_record(stop, stream), "recording an event");
      d.check(d.api.stream_synchronize(stream), "running a graph");
      float ms = 0;
      d.check(d.api.event_elapsed(&ms, start, stop), "reading events");
      if (i > 0) times.push_back(1000.0 * static_cast<double>(ms) / static_cast<double>(repetitions));
    }
    release();
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.front()};
  } catch (...) {
    release();
    throw;
  }
}

}  // namespace bitwell::device
