// Where in CUDA source PTX comes from, as .loc says.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace bitwell::machine {

// A line of CUDA source, and of inlined code the lines that it was inlined at.
struct CudaLine {
  struct At {
    std::string file;  // as .file has it: a path
    int line;
    bool called = false;  // what stands before it is called from here, not inlined here

    std::string words() const;  // "gemm.cu:59": without its folders
  };
  std::vector<At>
      chain;          // never empty: innermost first, each inlined at the one behind it, or called from it
  std::string words;  // "mbarrier.cuh:46, from gemm.cu:59"; of a long chain the first ones and the last

  // The innermost in the folder of the outermost, or below: the kernel's own, where it calls into a library.
  const At& own() const;
  // Those that the words name, in that order.
  std::vector<const At*> named() const;
};
// nullptr: not known.
using CudaPlace = std::shared_ptr<const CudaLine>;

CudaPlace cuda_place(std::vector<CudaLine::At> chain);
// That place, which is called from these, the innermost first; either may be unknown.
CudaPlace called_from(const CudaPlace& place, const std::vector<CudaPlace>& callers);
// Its words; empty where it is not known.
const std::string& words_of(const CudaPlace& place);

}  // namespace bitwell::machine
