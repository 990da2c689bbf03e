#include <map>

#include "verify/capture/captures.h"
#include "verify/probe/async.h"
#include "verify/probe/recorded.h"
#include "verify/probe/tensor.h"
#include "verify/probe/wgmma.h"
#include "verify/prove/question.h"
#include "verify/verdict/judge.h"

namespace bitwell::prove {
namespace {

SharedText text_of(std::string ptx) { return std::make_shared<const isa::Module>(std::move(ptx)); }

Question one_launch(std::string name, const SharedText& text, std::function<launch::Launch()> launch) {
  return {std::move(name), [text, launch = std::move(launch)] {
            return std::vector<Trial>{{{{launch()}, {}}, {text}}};
          }};
}

constexpr size_t kModule = 256;  // probes a module: the driver compiles them together
constexpr uint64_t kSeed = 1;

}  // namespace

std::vector<Question> instruction_questions(const std::string& target) {
  const std::vector<probe::Probe> all = probe::probes(target);
  std::vector<Question> out;
  for (size_t first = 0; first < all.size(); first += kModule) {
    const std::vector<probe::Probe> some(
        all.begin() + static_cast<std::ptrdiff_t>(first),
        all.begin() + static_cast<std::ptrdiff_t>(std::min(first + kModule, all.size())));
    const SharedText text = text_of(probe::probe_module(some, target));
    for (const probe::Probe& p : some)
      out.push_back(one_launch(p.instruction, text, [p] { return probe::recorded_launch(p); }));
  }
  return out;
}

std::vector<Question> dot_product_questions() {
  std::vector<Question> out;
  for (const probe::TensorInstruction& i : probe::tensor_instructions()) {
    const SharedText text = text_of(probe::tensor_module(i));
    for (size_t regime = 0; regime < std::size(probe::kTensorRegimes); ++regime)
      out.push_back(one_launch(i.name + ", " + probe::kTensorRegimes[regime], text, [i, regime] {
        const auto tile = static_cast<size_t>(i.m * i.n);
        return probe::tensor_launch(
            i, probe::tensor_case(i, regime, std::max<size_t>(1, probe::kTensorRecorded / tile), kSeed));
      }));
  }
  return out;
}

std::vector<Question> descriptor_questions() {
  std::vector<Question> out;
  for (const probe::WgmmaVariant& v : probe::wgmma_variants())
    out.push_back(one_launch(v.name, text_of(probe::wgmma_module(v)),
                             [v] { return probe::wgmma_launch(v, probe::kWgmmaRecorded, kSeed); }));
  return out;
}

std::vector<Question> asynchronous_questions() {
  std::vector<Question> out;
  std::map<std::string, SharedText> texts;  // families share few
  for (const probe::AsyncFamily& family : probe::async_families())
    for (uint64_t seed = 1; seed <= probe::kAsyncRecorded; ++seed) {
      const std::string ptx = family.draw(seed).ptx;
      SharedText& text = texts[ptx];
      if (text == nullptr) text = text_of(ptx);
      out.push_back(one_launch(family.name + ", " + std::to_string(seed), text,
                               [family, seed] { return family.draw(seed).launch; }));
    }
  return out;
}

// What a device run records of a kernel: verdicts compare its digest.
std::vector<Question> kernel_questions(const std::string& target, const std::string& kernels) {
  std::vector<Question> out;
  for (const suite::Suite& suite : suite::suites()) {
    const auto texts = std::make_shared<std::map<std::string, SharedText>>();
    for (const suite::Kernel& kernel : suite.kernels) {
      if (!suite.judged_on(kernel, target)) continue;
      out.push_back({verdict::recorded_name(suite, kernel, false),
                     [&kernel, target, kernels, texts] {
                       std::vector<Trial> trials;
                       static std::mutex mutex;
                       for (const suite::PlannedCase& c : kernel.cases()) {
                         if (!c.recorded || c.full) continue;
                         const suite::DrawnCase drawn = c.draw();
                         Trial t{drawn.chain({kernels, target}), {}};
                         for (size_t b = 0; b < t.chain.launches.back().buffers.size(); ++b)
                           t.chain.launches.back().buffers[b].output = b == drawn.result;
                         const std::scoped_lock lock(mutex);
                         for (const launch::Launch& l : t.chain.launches) {
                           SharedText& text = (*texts)[l.ptx];
                           if (text == nullptr) text = text_of(launch::read_file(l.ptx));
                           t.texts.push_back(text);
                         }
                         trials.push_back(std::move(t));
                       }
                       return trials;
                     },
                     [&suite](const std::vector<std::vector<std::byte>>& results) {
                       return verdict::recorded_digest(suite, results);
                     }});
    }
  }
  return out;
}

std::vector<Part> parts(const std::string& kernels) {
  const auto of = [](const char* target) { return [target] { return instruction_questions(target); }; };
  const auto ordering = [](const char* target) { return [target] { return ordering_questions(target); }; };
  const auto own = [&](const char* target) {
    return [target, kernels] { return kernel_questions(target, kernels); };
  };
  return {
      {"instructions", "arithmetic and conversions, 65,536 operand tuples each", "sm_90a", 90, of("sm_90a")},
      {"dot products", "mma.sync and wgmma, every type, in seven regimes", "sm_90a", 90,
       dot_product_questions},
      {"matrix descriptors", "wgmma, random ones of every swizzle", "sm_90a", 90, descriptor_questions},
      {"kernels", "bitwell's own: GEMV, GEMM, quantiser", "sm_90a", 90, own("sm_90a")},
      {"ordering", "fences and waits of bulk copies, and what is open without, with delays", "sm_90a", 90,
       ordering("sm_90a")},
      {"asynchronous", "TMA, bulk copies, mbarriers, clusters", "sm_90a", 90, asynchronous_questions},
      {"instructions", "arithmetic and conversions, 65,536 operand tuples each", "sm_100a", 100,
       of("sm_100a")},
      {"tensor memory", "tcgen05.ld, st, cp and shift, by coordinates", "sm_100a", 100,
       tensor_memory_questions},
      {"tensor products", "tcgen05.mma: kinds, shapes, swizzles, scales, open corners", "sm_100a", 100,
       tensor_multiply_questions},
      {"ordering", "fences and waits of bulk copies, and what is open without, with delays", "sm_100a", 100,
       ordering("sm_100a")},
      {"kernels", "bitwell's own: GEMV, GEMMs, quantiser", "sm_100a", 100, own("sm_100a")},
      {"instructions", "arithmetic and conversions, 65,536 operand tuples each", "sm_120a", 120,
       of("sm_120a")},
      {"warp products", "mma.sync of every type: formats, scales, selectors, open corners", "sm_120a", 120,
       warp_multiply_questions},
      {"ordering", "fences and waits of bulk copies, and what is open without, with delays", "sm_120a", 120,
       ordering("sm_120a")},
      {"kernels", "bitwell's own: NVFP4 GEMM and GEMV", "sm_120a", 120, own("sm_120a")},
  };
}

}  // namespace bitwell::prove
