#include "verify/yardsticks/yardsticks.h"

#include "kernels/dense/launch.h"
#include "kernels/dual/launch.h"
#include "kernels/grouped/launch.h"
#include "kernels/svdquant/launch.h"
#include "verify/suite/kernels/dense.h"
#include "verify/suite/kernels/dual.h"
#include "verify/suite/kernels/gemm.h"
#include "verify/suite/kernels/gemv.h"
#include "verify/suite/kernels/grouped.h"
#include "verify/suite/kernels/grouped_wgmma.h"
#include "verify/suite/kernels/quantise.h"
#include "verify/suite/kernels/svdquant.h"

namespace bitwell::yardsticks {
namespace {

constexpr uint64_t kSeed = 4101;

suite::Build hopper(const std::string& kernels) { return {kernels, "sm_90a"}; }
suite::Build blackwell(const std::string& kernels) { return {kernels, "sm_100a"}; }

suite::Chain gemm(const std::string& kernels, const char* name) {
  const suite::GemmProblem problem({256, 256, 1024, 1, suite::OperandData::moderate, 2, 0, kSeed});
  return problem.chain(suite::gemm_variant(name), hopper(kernels));
}

// What makes fp16 of A for it.
suite::Chain decode(const std::string& kernels) {
  suite::Chain out = gemm(kernels, "gemm_m128_split1_f16");
  return {{std::move(out.launches.front())}, {}};
}

suite::Chain dense_of(const std::string& kernels, const char* name) {
  suite::DenseCase spec{256, 512, 2048, 1, suite::OperandData::moderate, kSeed};
  const dense::Variant v = dense::variant(name);
  spec.clusters = 148 / v.cluster();  // an SM of a B200 for each CTA
  return {{suite::DenseProblem(spec).launch(v, blackwell(kernels))}, {}};
}

suite::Chain dual_of(const std::string& kernels) {
  const suite::DualProblem problem({256, 256, 1024, 1, suite::OperandData::moderate, kSeed});
  return {{problem.launch(dual::variant("dual_n128"), blackwell(kernels))}, {}};
}

suite::GroupedProblem groups() {
  return suite::GroupedProblem(
      {{80, 128, 256}, {384, 256, 128}, {256, 512, 256}, suite::OperandData::moderate, kSeed});
}

suite::Chain svdquant_of(const std::string& kernels) {
  const suite::SvdquantProblem problem({256, 256, 1024, 64, suite::OperandData::moderate, kSeed}, false);
  return {{problem.launch(svdquant::variant("svdquant_ordered"), blackwell(kernels))}, {}};
}

suite::Chain gemv(const std::string& kernels, const char* name) {
  const suite::GemvProblem problem(
      {128, 4096, 1, suite::OperandData::moderate, suite::ScaleLayout::blocked, kSeed});
  return {{problem.launch(suite::gemv_rung(name), hopper(kernels).file(std::string("gemv/") + name))}, {}};
}

// An entry of kernels/peer/block_sums.cu by 64 CTAs: `bytes` of numbers a thread, `results` of 4 bytes.
suite::Chain block_sums(const std::string& kernels, const char* entry, size_t element, size_t results) {
  constexpr size_t kCtas = 64, kThreads = 256, kEach = 16;
  launch::Launch out;
  out.ptx = hopper(kernels).file("peer/block_sums");
  out.entry = entry;
  out.shape.grid = {kCtas, 1, 1};
  out.shape.block = {kThreads, 1, 1};
  launch::Buffer x;
  x.name = "x";
  x.bytes.resize(kCtas * kThreads * kEach * element);
  for (size_t i = 0; i < x.bytes.size(); ++i) x.bytes[i] = static_cast<std::byte>(i % 64);
  x.read_only = true;
  out.add_buffer(std::move(x));
  launch::Buffer sums;
  sums.name = "results";
  sums.bytes.resize(4 * results);
  out.add_buffer(std::move(sums));
  out.add_scalar(static_cast<int>(kEach));
  return {{std::move(out)}, {}};
}

std::vector<Yardstick> all() {
  std::vector<Yardstick> out;
  const auto gemms = [&](const std::string& name, auto chain) { out.push_back({name, false, chain}); };
  const auto simt = [&](const std::string& name, auto chain) { out.push_back({name, true, chain}); };
  using Folder = const std::string&;
  gemms("gemm_m128_split1_f16 256x256x1024", [](Folder f) { return gemm(f, "gemm_m128_split1_f16"); });
  gemms("dense_m128_n256 256x512x2048", [](Folder f) { return dense_of(f, "dense_m128_n256"); });
  gemms("dense_m256_n256 256x512x2048", [](Folder f) { return dense_of(f, "dense_m256_n256"); });
  gemms("dual_n128 256x256x1024", dual_of);
  gemms("grouped_warps_4 of 3 groups", [](Folder f) {
    const suite::GroupedProblem problem = groups();
    return suite::Chain{
        {problem.launch(grouped::variant("grouped_warps_4"), blackwell(f), problem.metadata())}, {}};
  });
  gemms("grouped_wgmma of 3 groups",
        [](Folder f) { return suite::grouped_wgmma_chain(groups(), hopper(f), 8); });
  gemms("svdquant_ordered 256x256x1024", svdquant_of);
  simt("gemm_decode 256x1024", decode);
  for (const char* rung : {"naive", "fused", "split_k_shared", "streamed"})
    simt(std::string("gemv_") + rung + " 128x4096", [rung](Folder f) { return gemv(f, rung); });
  simt("quantise_torchao 256x2048", [](Folder f) {
    return suite::QuantiseProblem({256, 2048, suite::TensorData::normal, kSeed})
        .chain("quantise_torchao", hopper(f));
  });
  simt("block_sums 64x256x16", [](Folder f) { return block_sums(f, "block_sums", 4, 64); });
  simt("histogram 64x256x16", [](Folder f) { return block_sums(f, "histogram", 1, 256); });
  return out;
}

}  // namespace

const std::vector<Yardstick>& yardsticks() {
  static const std::vector<Yardstick> out = all();
  return out;
}

YardstickRun::YardstickRun(const Yardstick& yardstick, const std::string& kernels)
    : chain_(yardstick.chain(kernels)) {
  for (const launch::Launch& l : chain_.launches) {
    const std::vector<int> lines =
        readings_.of(modules_(l)->program(l.entry, l.approximate)).registers.lines();
    lines_.insert(lines_.end(), lines.begin(), lines.end());
  }
}

void YardstickRun::run(findings::Watch* watch, const machine::Observer& told,
                       const std::function<void()>& last_begins) {
  run::Options options;
  if (watch != nullptr) options.observers.push_back(told);
  size_t begun = 0;
  const auto begins = [&](const launch::Launch& l, const findings::SharedModule&,
                          const findings::SharedProgram& program) {
    if (watch != nullptr) {
      watch->begin(*program, l.shape);
      watch->follow(readings_.of(program));
    }
    if (++begun == run_.launches.size() && last_begins) last_begins();
  };
  suite::simulate(run_, std::ref(modules_), options, false, begins);
}

}  // namespace bitwell::yardsticks
