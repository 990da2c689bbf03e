#include "model/isa/compile/source_line.h"

#include <vector>

namespace bitwell::isa {

machine::CudaPlace cuda_place(const ptx::Module& module, const ptx::SourceLine& source) {
  std::vector<machine::CudaLine::At> chain;
  for (const ptx::SourceLine* at = &source;;) {
    const auto file = module.files.find(at->file);
    if (at->line > 0 && file != module.files.end()) chain.push_back({file->second, at->line});
    if (at->inlined_at < 0) break;
    at = &module.inlined_at[static_cast<size_t>(at->inlined_at)];
  }
  return chain.empty() ? nullptr : machine::cuda_place(std::move(chain));
}

}  // namespace bitwell::isa
