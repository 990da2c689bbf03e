#include "model/machine/cuda_line.h"

namespace bitwell::machine {
namespace {

constexpr size_t kMost = 5, kFirst = 3;  // places that words name: all, or the first ones and the last

}  // namespace

std::string CudaLine::At::words() const {
  const size_t slash = file.rfind('/');
  return file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(line);
}

std::vector<const CudaLine::At*> CudaLine::named() const {
  std::vector<const At*> out;
  for (size_t i = 0; i < chain.size(); ++i)
    if (chain.size() <= kMost || i < kFirst || i + 1 == chain.size()) out.push_back(&chain[i]);
  return out;
}

CudaPlace cuda_place(std::vector<CudaLine::At> chain) {
  CudaLine out{std::move(chain), ""};
  const size_t left_out = out.chain.size() - out.named().size();
  for (const CudaLine::At* at : out.named()) {
    if (left_out != 0 && at == &out.chain.back()) out.words += ", from " + std::to_string(left_out) + " more";
    out.words += (out.words.empty() ? "" : ", from ") + at->words();
  }
  return std::make_shared<const CudaLine>(std::move(out));
}

const std::string& words_of(const CudaPlace& place) {
  static const std::string none;
  return place == nullptr ? none : place->words;
}

}  // namespace bitwell::machine
