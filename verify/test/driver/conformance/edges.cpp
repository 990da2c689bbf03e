// Sizes at their limits, dependencies, what is set and asked again, and what ends with what.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {
namespace {

int ended = 0;
void CUDA_CB end(void* data) { ended += *static_cast<int*>(data); }

void sizes() {
  section = "sizes that do not fit";
  const CUdeviceptr p = allocated(4096);
  constexpr size_t much = size_t{1} << 62;
  well(CU(cuMemsetD32)(p, 7, 1024), "fill");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D8)(p, 8, 0, 16, 2), "a pitch less than the width");
  well(CU(cuMemsetD2D8)(p, 8, 0, 0, much), "no column of many rows");
  held(word(p) == 7, "nothing was filled");
  CUdeviceptr q = 0;
  size_t pitch = 0;
  held(CU(cuMemAllocPitch)(&q, &pitch, much, 8, 4) != CUDA_SUCCESS, "an allocation of rows that do not");
  well(CU(cuMemFree)(p), "free");
}

void dependencies() {
  section = "dependencies";
  CUgraph g = nullptr, h = nullptr;
  CUgraphNode a = nullptr, b = nullptr, other = nullptr;
  well(CU(cuGraphCreate)(&g, 0), "create");
  well(CU(cuGraphCreate)(&h, 0), "create");
  well(CU(cuGraphAddEmptyNode)(&a, g, nullptr, 0), "a node");
  well(CU(cuGraphAddEmptyNode)(&b, g, nullptr, 0), "a node");
  well(CU(cuGraphAddEmptyNode)(&other, h, nullptr, 0), "a node of another graph");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddDependencies)(g, &other, &b, nullptr, 1),
        "on another graph's");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddDependencies)(g, &a, &a, nullptr, 1), "on itself");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddDependencies)(g, nullptr, &a, nullptr, 1), "on NULL");
  well(CU(cuGraphAddDependencies)(g, nullptr, nullptr, nullptr, 0), "none");
  well(CU(cuGraphAddDependencies)(g, &a, &b, nullptr, 1), "one");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddDependencies)(g, &a, &b, nullptr, 1), "that is there already");
  well(CU(cuGraphDestroy)(g), "destroy");
  well(CU(cuGraphDestroy)(h), "destroy");
}

void parameters_in_a_buffer(const Device& d) {
  section = "a node's parameters in a buffer";
  const CUdeviceptr x = allocated(4), y = allocated(4);
  well(CU(cuMemsetD32)(x, 21, 1), "input");
  struct {
    CUdeviceptr x, y;
    unsigned n;
  } all{x, y, 1};
  size_t size = 20;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = function(d, "scale");
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  p.extra = extra;
  CUgraph g = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  well(CU(cuGraphCreate)(&g, 0), "create");
  well(CU(cuGraphAddKernelNode)(&node, g, nullptr, 0, &p), "a node");
  well(CU(cuGraphInstantiate)(&exec, g, 0), "instantiate");
  well(CU(cuGraphLaunch)(exec, nullptr), "launch");
  well(CU(cuCtxSynchronize)(), "synchronize");
  held(word(y) == 42, "what it computes", std::to_string(word(y)));
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  well(CU(cuGraphDestroy)(g), "destroy");
  well(CU(cuMemFree)(x), "free");
  well(CU(cuMemFree)(y), "free");
}

void objects() {
  section = "objects of the user's";
  static int one = 1, ten = 10;
  CUuserObject first = nullptr, second = nullptr;
  CUgraph g = nullptr;
  CUgraphExec exec = nullptr;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuUserObjectCreate)(&first, &one, end, 1, 0), "without the flag");
  well(CU(cuUserObjectCreate)(&first, &one, end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), "create");
  well(CU(cuUserObjectRetain)(first, 1), "retain");
  well(CU(cuUserObjectRelease)(first, 1), "release");
  held(ended == 0, "it is held still");
  well(CU(cuUserObjectRelease)(first, 1), "release");
  const auto comes_to = [](int want) {  // on a device, a thread of the driver's calls it
    for (int i = 0; i < 100 && ended != want; ++i) usleep(10000);
    return ended == want;
  };
  held(comes_to(1), "its end", std::to_string(ended));
  well(CU(cuGraphCreate)(&g, 0), "graph");
  well(CU(cuUserObjectCreate)(&second, &ten, end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), "create");
  well(CU(cuGraphRetainUserObject)(g, second, 1, CU_GRAPH_USER_OBJECT_MOVE), "the graph holds it");
  well(CU(cuGraphInstantiate)(&exec, g, 0), "instantiate");
  well(CU(cuGraphDestroy)(g), "destroy");
  held(ended == 1, "an instance holds it too");
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  held(comes_to(11), "its end", std::to_string(ended));
}

void kept(const Device& d) {
  section = "what is set is given back";
  size_t stack = 0;
  well(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 4096), "a limit");
  well(CU(cuCtxGetLimit)(&stack, CU_LIMIT_STACK_SIZE), "asked");
  held(stack == 4096, "a thread's stack", std::to_string(stack));
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, size_t{1} << 40),
        "a stack of a TiB");
  CUmemoryPool pool = nullptr;
  cuuint64_t much = 123 << 20, have = 0;
  well(CU(cuDeviceGetDefaultMemPool)(&pool, d.device), "the pool");
  well(CU(cuMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &much), "what it keeps");
  well(CU(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &have), "asked");
  held(have == much, "as set", std::to_string(have));
  int reuse = 9;
  well(CU(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse), "reuse");
  held(reuse == 1, "is on", std::to_string(reuse));
  CUgraph g = nullptr;
  CUgraphExec exec = nullptr;
  cuuint64_t flags = 9;
  well(CU(cuGraphCreate)(&g, 0), "create");
  well(CU(cuGraphInstantiate)(&exec, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH), "with a flag");
  well(CU(cuGraphExecGetFlags)(exec, &flags), "asked");
  held(flags == CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, "as set", std::to_string(flags));
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGraphInstantiate)(&exec, g, 1 << 20), "a flag that is none");
  well(CU(cuGraphDestroy)(g), "destroy");
  unsigned number = 0;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(&number, 4, 1 << 20),
        "a flag of memory that is none");
}

// What is captured stands behind the nodes that were named.
void behind_nodes() {
  section = "a capture into a graph";
  CUgraph g = nullptr, h = nullptr, none = nullptr;
  CUgraphNode first = nullptr, second = nullptr, foreign = nullptr;
  CUstream s = nullptr;
  const CUdeviceptr p = allocated(4);
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuGraphCreate)(&g, 0), "create");
  well(CU(cuGraphCreate)(&h, 0), "create");
  well(CU(cuGraphAddEmptyNode)(&first, g, nullptr, 0), "a node");
  well(CU(cuGraphAddEmptyNode)(&second, g, nullptr, 0), "a node");
  well(CU(cuGraphAddEmptyNode)(&foreign, h, nullptr, 0), "a node of another graph");
  constexpr CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuStreamBeginCaptureToGraph)(s, g, &foreign, nullptr, 1, mode),
        "behind another graph's");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuStreamBeginCaptureToGraph)(s, g, nullptr, nullptr, 1, mode),
        "behind NULL");
  CUgraphNode both[] = {first, second};
  well(CU(cuStreamBeginCaptureToGraph)(s, g, both, nullptr, 2, mode), "behind two");
  well(CU(cuMemsetD32Async)(p, 1, 1, s), "a fill");
  well(CU(cuStreamEndCapture)(s, &none), "end");
  held(none == g, "it is the graph");
  size_t count = 0;
  well(CU(cuGraphGetNodes)(g, nullptr, &count), "nodes");
  held(count == 3, "three", std::to_string(count));
  CUgraphNode nodes[3] = {};
  well(CU(cuGraphGetNodes)(g, nodes, &count), "which");
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    well(CU(cuGraphNodeGetType)(node, &type), "type");
    if (type != CU_GRAPH_NODE_TYPE_MEMSET) continue;
    well(CU(cuGraphNodeGetDependencies)(node, nullptr, nullptr, &count), "what the fill depends on");
    held(count == 2, "both", std::to_string(count));
  }
  well(CU(cuGraphDestroy)(g), "destroy");
  well(CU(cuGraphDestroy)(h), "destroy");
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuMemFree)(p), "free");
}

void attributes_of_streams() {
  section = "streams' attributes";
  CUstream s = nullptr, t = nullptr;
  CUstreamAttrValue value{}, have{};
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuStreamCreate)(&t, CU_STREAM_NON_BLOCKING), "stream");
  value.syncPolicy = CU_SYNC_POLICY_BLOCKING_SYNC;
  well(CU(cuStreamSetAttribute)(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value), "set");
  well(CU(cuStreamGetAttribute)(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &have), "asked");
  held(have.syncPolicy == CU_SYNC_POLICY_BLOCKING_SYNC, "as set", std::to_string(have.syncPolicy));
  well(CU(cuStreamCopyAttributes)(t, s), "given to another");
  well(CU(cuStreamGetAttribute)(t, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &have), "asked");
  held(have.syncPolicy == CU_SYNC_POLICY_BLOCKING_SYNC, "as set", std::to_string(have.syncPolicy));
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuStreamSetAttribute)(s, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
        "one of launches");
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuStreamDestroy)(t), "destroy");
}

// The stream of the thread is one like others, and no other thread's.
void per_thread(const Device& d) {
  section = "the thread's stream";
  CUgraph g = nullptr;
  CUevent e = nullptr;
  CUdeviceptr p = allocated(4);
  well(CU(cuEventCreate)(&e, CU_EVENT_DISABLE_TIMING), "event");
  well(CU(cuStreamBeginCapture)(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
  gives(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU(cuMemsetD32Async)(p, 1, 1, nullptr),
        "the legacy stream would wait for it");
  gives(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(CU_STREAM_PER_THREAD, &g), "end");
  CUstream s = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuStreamBeginCapture)(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
  well(CU(cuEventRecord)(e, s), "record");
  well(CU(cuStreamWaitEvent)(CU_STREAM_PER_THREAD, e, 0), "it joins");
  well(CU(cuEventRecord)(e, CU_STREAM_PER_THREAD), "record");
  well(CU(cuStreamWaitEvent)(s, e, 0), "and comes back");
  well(CU(cuStreamEndCapture)(s, &g), "end");
  well(CU(cuStreamIsCapturing)(CU_STREAM_PER_THREAD, &status), "status");
  held(status == CU_STREAM_CAPTURE_STATUS_NONE, "it is captured no more");
  well(CU(cuGraphDestroy)(g), "destroy");
  well(CU(cuStreamBeginCapture)(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin again");
  std::thread([&] {
    well(CU(cuCtxSetCurrent)(d.context), "another thread");
    status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    well(CU(cuStreamIsCapturing)(CU_STREAM_PER_THREAD, &status), "its own");
    held(status == CU_STREAM_CAPTURE_STATUS_NONE, "is another");
    well(CU(cuMemsetD32Async)(p, 23, 1, CU_STREAM_PER_THREAD), "a fill there");
    well(CU(cuStreamSynchronize)(CU_STREAM_PER_THREAD), "synchronize");
  }).join();
  well(CU(cuStreamEndCapture)(CU_STREAM_PER_THREAD, &g), "end");
  size_t count = 9;
  well(CU(cuGraphGetNodes)(g, nullptr, &count), "nodes");
  held(count == 0, "nothing was captured", std::to_string(count));
  held(word(p) == 23, "the fill is done");
  well(CU(cuGraphDestroy)(g), "destroy");
  well(CU(cuEventDestroy)(e), "destroy");
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuMemFree)(p), "free");
}

void ends(const Device& d) {
  section = "a context that ends";
  CUcontext c = nullptr;
  size_t before = 0, after = 0, total = 0;
  well(CU(cuMemGetInfo)(&before, &total), "memory");
  well(CU(cuCtxCreate)(&c, nullptr, 0, d.device), "create");
  allocated(size_t{64} << 20);
  well(CU(cuCtxDestroy)(c), "destroy");
  well(CU(cuCtxSetCurrent)(d.context), "back");
  well(CU(cuMemGetInfo)(&after, &total), "memory");
  held(after + (size_t{32} << 20) > before, "its memory is free", std::to_string(before - after));
}

}  // namespace

// An H200's driver takes such sizes as they are, says success, and the context is lost.
void sizes_beyond_64_bits() {
  section = "sizes whose bytes do not fit into 64 bits";
  const CUdeviceptr p = allocated(4096);
  constexpr size_t much = size_t{1} << 62;
  well(CU(cuMemsetD32)(p, 7, 1024), "fill");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(p, 0, much + 1), "a fill");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D8)(p, much, 0, 4, 5), "rows");
  held(word(p) == 7, "nothing was filled");
  CUDA_MEMCPY2D c{};
  std::vector<unsigned char> bytes(64);
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = bytes.data(), c.srcPitch = 16;
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE, c.dstDevice = p, c.dstPitch = much, c.WidthInBytes = 16,
  c.Height = 5;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2D)(&c), "a copy of rows");
  well(CU(cuMemFree)(p), "free");
}

void edges(const Device& d) {
  sizes();
  dependencies();
  parameters_in_a_buffer(d);
  objects();
  kept(d);
  behind_nodes();
  attributes_of_streams();
  per_thread(d);
  ends(d);
}

// An H200's driver takes no NULL, and says that nobody has set a policy by -1.
void no_attribute() {
  section = "streams' attributes";
  CUstream s = nullptr;
  CUstreamAttrValue have{};
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "stream");
  gives(CUDA_ERROR_INVALID_VALUE,
        CU(cuStreamSetAttribute)(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, nullptr), "NULL");
  well(CU(cuStreamGetAttribute)(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &have), "one that nobody set");
  held(have.syncPolicy == CU_SYNC_POLICY_AUTO, "is what CUDA begins with", std::to_string(have.syncPolicy));
  well(CU(cuStreamDestroy)(s), "destroy");
}

// What CUDA leaves undefined, and bitwell refuses.
void undefined(const Device& d) {
  section = "a graph that is destroyed while a stream is captured into it";
  CUstream s = nullptr;
  CUgraph g = nullptr, none = nullptr;
  const CUdeviceptr p = allocated(4);
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuGraphCreate)(&g, 0), "create");
  well(CU(cuStreamBeginCaptureToGraph)(s, g, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED), "begin");
  well(CU(cuMemsetD32Async)(p, 1, 1, s), "a fill");
  well(CU(cuGraphDestroy)(g), "destroy");
  gives(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuMemsetD32Async)(p, 1, 1, s), "another fill");
  gives(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(s, &none), "end");
  well(CU(cuStreamDestroy)(s), "destroy");

  section = "a kernel of a module that was unloaded";
  CUmodule module = nullptr;
  CUfunction f = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode node = nullptr;
  well(CU(cuModuleLoadData)(&module, kModule), "load");
  well(CU(cuModuleGetFunction)(&f, module, "first_of_table"), "kernel");
  void* parameters[] = {const_cast<CUdeviceptr*>(&p)};
  CUDA_KERNEL_NODE_PARAMS k{};
  k.func = f, k.kernelParams = parameters;
  k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1;
  well(CU(cuGraphCreate)(&g, 0), "create");
  well(CU(cuGraphAddKernelNode)(&node, g, nullptr, 0, &k), "a node");
  well(CU(cuGraphInstantiate)(&exec, g, 0), "instantiate");
  well(CU(cuModuleUnload)(module), "unload");
  gives(CUDA_ERROR_INVALID_HANDLE, CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
        "launched");
  gives(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphLaunch)(exec, nullptr), "launched by a graph");
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  well(CU(cuGraphDestroy)(g), "destroy");
  well(CU(cuMemFree)(p), "free");

  section = "the primary context begins anew";
  CUdeviceptr counter = 0, gone = allocated(4);
  size_t size = 0;
  well(CU(cuDevicePrimaryCtxReset)(d.device), "reset");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(gone), "its memory is gone");
  gives(CUDA_ERROR_INVALID_HANDLE, CU(cuModuleGetGlobal)(&counter, &size, d.module, "counter"),
        "and its modules");
  well(CU(cuMemAlloc)(&gone, 4), "it works");
}

// A thread is inside of the driver when the process forks.
void fork_meanwhile() {
  section = "fork while another thread is in the driver";
  std::thread inside([] {
    Device d;
    well(CU(cuDevicePrimaryCtxRetain)(&d.context, 0), "retain");
    well(CU(cuCtxSetCurrent)(d.context), "set");
    well(CU(cuLaunchHostFunc)(
             nullptr, [](void*) { usleep(500000); }, nullptr),
         "a function that takes its time");
    well(CU(cuCtxSynchronize)(), "synchronize");
  });
  usleep(200000);
  const int result = child([] {
    alarm(5);
    int count = 0;
    held(CU(cuDeviceGetCount)(&count) != CUDA_ERROR_UNKNOWN, "the child is answered");
  });
  held(result == 0, "within its time", std::to_string(result));
  inside.join();
}

}  // namespace conformance
