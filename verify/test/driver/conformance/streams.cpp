// Streams, events, the host's functions, graphs.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {
namespace {

struct Told {
  int number;
  std::vector<int>* order;
};
void CUDA_CB tell(void* data) {
  const auto* told = static_cast<Told*>(data);
  told->order->push_back(told->number);
}
void CUDA_CB tell_with_status(CUstream, CUresult status, void* data) {
  const auto* told = static_cast<Told*>(data);
  told->order->push_back(status == CUDA_SUCCESS ? told->number : -1);
}

}  // namespace

void streams() {
  section = "streams and events";
  CUstream s = nullptr, t = nullptr;
  CUevent e = nullptr, f = nullptr, untimed = nullptr;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuStreamCreate)(&s, 0x100), "a flag that is none");
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "create");
  well(CU(cuStreamCreateWithPriority)(&t, 0, -1), "create with a priority");
  unsigned flags = 9;
  well(CU(cuStreamGetFlags)(s, &flags), "flags");
  held(flags == CU_STREAM_NON_BLOCKING, "as given");
  unsigned long long id = 0, other = 0;
  well(CU(cuStreamGetId)(s, &id), "number");
  well(CU(cuStreamGetId)(t, &other), "number");
  held(id != other, "two streams have two numbers");
  well(CU(cuEventCreate)(&e, CU_EVENT_DEFAULT), "event");
  well(CU(cuEventCreate)(&f, CU_EVENT_DEFAULT), "event");
  well(CU(cuEventCreate)(&untimed, CU_EVENT_DISABLE_TIMING), "event without time");
  well(CU(cuEventQuery)(e), "one that was never recorded has happened");
  well(CU(cuEventSynchronize)(e), "and nobody waits for it");
  float passed = -1;
  gives(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&passed, e, f), "but it has no time");
  std::vector<int> order;
  Told first{1, &order}, second{2, &order}, third{3, &order};
  well(CU(cuEventRecord)(e, s), "record");
  well(CU(cuLaunchHostFunc)(s, tell, &first), "a function of the host's");
  well(CU(cuStreamAddCallback)(s, tell_with_status, &second, 0), "a callback");
  well(CU(cuEventRecord)(f, s), "record");
  well(CU(cuStreamWaitEvent)(t, f, 0), "another stream waits");
  well(CU(cuLaunchHostFunc)(t, tell, &third), "and goes on");
  well(CU(cuStreamSynchronize)(t), "synchronize");
  held(order == std::vector<int>{1, 2, 3}, "in their order");
  well(CU(cuStreamQuery)(s), "the stream is done");
  well(CU(cuEventQuery)(f), "the event has happened");
  well(CU(cuEventElapsedTime)(&passed, e, f), "time");
  held(passed >= 0 && passed < 60000, "some", std::to_string(passed));
  well(CU(cuEventRecord)(untimed, s), "record");
  well(CU(cuEventSynchronize)(untimed), "synchronize");
  gives(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&passed, e, untimed), "one without time has none");
  well(CU(cuStreamSynchronize)(nullptr), "the stream that is always there");
  well(CU(cuEventDestroy)(e), "destroy");
  well(CU(cuEventDestroy)(f), "destroy");
  well(CU(cuEventDestroy)(untimed), "destroy");
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuStreamDestroy)(t), "destroy");

  section = "a function of the host's behind a copy";
  const CUdeviceptr p = allocated(4);
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "create");
  static unsigned seen = 0, copied = 0;
  well(CU(cuMemsetD32Async)(p, 77, 1, s), "fill");
  well(CU(cuMemcpyDtoHAsync)(&copied, p, 4, s), "copy");
  well(CU(cuLaunchHostFunc)(
           s, [](void*) { seen = copied; }, nullptr),
       "function");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(seen == 77, "sees what was copied", std::to_string(seen));
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuMemFree)(p), "free");
}

void graphs(const Device& d) {
  section = "graphs";
  CUstream s = nullptr, t = nullptr;
  CUevent e = nullptr;
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuStreamCreate)(&t, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuEventCreate)(&e, CU_EVENT_DISABLE_TIMING), "event");
  const CUdeviceptr x = allocated(400), y = allocated(400);
  unsigned n = 100;
  std::vector<unsigned> numbers(100, 3), have(100);
  void* parameters[] = {const_cast<CUdeviceptr*>(&x), const_cast<CUdeviceptr*>(&y), &n};
  const CUfunction scale = function(d, "scale");
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  gives(CUDA_ERROR_ILLEGAL_STATE, CU(cuStreamEndCapture)(s, &graph),
        "the end of a capture that did not begin");
  gives(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        CU(cuStreamBeginCapture)(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
        "the legacy stream is not captured");
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

  well(CU(cuStreamBeginCapture)(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
  gives(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuStreamSynchronize)(s),
        "a captured stream is not waited for");
  gives(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(s, &graph), "which spoils the capture");
  held(graph == nullptr, "there is no graph");
  well(CU(cuStreamIsCapturing)(s, &status), "status");
  held(status == CU_STREAM_CAPTURE_STATUS_NONE, "the stream is free again");

  // Node by node.
  CUgraphNode clear = nullptr, run = nullptr, host = nullptr;
  well(CU(cuGraphCreate)(&graph, 0), "create");
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = x, fill.value = 5, fill.elementSize = 4, fill.width = 100, fill.height = 1;
  well(CU(cuGraphAddMemsetNode)(&clear, graph, nullptr, 0, &fill, d.context), "a fill");
  CUDA_KERNEL_NODE_PARAMS kernel{};
  n = 100;
  kernel.func = scale, kernel.gridDimX = 4, kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = 32, kernel.blockDimY = kernel.blockDimZ = 1, kernel.kernelParams = parameters;
  well(CU(cuGraphAddKernelNode)(&run, graph, &clear, 1, &kernel), "a launch behind it");
  std::vector<int> order;
  Told told{4, &order};
  CUDA_HOST_NODE_PARAMS function{tell, &told};
  well(CU(cuGraphAddHostNode)(&host, graph, &run, 1, &function), "a function behind that");
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  well(CU(cuGraphNodeGetType)(run, &type), "type");
  held(type == CU_GRAPH_NODE_TYPE_KERNEL, "a kernel's");
  well(CU(cuGraphInstantiate)(&exec, graph, 0), "instantiate");
  well(CU(cuGraphLaunch)(exec, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(word(y) == 10 && order == std::vector<int>{4}, "all of it has run");
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  well(CU(cuGraphDestroy)(graph), "destroy");
  well(CU(cuEventDestroy)(e), "destroy");
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuStreamDestroy)(t), "destroy");
  well(CU(cuMemFree)(x), "free");
  well(CU(cuMemFree)(y), "free");
}

}  // namespace conformance
