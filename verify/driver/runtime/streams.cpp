// Streams and events: everything is done when it is asked for, so that all has always ended.
#include <chrono>

#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

struct Event {
  std::chrono::steady_clock::time_point when{};
  bool recorded = false;
};

Event* event_of(cudaEvent_t event) { return reinterpret_cast<Event*>(event); }

cudaError_t new_stream(const char* name, cudaStream_t* out) {
  return call(name, [&](Session&) {
    *out = reinterpret_cast<cudaStream_t>(new int(0));
    return cudaSuccess;
  });
}
cudaError_t new_event(const char* name, cudaEvent_t* out) {
  return call(name, [&](Session&) {
    *out = reinterpret_cast<cudaEvent_t>(new Event);
    return cudaSuccess;
  });
}
cudaError_t record(const char* name, cudaEvent_t event) {
  return call(name, [&](Session&) {
    event_of(event)->when = std::chrono::steady_clock::now();
    event_of(event)->recorded = true;
    return cudaSuccess;
  });
}
cudaError_t done(const char* name) {
  return call(name, [](Session&) { return cudaSuccess; });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* out) { return new_stream("cudaStreamCreate", out); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
  return new_stream("cudaStreamCreateWithFlags", out);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned, int) {
  return new_stream("cudaStreamCreateWithPriority", out);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<int*>(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return done("cudaStreamSynchronize"); }
cudaError_t cudaStreamQuery(cudaStream_t) { return done("cudaStreamQuery"); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return done("cudaStreamWaitEvent"); }
cudaError_t cudaStreamGetPriority(cudaStream_t, int* out) {
  *out = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned* out) {
  *out = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t, int* out) {
  *out = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* out) {
  *out = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return done("cudaStreamSetAttribute");
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  const cudaError_t error = done("cudaLaunchHostFunc");
  if (error == cudaSuccess) function(data);
  return error;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned) {
  function(stream, done("cudaStreamAddCallback"), data);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* out) { return new_event("cudaEventCreate", out); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
  return new_event("cudaEventCreateWithFlags", out);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event_of(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) { return record("cudaEventRecord", event); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t, unsigned) {
  return record("cudaEventRecordWithFlags", event);
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return done("cudaEventSynchronize"); }
cudaError_t cudaEventQuery(cudaEvent_t) { return done("cudaEventQuery"); }
// The simulator's own time: programs divide by it.
cudaError_t cudaEventElapsedTime(float* out, cudaEvent_t from, cudaEvent_t to) {
  return call("cudaEventElapsedTime", [&](Session&) {
    if (!event_of(from)->recorded || !event_of(to)->recorded) return cudaErrorInvalidResourceHandle;
    const std::chrono::duration<float, std::milli> passed = event_of(to)->when - event_of(from)->when;
    *out = std::max(passed.count(), 0.001f);
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSynchronize() { return done("cudaDeviceSynchronize"); }

}  // extern "C"
