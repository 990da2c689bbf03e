// Streams, events, captures.
#include <cuda.h>

#include <algorithm>

#include "verify/driver/core/work.h"

using namespace bitwell::driver;

namespace {

CUresult make_stream(const char* name, CUstream* out, unsigned flags, int priority) {
  return driver_call(name, [&](State& s) {
    present(out);
    *out = reinterpret_cast<CUstream>(&s.streams.make(flags, priority, s.current()));
  });
}

// What was set, or what CUDA begins with.
CUstreamAttrValue attribute_of(const Stream& stream, CUstreamAttrID which) {
  CUstreamAttrValue out{};
  switch (which) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: out.syncPolicy = CU_SYNC_POLICY_AUTO; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: out.priority = stream.priority; return out;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: out.memSyncDomainMap.remote = 1; break;
    default: throw Refused(CUDA_ERROR_INVALID_VALUE, "streams have no attribute " + std::to_string(which));
  }
  const auto set = stream.attributes.find(which);
  return set == stream.attributes.end() ? out : set->second;
}

CUstreamCaptureStatus status_of(const Stream& stream) {
  return stream.capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
         : stream.capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                   : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* out, unsigned flags) {
  return make_stream("cuStreamCreate", out, flags, 0);
}
CUresult cuStreamCreateWithPriority(CUstream* out, unsigned flags, int priority) {
  return make_stream("cuStreamCreateWithPriority", out, flags, priority);
}
CUresult cuStreamDestroy(CUstream stream) {
  return driver_call("cuStreamDestroy", [&](State& s) { s.streams.destroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return driver_call("cuStreamSynchronize", [&](State& s) { synchronize(s, stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return driver_call("cuStreamQuery", [&](State& s) { synchronize(s, stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return driver_call("cuStreamWaitEvent", [&](State& s) {
    if ((flags & ~unsigned{CU_EVENT_WAIT_EXTERNAL}) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.streams.wait(stream, event);
  });
}
CUresult cuStreamGetPriority(CUstream stream, int* out) {
  return driver_call("cuStreamGetPriority",
                     [&](State& s) { present(out) = s.streams.find(stream).priority; });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* out) {
  return driver_call("cuStreamGetFlags", [&](State& s) { present(out) = s.streams.find(stream).flags; });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* out) {
  return driver_call("cuStreamGetId", [&](State& s) { present(out) = s.streams.find(stream).id; });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* out) {
  return driver_call("cuStreamGetDevice", [&](State& s) {
    s.streams.find(stream);
    present(out) = 0;
  });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* out) {
  return driver_call("cuStreamGetCtx", [&](State& s) {
    const void* const owner = s.streams.find(stream).owner;
    present(out) = reinterpret_cast<CUcontext>(const_cast<void*>(owner == nullptr ? s.current() : owner));
  });
}
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID which, const CUstreamAttrValue* value) {
  return driver_call("cuStreamSetAttribute", [&](State& s) {
    Stream& to = s.streams.find(stream);
    const CUstreamAttrValue& given = present(value);
    attribute_of(to, which);  // refuses what streams have not
    to.attributes[which] = given;
    if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) to.priority = std::clamp(given.priority, -5, 0);
  });
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID which, CUstreamAttrValue* out) {
  return driver_call("cuStreamGetAttribute",
                     [&](State& s) { present(out) = attribute_of(s.streams.find(stream), which); });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return driver_call("cuStreamCopyAttributes", [&](State& s) {
    const Stream& given = s.streams.find(from);
    Stream& out = s.streams.find(to);
    out.attributes = given.attributes;
    out.priority = given.priority;
  });
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr, size_t, unsigned) {
  return driver_call("cuStreamAttachMemAsync", [&](State& s) { s.streams.find(stream); });
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned flags) {
  return driver_call("cuStreamAddCallback", [&](State& s) {
    if (callback == nullptr || flags != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.streams.not_while_captured(stream);
    callback(stream, CUDA_SUCCESS, data);
  });
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned) {
  return driver_call("cuStreamWriteValue32", [&](State& s) { fill(s, to, value, 4, 1, stream); });
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return driver_call("cuStreamBeginCapture", [&](State& s) {
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.streams.begin(stream, mode, nullptr, nullptr, 0);
  });
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode) {
  return driver_call("cuStreamBeginCaptureToGraph", [&](State& s) {
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) throw Refused(CUDA_ERROR_INVALID_VALUE);
    // A whole node is waited for: what an edge of another type would let begin earlier begins later here.
    for (size_t i = 0; edges != nullptr && i < count; ++i)
      if (edges[i].type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.streams.begin(stream, mode, &s.streams.graph(graph), after, count);
  });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* out) {
  return driver_call("cuStreamEndCapture", [&](State& s) {
    present(out) = nullptr;
    *out = reinterpret_cast<CUgraph>(&s.streams.end(stream));
  });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* out) {
  return driver_call("cuStreamIsCapturing",
                     [&](State& s) { present(out) = status_of(s.streams.find(stream)); });
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* graph, const CUgraphNode** after, const CUgraphEdgeData** edges,
                                size_t* count) {
  return driver_call("cuStreamGetCaptureInfo", [&](State& s) {
    const Stream& in = s.streams.find(stream);
    present(status) = status_of(in);
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = 0;
    if (in.capture == nullptr) return;
    Capture& c = *in.capture;
    if (id != nullptr) *id = c.id;
    if (graph != nullptr) *graph = reinterpret_cast<CUgraph>(c.graph);
    if (count != nullptr) *count = c.last.size();
    if (after != nullptr) *after = reinterpret_cast<const CUgraphNode*>(c.last.data());
  });
}
#undef cuStreamGetCaptureInfo
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** after, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, after, nullptr, count);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return driver_call<Need::init>("cuThreadExchangeStreamCaptureMode", [&](State&) {
    static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (present(mode) > CU_STREAM_CAPTURE_MODE_RELAXED) throw Refused(CUDA_ERROR_INVALID_VALUE);
    std::swap(*mode, current);
  });
}

CUresult cuEventCreate(CUevent* out, unsigned flags) {
  return driver_call("cuEventCreate", [&](State& s) {
    present(out);
    *out = reinterpret_cast<CUevent>(&s.streams.make_event(flags, s.current()));
  });
}
CUresult cuEventDestroy(CUevent event) {
  return driver_call("cuEventDestroy", [&](State& s) { s.streams.destroy_event(event); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return driver_call("cuEventRecord", [&](State& s) {
    if ((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.streams.record(s, event, stream, (flags & CU_EVENT_RECORD_EXTERNAL) != 0);
  });
}
CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }
CUresult cuEventQuery(CUevent event) {
  return driver_call("cuEventQuery", [&](State& s) {
    if (s.streams.event(event).capture != nullptr) throw Refused(CUDA_ERROR_CAPTURED_EVENT);
  });
}
CUresult cuEventSynchronize(CUevent event) {
  return driver_call("cuEventSynchronize", [&](State& s) {
    if (s.streams.event(event).capture != nullptr) throw Refused(CUDA_ERROR_CAPTURED_EVENT);
  });
}
// The simulator's own time: programs divide by it.
CUresult cuEventElapsedTime(float* out, CUevent from, CUevent to) {
  return driver_call("cuEventElapsedTime", [&](State& s) {
    const Event &a = s.streams.event(from), &b = s.streams.event(to);
    present(out);
    if (!a.recorded || !b.recorded || ((a.flags | b.flags) & CU_EVENT_DISABLE_TIMING) != 0)
      throw Refused(CUDA_ERROR_INVALID_HANDLE);
    const std::chrono::duration<float, std::milli> passed = b.when - a.when;
    *out = a.when == b.when ? 0 : std::max(passed.count(), 0.001f);
  });
}

}  // extern "C"
