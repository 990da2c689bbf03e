#include "experiments/gpu/cublas.h"

#include <cublasLt.h>
#include <dlfcn.h>

#include <array>
#include <vector>

#include "model/machine/failure.h"
#include "verify/device/timing.h"

namespace bitwell::gpu {
namespace {

constexpr size_t kWorkspace = size_t{64} << 20;
constexpr int kAlgorithms = 32;

struct Api {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtGetVersion) version;
  decltype(&cublasLtMatmulDescCreate) description_create;
  decltype(&cublasLtMatmulDescSetAttribute) description_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmul) matmul;
};

void check(cublasStatus_t s, const char* what) {
  if (s != CUBLAS_STATUS_SUCCESS)
    throw machine::InputError(std::string("cuBLAS: ") + what + " failed with status " + std::to_string(s));
}

}  // namespace

struct Cublas::Impl {
  Impl(const device::Device& d) : device(d), workspace(d, kWorkspace, "cuBLAS workspace") {}
  Api api{};
  const device::Device& device;
  device::DeviceMemory workspace;
  cublasLtHandle_t handle = nullptr;
  std::string version;
};

class Cublas::Plan {
 public:
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;  // as cuBLAS names them: column-major
  cublasLtMatmulAlgo_t best{};
};

std::unique_ptr<Cublas> Cublas::open(const device::Device& device, std::string& why) {
  void* library = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so", "/usr/local/cuda/lib64/libcublasLt.so",
                           "/usr/local/cuda/targets/x86_64-linux/lib/libcublasLt.so.13"})
    if (library == nullptr) library = dlopen(name, RTLD_NOW);
  if (library == nullptr) {
    why = "no libcublasLt.so.13 on this machine (LD_LIBRARY_PATH may name its folder)";
    return nullptr;
  }
  auto impl = std::make_unique<Impl>(device);
  bool all = true;
  const auto find = [&](auto& f, const char* name) {
    f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(library, name));
    all = all && f != nullptr;
  };
  find(impl->api.create, "cublasLtCreate");
  find(impl->api.destroy, "cublasLtDestroy");
  find(impl->api.version, "cublasLtGetVersion");
  find(impl->api.description_create, "cublasLtMatmulDescCreate");
  find(impl->api.description_set, "cublasLtMatmulDescSetAttribute");
  find(impl->api.layout_create, "cublasLtMatrixLayoutCreate");
  find(impl->api.layout_set, "cublasLtMatrixLayoutSetAttribute");
  find(impl->api.preference_create, "cublasLtMatmulPreferenceCreate");
  find(impl->api.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  find(impl->api.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(impl->api.matmul, "cublasLtMatmul");
  if (!all) {
    why = "libcublasLt lacks an entry point";
    return nullptr;
  }
  check(impl->api.create(&impl->handle), "creating a handle");
  impl->version = std::to_string(impl->api.version());
  return std::unique_ptr<Cublas>(new Cublas(std::move(impl)));
}

Cublas::Cublas(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cublas::~Cublas() {
  if (impl_ != nullptr) impl_->api.destroy(impl_->handle);
}
const std::string& Cublas::version() const { return impl_->version; }

std::shared_ptr<Cublas::Plan> Cublas::plan(const Fp16Gemm& s, uint64_t a, uint64_t b, uint64_t d) {
  const Api& api = impl_->api;
  auto plan = std::make_shared<Plan>();
  check(api.description_create(&plan->description, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing the product");
  // Row-major d = a b^T is column-major d^T = b a^T, with b's rows as columns of k.
  const cublasOperation_t transpose = CUBLAS_OP_T;
  check(api.description_set(plan->description, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose),
        "describing the product");
  const auto layout = [&](cublasLtMatrixLayout_t& out, int rows, int columns) {
    check(api.layout_create(&out, CUDA_R_16F, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                            rows),
          "describing a matrix");
    const int64_t stride = static_cast<int64_t>(rows) * columns;
    check(api.layout_set(out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &s.l, sizeof s.l), "describing a batch");
    check(api.layout_set(out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
          "describing a batch");
  };
  layout(plan->a, s.k, s.n);
  layout(plan->b, s.k, s.m);
  layout(plan->d, s.n, s.m);
  cublasLtMatmulPreference_t preference = nullptr;
  check(api.preference_create(&preference), "asking for algorithms");
  check(api.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                           sizeof kWorkspace),
        "asking for algorithms");
  std::array<cublasLtMatmulHeuristicResult_t, kAlgorithms> offered{};
  int count = 0;
  check(api.heuristic(impl_->handle, plan->description, plan->a, plan->b, plan->d, plan->d, preference,
                      kAlgorithms, offered.data(), &count),
        "asking for algorithms");
  double least = 0;
  for (int i = 0; i < count; ++i) {
    if (offered[static_cast<size_t>(i)].state != CUBLAS_STATUS_SUCCESS) continue;
    Plan candidate = *plan;
    candidate.best = offered[static_cast<size_t>(i)].algo;
    const double us =
        device::time_on(
            impl_->device, [&](size_t, void* stream) { enqueue(candidate, a, b, d, stream); }, 8, 5)
            .median;
    if (least == 0 || us < least) {
      least = us;
      plan->best = candidate.best;
    }
  }
  if (least == 0) throw machine::InputError("cuBLAS offers no algorithm for this shape");
  return plan;
}

void Cublas::enqueue(const Plan& p, uint64_t a, uint64_t b, uint64_t d, void* stream) const {
  const float one = 1;
  const float zero = 0;
  const auto at = [](uint64_t address) { return reinterpret_cast<void*>(address); };
  check(impl_->api.matmul(impl_->handle, p.description, &one, at(b), p.a, at(a), p.b, &zero, at(d), p.d,
                          at(d), p.d, &p.best, at(impl_->workspace.address()), kWorkspace,
                          static_cast<cudaStream_t>(stream)),
        "the product");
}

}  // namespace bitwell::gpu
