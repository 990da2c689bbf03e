// The names with _ptsz of functions that are given a stream. They are jumps, for a function cannot be a
// template's and have C's name.
#include "verify/driver/names/by_thread.h"

extern "C" {
// Of older programs, and of nvcc's own code: the headers do not show them.
CUresult cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                   const CUgraphNode**, size_t*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

#define BY_THREAD(f)                                                               \
  __attribute__((visibility("hidden"), used)) decltype(&f) bitwell_by_thread_##f = \
      &bitwell::driver::ByThread<&f>::call;                                        \
  asm(".pushsection .text\n"                                                       \
      ".globl " #f                                                                 \
      "_ptsz\n"                                                                    \
      ".type " #f "_ptsz,@function\n" #f                                           \
      "_ptsz:\n"                                                                   \
      "jmp *bitwell_by_thread_" #f                                                 \
      "(%rip)\n"                                                                   \
      ".size " #f "_ptsz, .-" #f                                                   \
      "_ptsz\n"                                                                    \
      ".popsection\n");
#include "verify/driver/names/by_thread.inc"
#undef BY_THREAD
}
