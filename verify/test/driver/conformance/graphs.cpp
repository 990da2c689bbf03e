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

}  // namespace

void graphs(const Device& d) {
  Work w(d);
  not_captured(w);
  captured(w);
  w.n = 100;
  node_by_node(w, d);
}

}  // namespace conformance
