// Expectations of a driver: what each part of the conformance program says them with.
#pragma once
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace conformance {

extern void* library;
extern int failures, held_count;
extern bool verbose;
extern int child_writes;     // to here, what it is started for
extern const char* section;  // that is asked about

template <class F>
F* find(const char* name) {
  void* const out = dlsym(library, name);
  if (out == nullptr) {
    std::printf("the library has no %s\n", name);
    std::exit(100);
  }
  return reinterpret_cast<F*>(out);
}
// A function of cuda.h, whose macros give it the name of its newest version.
#define NAME2(f) #f
#define NAME(f) NAME2(f)
#define CU(f) (*find<decltype(f)>(NAME(f)))

std::string name_of(CUresult result);
void judge(bool well, const char* what, const std::string& have);
void held(bool is, const char* what, const std::string& have = "it is not so");
void well(CUresult have, const char* what);
void gives(CUresult want, CUresult have, const char* what);
// Where drivers differ by version: either of two.
void gives_either(CUresult one, CUresult other, CUresult have, const char* what);

// Kernels for every device since sm_80.
extern const char* const kModule;

struct Device {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
};
CUfunction function(const Device& d, const char* name);
CUdeviceptr allocated(size_t bytes);
unsigned word(CUdeviceptr at);

// A function of the host's, which leaves its number.
struct Told {
  int number;
  std::vector<int>* order;
};
void CUDA_CB tell(void* told);

// The parts, in their order; those that take a Device need what the ones before made of it.
void before_init();
void errors();
void devices(Device& d);
void contexts(Device& d);
void memory();
void pointers(const Device& d);
void modules(Device& d);
void linked();
void attributes(const Device& d);
void launches(const Device& d);
void streams();
void by_thread(const Device& d);
void graphs(const Device& d);
void entry_points();
void printing(const Device& d);
void edges(const Device& d);
void fork_meanwhile();
// Before anything of CUDA is called.
CUdeviceptr of_another_process();
void mistakes(const Device& d, CUdeviceptr of_another);
// Of bitwell's alone; the last leaves `d` without its module.
void sizes_beyond_64_bits();
void few_parameters(const Device& d);
void no_attribute();
void undefined(const Device& d);
// In processes of their own: what they end with.
int child(void (*f)());
void fork_after_init();
void lost_context();
void unload_at_exit();

}  // namespace conformance
