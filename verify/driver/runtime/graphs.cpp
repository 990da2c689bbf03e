// Graphs: the driver's.
#include "verify/driver/core/work.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

CUuserObject driver(cudaUserObject_t object) { return reinterpret_cast<CUuserObject>(object); }
using bitwell::driver::driver;

CUDA_KERNEL_NODE_PARAMS driver(const cudaKernelNodeParams& p) {
  CUDA_KERNEL_NODE_PARAMS q{};
  q.func = static_cast<CUfunction>(p.func);
  q.gridDimX = p.gridDim.x, q.gridDimY = p.gridDim.y, q.gridDimZ = p.gridDim.z;
  q.blockDimX = p.blockDim.x, q.blockDimY = p.blockDim.y, q.blockDimZ = p.blockDim.z;
  q.sharedMemBytes = p.sharedMemBytes;
  q.kernelParams = p.kernelParams;
  q.extra = p.extra;
  return q;
}
CUDA_MEMSET_NODE_PARAMS driver(const cudaMemsetParams& p) {
  CUDA_MEMSET_NODE_PARAMS q{};
  q.dst = address_of(p.dst);
  q.pitch = p.pitch;
  q.value = p.value;
  q.elementSize = p.elementSize;
  q.width = p.width;
  q.height = p.height;
  return q;
}
CUDA_HOST_NODE_PARAMS driver(const cudaHostNodeParams& p) {
  CUDA_HOST_NODE_PARAMS q{};
  q.fn = p.fn;
  q.userData = p.userData;
  return q;
}
// Of linear memory widths and positions are in bytes.
CUDA_MEMCPY3D driver(const cudaMemcpy3DParms& p) {
  CUDA_MEMCPY3D q{};
  const auto side = [](const cudaArray_t array, const cudaPitchedPtr& at) {
    return array != nullptr    ? CU_MEMORYTYPE_ARRAY
           : at.ptr != nullptr ? CU_MEMORYTYPE_UNIFIED
                               : CUmemorytype{};
  };
  q.srcMemoryType = side(p.srcArray, p.srcPtr), q.dstMemoryType = side(p.dstArray, p.dstPtr);
  q.srcDevice = driver(p.srcPtr.ptr), q.dstDevice = driver(p.dstPtr.ptr);
  q.srcPitch = p.srcPtr.pitch, q.dstPitch = p.dstPtr.pitch;
  q.srcHeight = p.srcPtr.ysize, q.dstHeight = p.dstPtr.ysize;
  q.srcXInBytes = p.srcPos.x, q.srcY = p.srcPos.y, q.srcZ = p.srcPos.z;
  q.dstXInBytes = p.dstPos.x, q.dstY = p.dstPos.y, q.dstZ = p.dstPos.z;
  q.WidthInBytes = p.extent.width, q.Height = p.extent.height, q.Depth = p.extent.depth;
  return q;
}
CUDA_MEMCPY3D in_a_row(void* to, const void* from, size_t bytes) {
  CUDA_MEMCPY3D q{};
  q.srcMemoryType = q.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  q.srcDevice = driver(from), q.dstDevice = driver(to);
  q.WidthInBytes = bytes, q.Height = q.Depth = 1;
  return q;
}

// `f` of the node's parameters as the driver has them.
template <class T, class F>
cudaError_t with(const char* name, const T* p, F f) {
  return forward(name, [&] {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto q = driver(*p);
    return f(&q);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return forward("cudaGraphCreate", [&] { return cuGraphCreate(driver(out), flags); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return forward("cudaGraphDestroy", [&] { return cuGraphDestroy(driver(graph)); });
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaKernelNodeParams* p) {
  return with("cudaGraphAddKernelNode", p, [&](const auto* q) {
    return cuGraphAddKernelNode(driver(out), driver(graph), driver(after), count, q);
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return with("cudaGraphKernelNodeSetParams", p,
              [&](const auto* q) { return cuGraphKernelNodeSetParams(driver(node), q); });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
  return with("cudaGraphExecKernelNodeSetParams", p,
              [&](const auto* q) { return cuGraphExecKernelNodeSetParams(driver(exec), driver(node), q); });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaMemcpy3DParms* p) {
  return with("cudaGraphAddMemcpyNode", p, [&](const auto* q) {
    return cuGraphAddMemcpyNode(driver(out), driver(graph), driver(after), count, q, nullptr);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return with("cudaGraphMemcpyNodeSetParams", p,
              [&](const auto* q) { return cuGraphMemcpyNodeSetParams(driver(node), q); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* p) {
  return with("cudaGraphExecMemcpyNodeSetParams", p, [&](const auto* q) {
    return cuGraphExecMemcpyNodeSetParams(driver(exec), driver(node), q, nullptr);
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaMemsetParams* p) {
  return with("cudaGraphAddMemsetNode", p, [&](const auto* q) {
    return cuGraphAddMemsetNode(driver(out), driver(graph), driver(after), count, q, nullptr);
  });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return with("cudaGraphMemsetNodeSetParams", p,
              [&](const auto* q) { return cuGraphMemsetNodeSetParams(driver(node), q); });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* p) {
  return with("cudaGraphExecMemsetNodeSetParams", p, [&](const auto* q) {
    return cuGraphExecMemsetNodeSetParams(driver(exec), driver(node), q, nullptr);
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 size_t count, const cudaHostNodeParams* p) {
  return with("cudaGraphAddHostNode", p, [&](const auto* q) {
    return cuGraphAddHostNode(driver(out), driver(graph), driver(after), count, q);
  });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return with("cudaGraphHostNodeSetParams", p,
              [&](const auto* q) { return cuGraphHostNodeSetParams(driver(node), q); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* p) {
  return with("cudaGraphExecHostNodeSetParams", p,
              [&](const auto* q) { return cuGraphExecHostNodeSetParams(driver(exec), driver(node), q); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return forward("cudaGraphAddMemcpyNode1D", [&] {
    const CUDA_MEMCPY3D q = in_a_row(to, from, bytes);
    return cuGraphAddMemcpyNode(driver(out), driver(graph), driver(after), count, &q, nullptr);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind) {
  return forward("cudaGraphMemcpyNodeSetParams1D", [&] {
    const CUDA_MEMCPY3D q = in_a_row(to, from, bytes);
    return cuGraphMemcpyNodeSetParams(driver(node), &q);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, cudaMemcpyKind) {
  return forward("cudaGraphExecMemcpyNodeSetParams1D", [&] {
    const CUDA_MEMCPY3D q = in_a_row(to, from, bytes);
    return cuGraphExecMemcpyNodeSetParams(driver(exec), driver(node), &q, nullptr);
  });
}
cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t graph) {
  return forward("cudaGraphClone", [&] { return cuGraphClone(driver(out), driver(graph)); });
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
