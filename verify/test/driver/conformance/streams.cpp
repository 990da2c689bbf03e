// Streams, events, the host's functions.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {
namespace {

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

}  // namespace conformance
