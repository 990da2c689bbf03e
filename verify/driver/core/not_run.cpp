#include "verify/driver/core/not_run.h"

#include <new>

#include "model/machine/failure.h"
#include "verify/launch/file/names.h"

namespace bitwell::driver {

Ending ending_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const NoCode& e) {
    return {
        .status = kUnsupported, .verdict = "unsupported", .words = e.what(), .error = e.code, .said = true};
  } catch (const machine::Unsupported& e) {
    return {.status = kUnsupported,
            .verdict = "unsupported",
            .words = std::string("unsupported: ") + launch::as_written(e.what()),
            .error = CUDA_ERROR_NOT_SUPPORTED,
            .lost = true};
  } catch (const machine::InputError& e) {
    return {.status = kUnusable,
            .verdict = "unusable",
            .words = launch::as_written(e.what()),
            .error = CUDA_ERROR_INVALID_VALUE};
  } catch (const std::bad_alloc&) {
    return {.status = kUnusable,
            .verdict = "unusable",
            .words = "it needs more memory than there is",
            .error = CUDA_ERROR_OUT_OF_MEMORY};
  } catch (const std::exception& e) {
    return {.status = kModelBug,
            .verdict = "a bug in bitwell",
            .words = std::string("a bug in bitwell: ") + e.what(),
            .error = CUDA_ERROR_UNKNOWN,
            .lost = true};
  }
}

}  // namespace bitwell::driver
