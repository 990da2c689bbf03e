// What a function that bitwell has not does.
#pragma once

namespace bitwell::driver {

// Names it once; CUDA_ERROR_NOT_SUPPORTED, which is the runtime's cudaErrorNotSupported too.
int not_supported(const char* name);

}  // namespace bitwell::driver
