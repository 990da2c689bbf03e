// Modules, libraries, attributes of functions, entry points by name.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {

void modules(Device& d) {
  section = "modules";
  CUmodule none = nullptr;
  const char nonsense[] = "this is no PTX at all";
  gives_either(CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_PTX, CU(cuModuleLoadData)(&none, nonsense),
               "nonsense");
  const char wrong[] = ".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { mov.u32 %r9, 1; ret; }\n";
  gives(CUDA_ERROR_INVALID_PTX, CU(cuModuleLoadData)(&none, wrong), "PTX with a mistake");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuModuleLoadData)(&none, nullptr), "NULL");
  gives(CUDA_ERROR_FILE_NOT_FOUND, CU(cuModuleLoad)(&none, "/nowhere/at/all.cubin"),
        "a file that is not there");
  well(CU(cuModuleLoadData)(&d.module, kModule), "PTX");
  CUfunction f = nullptr;
  gives(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetFunction)(&f, d.module, "absent"), "a kernel that is not there");
  CUdeviceptr global = 0;
  size_t size = 0;
  well(CU(cuModuleGetGlobal)(&global, &size, d.module, "counter"), "a variable");
  held(size == 4, "its size", std::to_string(size));
  held(word(global) == 5, "its first value");
  gives(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetGlobal)(&global, &size, d.module, "absent"),
        "one that is not there");
  well(CU(cuModuleGetGlobal)(nullptr, &size, d.module, "table"), "without a place for the address");
  held(size == 16, "a constant's size");
  size = 0;
  well(CU(cuModuleGetGlobal)(&global, nullptr, d.module, "table"), "without a place for the size");
  const unsigned eleven = 11;
  well(CU(cuMemcpyHtoD)(global, &eleven, 4), "a constant is written");
  const CUdeviceptr out = allocated(4);
  void* parameters[] = {const_cast<CUdeviceptr*>(&out)};
  well(CU(cuLaunchKernel)(function(d, "first_of_table"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
       "launch");
  held(word(out) == 11, "and read by a kernel");
  CUmodule again = nullptr;
  well(CU(cuModuleLoadData)(&again, kModule), "the same text again");
  held(again != d.module, "is another module");
  CUdeviceptr other = 0;
  well(CU(cuModuleGetGlobal)(&other, &size, again, "counter"), "a variable of it");
  well(CU(cuModuleGetGlobal)(&global, &size, d.module, "counter"), "and of the first");
  held(other != global, "they are two");
  well(CU(cuModuleUnload)(again), "unload");
  well(CU(cuMemFree)(out), "free");

  section = "libraries";
  CUlibrary l = nullptr;
  well(CU(cuLibraryLoadData)(&l, kModule, nullptr, nullptr, 0, nullptr, nullptr, 0), "load");
  CUkernel kernel = nullptr;
  well(CU(cuLibraryGetKernel)(&kernel, l, "scale"), "kernel");
  gives(CUDA_ERROR_NOT_FOUND, CU(cuLibraryGetKernel)(&kernel, l, "absent"), "one that is not there");
  well(CU(cuLibraryGetKernel)(&kernel, l, "scale"), "kernel");
  well(CU(cuKernelGetFunction)(&f, kernel), "its function");
  unsigned count = 0;
  well(CU(cuLibraryGetKernelCount)(&count, l), "kernels");
  held(count == 8, "all of them", std::to_string(count));
  size_t offset = 9;
  well(CU(cuKernelGetParamInfo)(kernel, 2, &offset, &size), "its third parameter");
  held(offset == 16 && size == 4, "its place", std::to_string(offset) + ", " + std::to_string(size));
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuKernelGetParamInfo)(kernel, 3, &offset, &size), "a fourth");
  well(CU(cuLibraryUnload)(l), "unload");
}

// Two texts that need one another, with logs; what is made of them is loaded as a module.
void linked() {
  section = "the linker";
  std::string caller =
      ".version 7.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) twice(.param .b32 a);\n"
      ".extern .global .align 4 .u32 base;\n"
      ".visible .entry by_twice(.param .u64 out) {\n.reg .b32 %r<4>; .reg .b64 %d<3>;\n"
      "ld.param.u64 %d0, [out]; cvta.to.global.u64 %d0, %d0; ld.global.u32 %r0, [base];\n"
      "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r0; call.uni (r), twice, (a); ld.param.b32 %r1, "
      "[r]; }\n"
      "st.global.u32 [%d0], %r1; ret;\n}\n";
  std::string callee =
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 base = 21;\n"
      ".visible .func (.param .b32 r) twice(.param .b32 a) {\n.reg .b32 %r<2>;\n"
      "ld.param.b32 %r0, [a]; shl.b32 %r1, %r0, 1; st.param.b32 [r], %r1; ret;\n}\n";
  char info[100] = "info", error[100] = "error";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME};
  void* values[] = {info, reinterpret_cast<void*>(sizeof info), error, reinterpret_cast<void*>(sizeof error),
                    nullptr};
  CUlinkState link = nullptr;
  well(CU(cuLinkCreate)(5, options, values, &link), "create");
  const auto add = [&](CUjitInputType type, std::string& text) {
    return CU(cuLinkAddData)(link, type, text.data(), text.size() + 1, "a text", 0, nullptr, nullptr);
  };
  well(add(CU_JIT_INPUT_PTX, caller), "a text");
  well(add(CU_JIT_INPUT_PTX, callee), "another");
  gives(CUDA_ERROR_FILE_NOT_FOUND,
        CU(cuLinkAddFile)(link, CU_JIT_INPUT_PTX, "/nowhere/at/all.ptx", 0, nullptr, nullptr),
        "a file that is not there");
  void* cubin = nullptr;
  size_t size = 0;
  well(CU(cuLinkComplete)(link, &cubin, &size), "complete");
  held(cubin != nullptr && size > 0, "there is something");
  held(std::strlen(error) == 0, "there is no error", error);
  CUmodule module = nullptr;
  well(CU(cuModuleLoadData)(&module, cubin), "load it");
  well(CU(cuLinkDestroy)(link), "destroy");
  CUfunction f = nullptr;
  well(CU(cuModuleGetFunction)(&f, module, "by_twice"), "its kernel");
  const CUdeviceptr out = allocated(4);
  void* parameters[] = {const_cast<CUdeviceptr*>(&out)};
  well(CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "launch");
  held(word(out) == 42, "it calls a function of the other text", std::to_string(word(out)));
  well(CU(cuMemFree)(out), "free");
  well(CU(cuModuleUnload)(module), "unload");

  well(CU(cuLinkCreate)(0, nullptr, nullptr, &link), "create");
  std::string nonsense = "this is no PTX at all";
  gives(CUDA_ERROR_INVALID_PTX, add(CU_JIT_INPUT_PTX, nonsense), "nonsense");
  well(CU(cuLinkDestroy)(link), "destroy");
}

void attributes(const Device& d) {
  section = "kernels' attributes";
  const CUfunction f = function(d, "limited");
  int value = 0;
  well(CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f), "threads");
  held(value == 64, "as .maxntid says", std::to_string(value));
  well(CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f), "static shared memory");
  held(value == 1024, "as declared", std::to_string(value));
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuFuncGetAttribute)(&value, static_cast<CUfunction_attribute>(500), f),
        "one that is none");
  gives(CUDA_ERROR_INVALID_VALUE,
        CU(cuFuncSetAttribute)(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 28),
        "256 MiB of shared memory");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuFuncSetAttribute)(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 4),
        "one that cannot be set");
  int blocks = 0, grid = 0, block = 0;
  well(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, function(d, "scale"), 256, 0), "occupancy");
  held(blocks >= 2 && blocks <= 32, "some CTAs", std::to_string(blocks));
  well(CU(cuOccupancyMaxPotentialBlockSize)(&grid, &block, f, nullptr, 0, 0), "the best size of a CTA");
  held(block > 0 && block <= 64 && block % 32 == 0, "within .maxntid", std::to_string(block));
}

void entry_points() {
  section = "functions by name";
  void* f = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  well(CU(cuGetProcAddress)("cuMemAlloc", &f, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found), "cuMemAlloc");
  held(f == dlsym(library, "cuMemAlloc_v2") && found == CU_GET_PROC_ADDRESS_SUCCESS, "in its second version");
  well(CU(cuGetProcAddress)("cuLaunchKernelEx", &f, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found),
       "of CUDA 12");
  f = &found;
  const CUresult early =
      CU(cuGetProcAddress)("cuLaunchKernelEx", &f, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  held(f == nullptr && found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, "which CUDA 11.0 has not",
       name_of(early));
  f = &found;
  const CUresult none = CU(cuGetProcAddress)("cuNothing", &f, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  held(f == nullptr && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, "one that nobody has", name_of(none));
}

}  // namespace conformance
