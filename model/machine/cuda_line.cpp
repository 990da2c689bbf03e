#include "model/machine/cuda_line.h"

#include <algorithm>

namespace bitwell::machine {
namespace {

constexpr size_t kMost = 5, kFirst = 3;  // places that words name: all, or the first ones and the last

}  // namespace

std::string CudaLine::At::words() const {
  const size_t slash = file.rfind('/');
  return file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(line);
}

const CudaLine::At& CudaLine::own() const {
  const std::string& outermost = chain.back().file;
  const std::string folder = outermost.substr(0, outermost.rfind('/') + 1);
  return *std::find_if(chain.begin(), chain.end() - 1,
                       [&](const At& at) { return at.file.starts_with(folder); });
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
    const char* const how = at->called ? "called from " : "from ";
    out.words += (out.words.empty() ? at->called ? how : "" : std::string(", ") + how) + at->words();
  }
  return std::make_shared<const CudaLine>(std::move(out));
}

CudaPlace called_from(const CudaPlace& place, const std::vector<CudaPlace>& callers) {
  std::vector<CudaLine::At> chain;
  if (place != nullptr) chain = place->chain;
  for (const CudaPlace& caller : callers) {
    if (caller == nullptr) continue;
    const size_t first = chain.size();
    chain.insert(chain.end(), caller->chain.begin(), caller->chain.end());
    chain[first].called = true;
  }
  return chain.empty() ? nullptr : cuda_place(std::move(chain));
}

const std::string& words_of(const CudaPlace& place) {
  static const std::string none;
  return place == nullptr ? none : place->words;
}

}  // namespace bitwell::machine
