// Graphs, captured and built node by node.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {
namespace {

// What scale() reads and writes, and where it is captured.
struct Work {
  CUstream s = nullptr;
  CUdeviceptr x = allocated(400), y = allocated(400);
  unsigned n = 100;
  void* parameters[3] = {&x, &y, &n};
  CUfunction scale;

  explicit Work(const Device& d) : scale(function(d, "scale")) {
    well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "stream");
  }
  ~Work() {
    well(CU(cuStreamDestroy)(s), "destroy");
    well(CU(cuMemFree)(x), "free");
    well(CU(cuMemFree)(y), "free");
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
};

void captured(Work& w) {
  section = "graphs that are captured";
  auto& [s, x, y, n, parameters, scale] = w;
  CUstream t = nullptr;
  CUevent e = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  std::vector<unsigned> numbers(100, 3), have(100);
  well(CU(cuStreamCreate)(&t, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuEventCreate)(&e, CU_EVENT_DISABLE_TIMING), "event");
  well(CU(cuMemsetD32)(x, 1, 100), "clear");
  well(CU(cuMemsetD32)(y, 0, 100), "clear");
  well(CU(cuStreamBeginCapture)(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  well(CU(cuStreamIsCapturing)(s, &status), "status");
  held(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "it is captured");
  well(CU(cuMemcpyHtoDAsync)(x, numbers.data(), 400, s), "a copy");
  well(CU(cuLaunchKernel)(scale, 4, 1, 1, 32, 1, 1, 0, s, parameters, nullptr), "a launch");
  well(CU(cuEventRecord)(e, s), "record");
  well(CU(cuStreamWaitEvent)(t, e, 0), "another stream joins");
  well(CU(cuMemsetD32Async)(y + 396, 9, 1, t), "a fill there");
  well(CU(cuEventRecord)(e, t), "record");
  well(CU(cuStreamWaitEvent)(s, e, 0), "and comes back");
  n = 1;  // what a launch was given is copied when it is captured
  well(CU(cuStreamEndCapture)(s, &graph), "end");
  well(CU(cuStreamIsCapturing)(t, &status), "status of the other");
  held(status == CU_STREAM_CAPTURE_STATUS_NONE, "it is captured no more");
  held(word(y) == 0, "nothing has run");
  size_t count = 0;
  well(CU(cuGraphGetNodes)(graph, nullptr, &count), "nodes");
  held(count == 3, "a copy, a launch and a fill", std::to_string(count));
  well(CU(cuGraphInstantiate)(&exec, graph, 0), "instantiate");
  well(CU(cuGraphDestroy)(graph), "the graph may go");
  well(CU(cuGraphLaunch)(exec, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  well(CU(cuMemcpyDtoH)(have.data(), y, 400), "output");
  held(have[0] == 6 && have[98] == 6 && have[99] == 9, "all of it has run");
  well(CU(cuMemsetD32)(y, 0, 100), "clear");
  well(CU(cuGraphLaunch)(exec, s), "launch again");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(word(y) == 6, "and again");
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  well(CU(cuEventDestroy)(e), "destroy");
  well(CU(cuStreamDestroy)(t), "destroy");
}

void not_captured(Work& w) {
  section = "captures that fail";
  CUstream s = w.s;
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  gives(CUDA_ERROR_ILLEGAL_STATE, CU(cuStreamEndCapture)(s, &graph),
        "the end of a capture that did not begin");
  gives(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        CU(cuStreamBeginCapture)(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
        "the legacy stream is not captured");
  well(CU(cuStreamBeginCapture)(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
  gives(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuStreamSynchronize)(s),
        "a captured stream is not waited for");
  gives(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(s, &graph), "which spoils the capture");
  held(graph == nullptr, "there is no graph");
  well(CU(cuStreamIsCapturing)(s, &status), "status");
  held(status == CU_STREAM_CAPTURE_STATUS_NONE, "the stream is free again");
}

void node_by_node(Work& w, const Device& d) {
  section = "graphs node by node";
  auto& [s, x, y, n, parameters, scale] = w;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode clear = nullptr, run = nullptr, host = nullptr;
  well(CU(cuGraphCreate)(&graph, 0), "create");
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = x, fill.value = 5, fill.elementSize = 4, fill.width = 100, fill.height = 1;
  well(CU(cuGraphAddMemsetNode)(&clear, graph, nullptr, 0, &fill, d.context), "a fill");
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = scale, kernel.gridDimX = 4, kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = 32, kernel.blockDimY = kernel.blockDimZ = 1, kernel.kernelParams = parameters;
  well(CU(cuGraphAddKernelNode)(&run, graph, &clear, 1, &kernel), "a launch behind it");
  std::vector<int> order;
  Told told{4, &order};
  CUDA_HOST_NODE_PARAMS host_function{tell, &told};
  well(CU(cuGraphAddHostNode)(&host, graph, &run, 1, &host_function), "a function behind that");
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  well(CU(cuGraphNodeGetType)(run, &type), "type");
  held(type == CU_GRAPH_NODE_TYPE_KERNEL, "a kernel's");
  well(CU(cuGraphInstantiate)(&exec, graph, 0), "instantiate");
  well(CU(cuGraphLaunch)(exec, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(word(y) == 10 && order == std::vector<int>{4}, "all of it has run");
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  well(CU(cuGraphDestroy)(graph), "destroy");
}

// Copies as nodes, of rows with a pitch too; what a node does changed, in the graph or in an instance; a copy
// of the graph.
void changed_nodes(Work& w, const Device& d) {
  section = "nodes that are changed";
  auto& [s, x, y, n, parameters, scale] = w;
  CUgraph graph = nullptr, twin = nullptr;
  CUgraphExec exec = nullptr, of_twin = nullptr;
  CUgraphNode in = nullptr, run = nullptr, out = nullptr;
  std::vector<unsigned> numbers(100), have(100), other(100, 7);
  for (unsigned i = 0; i < 100; ++i) numbers[i] = i;
  n = 100;
  well(CU(cuGraphCreate)(&graph, 0), "create");
  // Two slices of three rows of four words, to rows of eight words; the second word of the second row first.
  CUDA_MEMCPY3D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_HOST, rows.srcHost = numbers.data(), rows.srcPitch = 20,
  rows.srcHeight = 4;
  rows.srcXInBytes = 4, rows.srcY = 1;
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE, rows.dstDevice = x, rows.dstPitch = 32, rows.dstHeight = 3;
  rows.WidthInBytes = 16, rows.Height = 3, rows.Depth = 2;
  well(CU(cuGraphAddMemcpyNode)(&in, graph, nullptr, 0, &rows, d.context), "a copy of rows");
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = scale, kernel.gridDimX = 4, kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = 32, kernel.blockDimY = kernel.blockDimZ = 1, kernel.kernelParams = parameters;
  well(CU(cuGraphAddKernelNode)(&run, graph, &in, 1, &kernel), "a launch behind it");
  CUDA_MEMCPY3D line{};
  line.srcMemoryType = CU_MEMORYTYPE_DEVICE, line.srcDevice = y;
  line.dstMemoryType = CU_MEMORYTYPE_HOST, line.dstHost = have.data();
  line.WidthInBytes = 400, line.Height = line.Depth = 1;
  well(CU(cuGraphAddMemcpyNode)(&out, graph, &run, 1, &line, d.context), "a copy back");
  well(CU(cuGraphInstantiate)(&exec, graph, 0), "instantiate");
  well(CU(cuMemsetD32)(x, 50, 100), "fill");
  well(CU(cuGraphLaunch)(exec, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(have[0] == 12 && have[3] == 18 && have[4] == 100 && have[8] == 22 && have[24] == 52 && have[99] == 100,
       "the rows stand where they were asked for",
       std::to_string(have[0]) + " " + std::to_string(have[8]) + " " + std::to_string(have[24]));

  line.dstHost = other.data();
  well(CU(cuGraphExecMemcpyNodeSetParams)(exec, out, &line, d.context), "the instance copies elsewhere");
  kernel.gridDimX = 1;  // 32 threads, and 32 of 100 words
  well(CU(cuGraphExecKernelNodeSetParams)(exec, run, &kernel), "and launches less");
  well(CU(cuMemsetD32)(y, 3, 100), "fill");
  have[0] = 0;
  well(CU(cuGraphLaunch)(exec, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(have[0] == 0 && other[0] == 12 && other[31] == 100 && other[32] == 3, "so it does");

  well(CU(cuGraphClone)(&twin, graph), "a copy of the graph");
  size_t count = 0;
  well(CU(cuGraphGetNodes)(twin, nullptr, &count), "nodes");
  held(count == 3, "as many nodes");
  rows.srcHost = other.data();
  well(CU(cuGraphMemcpyNodeSetParams)(in, &rows), "the graph's own copy changes");
  well(CU(cuGraphKernelNodeSetParams)(run, &kernel), "and its launch");
  well(CU(cuGraphInstantiate)(&of_twin, twin, 0), "instantiate");
  well(CU(cuMemsetD32)(y, 3, 100), "fill");
  well(CU(cuGraphLaunch)(of_twin, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(have[0] == 12 && have[99] == 100, "not its copy's");
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  well(CU(cuGraphInstantiate)(&exec, graph, 0), "instantiate");
  std::fill(other.begin(), other.end(), 9);
  well(CU(cuMemsetD32)(y, 3, 100), "fill");
  well(CU(cuGraphLaunch)(exec, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(have[0] == 18 && have[32] == 3, "an instance that is made then has both");

  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = x, fill.value = 5, fill.elementSize = 4, fill.width = 100, fill.height = 1;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExecMemsetNodeSetParams)(exec, run, &fill, d.context),
        "a launch is no fill");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExecKernelNodeSetParams)(of_twin, run, &kernel),
        "a node of another graph");
  for (const CUgraphExec e : {exec, of_twin}) well(CU(cuGraphExecDestroy)(e), "destroy");
  for (const CUgraph g : {graph, twin}) well(CU(cuGraphDestroy)(g), "destroy");
}

}  // namespace

void graphs(const Device& d) {
  Work w(d);
  not_captured(w);
  captured(w);
  w.n = 100;
  node_by_node(w, d);
  changed_nodes(w, d);
}

}  // namespace conformance
