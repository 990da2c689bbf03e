// Graphs, captured or built node by node: logs that are replayed.
#include <cuda.h>

#include <algorithm>

#include "verify/driver/core/sizes.h"
#include "verify/driver/core/work.h"

using namespace bitwell::driver;

namespace {

Operation kernel_operation(State& s, const CUDA_KERNEL_NODE_PARAMS& p) {
  Wanted w;
  const void* const handle =
      p.func != nullptr ? static_cast<const void*>(p.func) : static_cast<const void*>(p.kern);
  w.kernel = &kernel_of(s, handle, CUDA_ERROR_INVALID_VALUE);
  const unsigned grid[] = {p.gridDimX, p.gridDimY, p.gridDimZ},
                 block[] = {p.blockDimX, p.blockDimY, p.blockDimZ};
  w.shape = shape_of(*w.kernel, grid, block, p.sharedMemBytes);
  give_parameters(s, w, p.kernelParams, p.extra);
  s.launches.check(w);
  return [w](State& at) { at.launches.launch(w); };
}

Operation copy_operation(State& s, const CUDA_MEMCPY3D& c) {
  if (c.srcMemoryType == CU_MEMORYTYPE_ARRAY || c.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    s.missing("copies of CUDA arrays");
    throw Refused(CUDA_ERROR_NOT_SUPPORTED);
  }
  for (const CUmemorytype type : {c.srcMemoryType, c.dstMemoryType})
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
      throw Refused(CUDA_ERROR_INVALID_VALUE);
  const auto start = [](uint64_t base, uint64_t z, uint64_t height, uint64_t y, uint64_t pitch, uint64_t x) {
    return plus(plus(base, times(plus(times(z, height), y), pitch)), x);
  };
  const uint64_t from = start(c.srcMemoryType == CU_MEMORYTYPE_HOST ? address_of(c.srcHost) : c.srcDevice,
                              c.srcZ, c.srcHeight, c.srcY, c.srcPitch, c.srcXInBytes);
  const uint64_t to = start(c.dstMemoryType == CU_MEMORYTYPE_HOST ? address_of(c.dstHost) : c.dstDevice,
                            c.dstZ, c.dstHeight, c.dstY, c.dstPitch, c.dstXInBytes);
  for (const auto& [pitch, height] : {std::pair(c.srcPitch, c.srcHeight), std::pair(c.dstPitch, c.dstHeight)})
    extent(extent(c.WidthInBytes, c.Height, pitch), c.Depth, c.Depth > 1 ? times(pitch, height) : 0);
  if (c.WidthInBytes == 0) return Operation();
  return [=](State& at) {
    for (uint64_t z = 0; z < c.Depth; ++z)
      for (uint64_t y = 0; y < c.Height; ++y)
        at.memory.copy(to + (z * c.dstHeight + y) * c.dstPitch, from + (z * c.srcHeight + y) * c.srcPitch,
                       c.WidthInBytes);
  };
}

Operation fill_operation(const CUDA_MEMSET_NODE_PARAMS& p) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) throw Refused(CUDA_ERROR_INVALID_VALUE);
  const Rows rows{p.width, p.height, p.pitch, 0};
  check_fill(p.elementSize, rows);
  return [=](State& at) { fill_now(at, p.dst, p.value, p.elementSize, rows); };
}

Operation host_operation(const CUDA_HOST_NODE_PARAMS& host) {
  if (host.fn == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
  return [host](State&) { host.fn(host.userData); };
}

template <class Make>
CUresult add(const char* name, CUgraphNode* out, CUgraph graph, CUgraphNodeType type,
             const CUgraphNode* after, size_t count, Make make) {
  return driver_call(name, [&](State& s) {
    present(out);
    Graph& g = s.streams.graph(graph);
    if (count != 0) present(after);
    *out = reinterpret_cast<CUgraphNode>(&s.streams.add(g, type, make(s), after, count));
  });
}

// What a node does from now on: in the graph, or in an instance of it where one is given.
template <class Make>
CUresult change(const char* name, CUgraphNode node, CUgraphNodeType type, Make make) {
  return driver_call(name, [&](State& s) { s.streams.operation(node, type) = make(s); });
}
template <class Make>
CUresult change(const char* name, CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, Make make) {
  return driver_call(name, [&](State& s) { s.streams.operation(exec, node, type) = make(s); });
}

CUresult instantiate(const char* name, CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return driver_call(name, [&](State& s) {
    present(out);
    // What changes no result here; a graph that device code launches would.
    constexpr unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
      s.missing("graphs that device code launches");
      throw Refused(CUDA_ERROR_NOT_SUPPORTED);
    }
    if ((flags & ~known) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    *out = reinterpret_cast<CUgraphExec>(&s.streams.instantiate(s.streams.graph(graph), flags));
  });
}

// As many as there is room for, and how many there are.
template <class T>
void give(const std::vector<T>& all, T* out, size_t* count) {
  present(count);
  if (out != nullptr) {
    std::copy_n(all.begin(), std::min(*count, all.size()), out);
    std::fill(out + std::min(*count, all.size()), out + *count, T{});
  }
  *count = out == nullptr ? all.size() : std::min(*count, all.size());
}
CUgraphNode handle(const Node* node) { return reinterpret_cast<CUgraphNode>(const_cast<Node*>(node)); }

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* out, unsigned flags) {
  return driver_call("cuGraphCreate", [&](State& s) {
    if (flags != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    present(out);
    *out = reinterpret_cast<CUgraph>(&s.streams.make_graph());
  });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return driver_call("cuGraphDestroy", [&](State& s) { s.streams.destroy_graph(graph); });
}
CUresult cuGraphClone(CUgraph* out, CUgraph graph) {
  return driver_call("cuGraphClone", [&](State& s) {
    present(out);
    *out = reinterpret_cast<CUgraph>(&s.streams.clone(s.streams.graph(graph)));
  });
}
CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* p) {
  return add("cuGraphAddKernelNode", out, graph, CU_GRAPH_NODE_TYPE_KERNEL, after, count,
             [&](State& s) { return kernel_operation(s, present(p)); });
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMCPY3D* p, CUcontext) {
  return add("cuGraphAddMemcpyNode", out, graph, CU_GRAPH_NODE_TYPE_MEMCPY, after, count,
             [&](State& s) { return copy_operation(s, present(p)); });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return add("cuGraphAddMemsetNode", out, graph, CU_GRAPH_NODE_TYPE_MEMSET, after, count,
             [&](State&) { return fill_operation(present(p)); });
}
CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
                            const CUDA_HOST_NODE_PARAMS* p) {
  return add("cuGraphAddHostNode", out, graph, CU_GRAPH_NODE_TYPE_HOST, after, count,
             [&](State&) -> Operation {
               const CUDA_HOST_NODE_PARAMS host = present(p);
               if (host.fn == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
               return [host](State&) { host.fn(host.userData); };
             });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  return change("cuGraphKernelNodeSetParams", node, CU_GRAPH_NODE_TYPE_KERNEL,
                [&](State& s) { return kernel_operation(s, present(p)); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* p) {
  return change("cuGraphExecKernelNodeSetParams", exec, node, CU_GRAPH_NODE_TYPE_KERNEL,
                [&](State& s) { return kernel_operation(s, present(p)); });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  return change("cuGraphMemcpyNodeSetParams", node, CU_GRAPH_NODE_TYPE_MEMCPY,
                [&](State& s) { return copy_operation(s, present(p)); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* p,
                                        CUcontext) {
  return change("cuGraphExecMemcpyNodeSetParams", exec, node, CU_GRAPH_NODE_TYPE_MEMCPY,
                [&](State& s) { return copy_operation(s, present(p)); });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p) {
  return change("cuGraphMemsetNodeSetParams", node, CU_GRAPH_NODE_TYPE_MEMSET,
                [&](State&) { return fill_operation(present(p)); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p,
                                        CUcontext) {
  return change("cuGraphExecMemsetNodeSetParams", exec, node, CU_GRAPH_NODE_TYPE_MEMSET,
                [&](State&) { return fill_operation(present(p)); });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return change("cuGraphHostNodeSetParams", node, CU_GRAPH_NODE_TYPE_HOST,
                [&](State&) { return host_operation(present(p)); });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return change("cuGraphExecHostNodeSetParams", exec, node, CU_GRAPH_NODE_TYPE_HOST,
                [&](State&) { return host_operation(present(p)); });
}
CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count) {
  return add("cuGraphAddEmptyNode", out, graph, CU_GRAPH_NODE_TYPE_EMPTY, after, count,
             [](State&) { return Operation(); });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
                                  CUgraph child) {
  return add("cuGraphAddChildGraphNode", out, graph, CU_GRAPH_NODE_TYPE_GRAPH, after, count,
             [&](State& s) -> Operation {
               s.streams.retain(s.streams.graph(graph).objects, s.streams.graph(child).objects);
               std::vector<Operation> all;
               for (const Node* n : s.streams.graph(child).ordered())
                 if (n->run) all.push_back(n->run);
               return [all](State& at) {
                 for (const Operation& o : all) o(at);
               };
             });
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData*, size_t count) {
  return driver_call("cuGraphAddDependencies", [&](State& s) {
    const Graph& g = s.streams.graph(graph);
    if (count != 0) s.streams.depend(g, &present(from), &present(to), count);
  });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* out) {
  return driver_call("cuGraphNodeGetType", [&](State& s) { present(out) = s.streams.node(node).type; });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  return driver_call("cuGraphGetNodes", [&](State& s) {
    std::vector<CUgraphNode> all;
    for (const auto& n : s.streams.graph(graph).nodes) all.push_back(handle(n.get()));
    give(all, out, count);
  });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  return driver_call("cuGraphGetRootNodes", [&](State& s) {
    std::vector<CUgraphNode> all;
    for (const auto& n : s.streams.graph(graph).nodes)
      if (n->after.empty()) all.push_back(handle(n.get()));
    give(all, out, count);
  });
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData*, size_t* count) {
  return driver_call("cuGraphNodeGetDependencies", [&](State& s) {
    std::vector<CUgraphNode> all;
    for (const Node* n : s.streams.node(node).after) all.push_back(handle(n));
    give(all, out, count);
  });
}
CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return instantiate("cuGraphInstantiate", out, graph, flags);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = instantiate("cuGraphInstantiateWithParams", out, graph, p->flags);
  p->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* result) {
  return driver_call("cuGraphExecUpdate", [&](State& s) {
    GraphExec& to = s.streams.exec(exec);
    GraphExec& made = s.streams.instantiate(s.streams.graph(graph), to.flags);
    const bool same = made.operations.size() == to.operations.size();
    if (same) {
      to.operations = made.operations;
      std::swap(to.objects, made.objects);
    }
    s.streams.destroy_exec(&made);
    if (result != nullptr) {
      *result = {};
      result->result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    if (!same) throw Refused(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  });
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream) {
  return driver_call("cuGraphUpload", [&](State& s) { s.streams.exec(exec); });
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return driver_call("cuGraphLaunch", [&](State& s) {
    const std::vector<Operation> all =
        s.streams.exec(exec).operations;  // a node may not change what is launched
    s.streams.enqueue(s, stream, CU_GRAPH_NODE_TYPE_GRAPH, [all](State& at) {
      for (const Operation& o : all) {
        if (at.lost != CUDA_SUCCESS) return;
        if (o) o(at);
      }
    });
  });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return driver_call("cuGraphExecDestroy", [&](State& s) { s.streams.destroy_exec(exec); });
}
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* out) {
  return driver_call("cuGraphExecGetFlags", [&](State& s) { present(out) = s.streams.exec(exec).flags; });
}
CUresult cuUserObjectCreate(CUuserObject* out, void* data, CUhostFn destroy, unsigned references,
                            unsigned flags) {
  return driver_call("cuUserObjectCreate", [&](State& s) {
    present(out);
    if (destroy == nullptr || references == 0 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
      throw Refused(CUDA_ERROR_INVALID_VALUE);
    *out = reinterpret_cast<CUuserObject>(&s.streams.make_object(data, destroy, references));
  });
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return driver_call("cuUserObjectRetain", [&](State& s) { s.streams.retain(object, count); });
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return driver_call("cuUserObjectRelease", [&](State& s) { s.streams.release(object, count); });
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  return driver_call("cuGraphRetainUserObject", [&](State& s) {
    if (count == 0 || (flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0)
      throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.streams.retain(s.streams.graph(graph), object, count, flags != 0);
  });
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return driver_call("cuGraphReleaseUserObject",
                     [&](State& s) { s.streams.release(s.streams.graph(graph), object, count); });
}

}  // extern "C"
