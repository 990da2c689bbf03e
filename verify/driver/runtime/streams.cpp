// Streams, events and graphs: the driver's.
#include "verify/driver/core/work.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

CUgraph driver(cudaGraph_t graph) { return reinterpret_cast<CUgraph>(graph); }
CUgraphExec driver(cudaGraphExec_t exec) { return reinterpret_cast<CUgraphExec>(exec); }
CUgraphNode driver(cudaGraphNode_t node) { return reinterpret_cast<CUgraphNode>(node); }
CUgraph* driver(cudaGraph_t* graph) { return reinterpret_cast<CUgraph*>(graph); }
CUgraphExec* driver(cudaGraphExec_t* exec) { return reinterpret_cast<CUgraphExec*>(exec); }
CUgraphNode* driver(cudaGraphNode_t* node) { return reinterpret_cast<CUgraphNode*>(node); }
const CUgraphNode* driver(const cudaGraphNode_t* node) { return reinterpret_cast<const CUgraphNode*>(node); }
CUstream* driver(cudaStream_t* stream) { return reinterpret_cast<CUstream*>(stream); }
CUevent* driver(cudaEvent_t* event) { return reinterpret_cast<CUevent*>(event); }
CUuserObject driver(cudaUserObject_t object) { return reinterpret_cast<CUuserObject>(object); }
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

cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return forward("cudaGraphCreate", [&] { return cuGraphCreate(driver(out), flags); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return forward("cudaGraphDestroy", [&] { return cuGraphDestroy(driver(graph)); });
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaKernelNodeParams* p) {
  return forward("cudaGraphAddKernelNode", [&] {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS q{};
    q.func = static_cast<CUfunction>(p->func);
    q.gridDimX = p->gridDim.x, q.gridDimY = p->gridDim.y, q.gridDimZ = p->gridDim.z;
    q.blockDimX = p->blockDim.x, q.blockDimY = p->blockDim.y, q.blockDimZ = p->blockDim.z;
    q.sharedMemBytes = p->sharedMemBytes;
    q.kernelParams = p->kernelParams;
    q.extra = p->extra;
    return cuGraphAddKernelNode(driver(out), driver(graph), driver(after), count, &q);
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return call("cudaGraphAddMemcpyNode1D", [&](State& s) {
    present(out);
    *out = reinterpret_cast<cudaGraphNode_t>(&s.streams.add(
        s.streams.graph(graph), CU_GRAPH_NODE_TYPE_MEMCPY,
        [=](State& at) { at.memory.copy(address_of(to), address_of(from), bytes); }, driver(after), count));
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaMemsetParams* p) {
  return forward("cudaGraphAddMemsetNode", [&] {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMSET_NODE_PARAMS q{};
    q.dst = address_of(p->dst);
    q.pitch = p->pitch;
    q.value = p->value;
    q.elementSize = p->elementSize;
    q.width = p->width;
    q.height = p->height;
    return cuGraphAddMemsetNode(driver(out), driver(graph), driver(after), count, &q, nullptr);
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 size_t count, const cudaHostNodeParams* p) {
  return forward("cudaGraphAddHostNode", [&] {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_HOST_NODE_PARAMS q{p->fn, p->userData};
    return cuGraphAddHostNode(driver(out), driver(graph), driver(after), count, &q);
  });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) {
  return forward("cudaGraphAddEmptyNode",
                 [&] { return cuGraphAddEmptyNode(driver(out), driver(graph), driver(after), count); });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  return forward("cudaGraphAddChildGraphNode", [&] {
    return cuGraphAddChildGraphNode(driver(out), driver(graph), driver(after), count, driver(child));
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* out, size_t* count) {
  return forward("cudaGraphGetNodes", [&] { return cuGraphGetNodes(driver(graph), driver(out), count); });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* out, size_t* count) {
  return forward("cudaGraphGetRootNodes",
                 [&] { return cuGraphGetRootNodes(driver(graph), driver(out), count); });
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData*,
                                         size_t* count) {
  return forward("cudaGraphNodeGetDependencies",
                 [&] { return cuGraphNodeGetDependencies(driver(node), driver(out), nullptr, count); });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* out) {
  return forward("cudaGraphNodeGetType",
                 [&] { return cuGraphNodeGetType(driver(node), reinterpret_cast<CUgraphNodeType*>(out)); });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return forward("cudaGraphInstantiate",
                 [&] { return cuGraphInstantiate(driver(out), driver(graph), flags); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(out, graph, flags);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return forward("cudaGraphExecUpdate", [&] {
    return cuGraphExecUpdate(driver(exec), driver(graph),
                             reinterpret_cast<CUgraphExecUpdateResultInfo*>(result));
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return forward("cudaGraphUpload", [&] { return cuGraphUpload(driver(exec), driver(stream)); });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return forward("cudaGraphLaunch", [&] { return cuGraphLaunch(driver(exec), driver(stream)); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return forward("cudaGraphExecDestroy", [&] { return cuGraphExecDestroy(driver(exec)); });
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t* out, void* data, cudaHostFn_t destroy, unsigned count,
                                 unsigned flags) {
  return forward("cudaUserObjectCreate", [&] {
    return cuUserObjectCreate(reinterpret_cast<CUuserObject*>(out), data, destroy, count, flags);
  });
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return forward("cudaUserObjectRetain", [&] { return cuUserObjectRetain(driver(object), count); });
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return forward("cudaUserObjectRelease", [&] { return cuUserObjectRelease(driver(object), count); });
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return forward("cudaGraphRetainUserObject",
                 [&] { return cuGraphRetainUserObject(driver(graph), driver(object), count, flags); });
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return forward("cudaGraphReleaseUserObject",
                 [&] { return cuGraphReleaseUserObject(driver(graph), driver(object), count); });
}

}  // extern "C"
