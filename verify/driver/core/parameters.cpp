#include "verify/driver/core/parameters.h"

#include "verify/driver/core/refused.h"
#include "verify/launch/file/names.h"

namespace bitwell::driver {

std::vector<std::vector<std::byte>> parameters_of(const isa::Program& program, const std::string& kernel,
                                                  void* const* parameters) {
  const auto& all = program.functions[static_cast<size_t>(program.entry)].params;
  if (!all.empty() && parameters == nullptr)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "kernel " + launch::as_written(kernel) + " has " +
                                                std::to_string(all.size()) + " parameters, none is given");
  std::vector<std::vector<std::byte>> out;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto* from = static_cast<const std::byte*>(parameters[i]);
    if (from == nullptr)
      throw Refused(CUDA_ERROR_INVALID_VALUE, "parameter " + std::to_string(i) + " of kernel " +
                                                  launch::as_written(kernel) + " is NULL");
    out.emplace_back(from, from + all[i].size);
  }
  return out;
}

std::vector<std::vector<std::byte>> parameters_of(const isa::Program& program, const std::string& kernel,
                                                  std::span<const std::byte> buffer) {
  const auto& all = program.functions[static_cast<size_t>(program.entry)].params;
  const uint64_t need = all.empty() ? 0 : all.back().offset + all.back().size;
  if (buffer.size() < need)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "kernel " + launch::as_written(kernel) + " takes " +
                                                std::to_string(need) + " bytes of parameters, " +
                                                std::to_string(buffer.size()) + " are given");
  std::vector<std::vector<std::byte>> out;
  for (const auto& p : all) {
    const auto part = buffer.subspan(p.offset, p.size);
    out.emplace_back(part.begin(), part.end());
  }
  return out;
}

// Refused for what else it may say.
std::span<const std::byte> buffer_of(void** extra) {
  const std::byte* bytes = nullptr;
  const size_t* size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      bytes = static_cast<const std::byte*>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const size_t*>(extra[1]);
    else
      throw Refused(CUDA_ERROR_INVALID_VALUE, "extra has a key that CUDA has not");
  }
  if (bytes == nullptr || size == nullptr)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "extra lacks the buffer or its size");
  return {bytes, *size};
}

}  // namespace bitwell::driver
