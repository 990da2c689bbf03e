// Streams and events: the driver's.
#include "verify/driver/core/work.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

CUstream* driver(cudaStream_t* stream) { return reinterpret_cast<CUstream*>(stream); }
CUevent* driver(cudaEvent_t* event) { return reinterpret_cast<CUevent*>(event); }
using bitwell::driver::driver;

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* out) {
  return forward("cudaStreamCreate", [&] { return cuStreamCreate(driver(out), 0); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return forward("cudaStreamCreateWithFlags", [&] { return cuStreamCreate(driver(out), flags); });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return forward("cudaStreamCreateWithPriority",
                 [&] { return cuStreamCreateWithPriority(driver(out), flags, priority); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return forward("cudaStreamDestroy", [&] { return cuStreamDestroy(driver(stream)); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return forward("cudaStreamSynchronize", [&] { return cuStreamSynchronize(driver(stream)); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return forward("cudaStreamQuery", [&] { return cuStreamQuery(driver(stream)); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return forward("cudaStreamWaitEvent",
                 [&] { return cuStreamWaitEvent(driver(stream), driver(event), flags); });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* out) {
  return forward("cudaStreamGetPriority", [&] { return cuStreamGetPriority(driver(stream), out); });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* out) {
  return forward("cudaStreamGetFlags", [&] { return cuStreamGetFlags(driver(stream), out); });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* out) {
  return forward("cudaStreamGetId", [&] { return cuStreamGetId(driver(stream), out); });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* out) {
  return forward("cudaStreamGetDevice", [&] { return cuStreamGetDevice(driver(stream), out); });
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID which,
                                   const cudaStreamAttrValue* value) {
  return forward("cudaStreamSetAttribute", [&] {
    return cuStreamSetAttribute(driver(stream), static_cast<CUstreamAttrID>(which),
                                reinterpret_cast<const CUstreamAttrValue*>(value));
  });
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID which, cudaStreamAttrValue* out) {
  return forward("cudaStreamGetAttribute", [&] {
    return cuStreamGetAttribute(driver(stream), static_cast<CUstreamAttrID>(which),
                                reinterpret_cast<CUstreamAttrValue*>(out));
  });
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return forward("cudaStreamCopyAttributes",
                 [&] { return cuStreamCopyAttributes(driver(to), driver(from)); });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, size_t, unsigned) {
  return call("cudaStreamAttachMemAsync", [&](State& s) { s.streams.find(stream); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* out) {
  return forward("cudaStreamIsCapturing", [&] {
    return cuStreamIsCapturing(driver(stream), reinterpret_cast<CUstreamCaptureStatus*>(out));
  });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return forward("cudaStreamBeginCapture", [&] {
    return cuStreamBeginCapture(driver(stream), static_cast<CUstreamCaptureMode>(mode));
  });
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* after, const cudaGraphEdgeData* edges,
                                          size_t count, cudaStreamCaptureMode mode) {
  return forward("cudaStreamBeginCaptureToGraph", [&] {
    return cuStreamBeginCaptureToGraph(driver(stream), driver(graph), driver(after),
                                       reinterpret_cast<const CUgraphEdgeData*>(edges), count,
                                       static_cast<CUstreamCaptureMode>(mode));
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  return forward("cudaStreamEndCapture", [&] { return cuStreamEndCapture(driver(stream), driver(out)); });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** after, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  return forward("cudaStreamGetCaptureInfo", [&] {
    return cuStreamGetCaptureInfo(driver(stream), reinterpret_cast<CUstreamCaptureStatus*>(status),
                                  reinterpret_cast<cuuint64_t*>(id), driver(graph),
                                  reinterpret_cast<const CUgraphNode**>(after),
                                  reinterpret_cast<const CUgraphEdgeData**>(edges), count);
  });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return forward("cudaThreadExchangeStreamCaptureMode", [&] {
    return cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode));
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call("cudaLaunchHostFunc", [&](State& s) { call_host(s, function, data, stream); });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned flags) {
  return call("cudaStreamAddCallback", [&](State& s) {
    if (function == nullptr || flags != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.streams.not_while_captured(stream);
    function(stream, cudaSuccess, data);
  });
}
cudaError_t cudaDeviceSynchronize() {
  return forward("cudaDeviceSynchronize", [] { return cuCtxSynchronize(); });
}

cudaError_t cudaEventCreate(cudaEvent_t* out) {
  return forward("cudaEventCreate", [&] { return cuEventCreate(driver(out), 0); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return forward("cudaEventCreateWithFlags", [&] { return cuEventCreate(driver(out), flags); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return forward("cudaEventDestroy", [&] { return cuEventDestroy(driver(event)); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return forward("cudaEventRecord", [&] { return cuEventRecord(driver(event), driver(stream)); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return forward("cudaEventRecordWithFlags",
                 [&] { return cuEventRecordWithFlags(driver(event), driver(stream), flags); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return forward("cudaEventSynchronize", [&] { return cuEventSynchronize(driver(event)); });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return forward("cudaEventQuery", [&] { return cuEventQuery(driver(event)); });
}
cudaError_t cudaEventElapsedTime(float* out, cudaEvent_t from, cudaEvent_t to) {
  return forward("cudaEventElapsedTime", [&] { return cuEventElapsedTime(out, driver(from), driver(to)); });
}

}  // extern "C"
