// What the driver writes into the 128 bytes of a tensor map, over all its arguments, one at a time and at
// random: the capture from which the format was read. It goes to $BITWELL_CAPTURES/tensor_maps.txt.xz, or to
// standard output.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include "gpu.h"
#include "verify/capture/packed.h"

namespace bitwell::device {
namespace {

struct Arguments {
  uint64_t type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, rank = 2, address = 0x7F8561E00000;
  std::array<uint64_t, 5> dims{256, 64, 8, 4, 2};
  std::array<uint64_t, 4> strides{512, 32768, 262144, 1048576};
  std::array<uint64_t, 5> box{64, 8, 1, 1, 1};
  std::array<uint64_t, 5> element_strides{1, 1, 1, 1, 1};
  uint64_t interleave = 0, swizzle = CU_TENSOR_MAP_SWIZZLE_128B, promotion = 0, fill = 0;
  // Of im2col and im2col wide.
  std::array<int64_t, 3> lower{-1, -1, -1}, upper{-1, -1, -1};
  uint64_t channels = 64, pixels = 32, wide_mode = 0;
};

// A field of the arguments by name, and the values that it takes in turn.
struct Field {
  std::string name;
  void (*set)(Arguments&, size_t at, int64_t value);
  size_t count;  // of its elements
  std::vector<int64_t> values;
};

std::vector<int64_t> powers(int first, int last, int64_t off) {
  std::vector<int64_t> out;
  for (int n = first; n <= last; ++n) out.push_back((int64_t{1} << n) + off);
  return out;
}

std::vector<int64_t> range(int64_t first, int64_t last) {
  std::vector<int64_t> out;
  for (int64_t v = first; v <= last; ++v) out.push_back(v);
  return out;
}

const std::vector<Field>& fields() {
  using A = Arguments;
  using V = int64_t;
  static const std::vector<Field> all{
      {"type", [](A& a, size_t, V v) { a.type = static_cast<uint64_t>(v); }, 1, range(0, 15)},
      {"rank", [](A& a, size_t, V v) { a.rank = static_cast<uint64_t>(v); }, 1, range(1, 5)},
      {"address", [](A& a, size_t, V v) { a.address = static_cast<uint64_t>(v); }, 1, powers(4, 56, 0)},
      {"dims", [](A& a, size_t i, V v) { a.dims[i] = static_cast<uint64_t>(v); }, 5, powers(0, 32, 0)},
      {"dims", [](A& a, size_t i, V v) { a.dims[i] = static_cast<uint64_t>(v); }, 5, powers(0, 31, 1)},
      {"strides", [](A& a, size_t i, V v) { a.strides[i] = static_cast<uint64_t>(v); }, 4, powers(4, 39, 0)},
      {"box", [](A& a, size_t i, V v) { a.box[i] = static_cast<uint64_t>(v); }, 5, powers(0, 8, 0)},
      {"box",
       [](A& a, size_t i, V v) { a.box[i] = static_cast<uint64_t>(v); },
       5,
       {3, 5, 17, 33, 65, 129, 255}},
      {"element_strides", [](A& a, size_t i, V v) { a.element_strides[i] = static_cast<uint64_t>(v); }, 5,
       range(1, 8)},
      {"interleave", [](A& a, size_t, V v) { a.interleave = static_cast<uint64_t>(v); }, 1, range(0, 2)},
      {"swizzle", [](A& a, size_t, V v) { a.swizzle = static_cast<uint64_t>(v); }, 1, range(0, 6)},
      {"promotion", [](A& a, size_t, V v) { a.promotion = static_cast<uint64_t>(v); }, 1, range(0, 3)},
      {"fill", [](A& a, size_t, V v) { a.fill = static_cast<uint64_t>(v); }, 1, range(0, 1)},
      {"lower",
       [](A& a, size_t i, V v) { a.lower[i] = v; },
       3,
       {-128, -16, -8, -3, -2, -1, 0, 1, 7, 15, 127}},
      {"upper",
       [](A& a, size_t i, V v) { a.upper[i] = v; },
       3,
       {-128, -16, -8, -3, -2, -1, 0, 1, 7, 15, 127}},
      {"channels", [](A& a, size_t, V v) { a.channels = static_cast<uint64_t>(v); }, 1, powers(3, 8, 0)},
      {"pixels", [](A& a, size_t, V v) { a.pixels = static_cast<uint64_t>(v); }, 1, powers(0, 10, 0)},
      {"wide_mode", [](A& a, size_t, V v) { a.wide_mode = static_cast<uint64_t>(v); }, 1, range(0, 1)}};
  return all;
}

template <class T, size_t n>
std::array<T, n> as(const auto& values) {
  std::array<T, n> out;
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<T>(values[i]);
  return out;
}

struct Encoders {
  decltype(&cuTensorMapEncodeTiled) tiled;
  decltype(&cuTensorMapEncodeIm2col) im2col;
#if CUDA_VERSION >= 12080
  decltype(&cuTensorMapEncodeIm2colWide) wide;
#endif
};

CUresult encode(const Encoders& with, const std::string& mode, const Arguments& a, CUtensorMap& map) {
  const auto dims = as<cuuint64_t, 5>(a.dims);
  const auto strides = as<cuuint64_t, 4>(a.strides);
  const auto box = as<cuuint32_t, 5>(a.box), steps = as<cuuint32_t, 5>(a.element_strides);
  const auto lower = as<int, 3>(a.lower), upper = as<int, 3>(a.upper);
  const auto type = static_cast<CUtensorMapDataType>(a.type);
  const auto rank = static_cast<cuuint32_t>(a.rank);
  auto* const address = reinterpret_cast<void*>(a.address);
  const auto interleave = static_cast<CUtensorMapInterleave>(a.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(a.swizzle);
  const auto promotion = static_cast<CUtensorMapL2promotion>(a.promotion);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(a.fill);
  const auto channels = static_cast<cuuint32_t>(a.channels), pixels = static_cast<cuuint32_t>(a.pixels);
  if (mode == "tiled")
    return with.tiled(&map, type, rank, address, dims.data(), strides.data(), box.data(), steps.data(),
                      interleave, swizzle, promotion, fill);
  if (mode == "im2col")
    return with.im2col(&map, type, rank, address, dims.data(), strides.data(), lower.data(), upper.data(),
                       channels, pixels, steps.data(), interleave, swizzle, promotion, fill);
#if CUDA_VERSION >= 12080
  if (with.wide != nullptr)
    return with.wide(&map, type, rank, address, dims.data(), strides.data(), lower[0], upper[0], channels,
                     pixels, steps.data(), interleave, static_cast<CUtensorMapIm2ColWideMode>(a.wide_mode),
                     swizzle, promotion, fill);
#endif
  return CUDA_ERROR_NOT_FOUND;
}

template <class T>
std::string list(const T& values) {
  std::string out;
  for (const auto v : values) out += (out.empty() ? "" : ",") + std::to_string(v);
  return out;
}

// One line: the mode, every argument, and the bytes in hexadecimal or the driver's refusal.
std::string line(const Encoders& with, const std::string& mode, const Arguments& a) {
  alignas(64) CUtensorMap map{};
  const CUresult result = encode(with, mode, a, map);
  std::string out = mode + " type " + std::to_string(a.type) + " rank " + std::to_string(a.rank) +
                    " address " + std::to_string(a.address) + " dims " + list(a.dims) + " strides " +
                    list(a.strides) + " element_strides " + list(a.element_strides);
  if (mode == "tiled")
    out += " box " + list(a.box);
  else
    out += " lower " + list(a.lower) + " upper " + list(a.upper) + " channels " + std::to_string(a.channels) +
           " pixels " + std::to_string(a.pixels) + " wide_mode " + std::to_string(a.wide_mode);
  out += " interleave " + std::to_string(a.interleave) + " swizzle " + std::to_string(a.swizzle) +
         " promotion " + std::to_string(a.promotion) + " fill " + std::to_string(a.fill) + " : ";
  if (result != CUDA_SUCCESS) return out + "error " + std::to_string(result);
  for (const uint64_t word : map.opaque) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(__builtin_bswap64(word)));
    out += text;
  }
  return out;
}

TEST(TensorMapBytes, OfTheDriverOverAllArguments) {
  BITWELL_NEEDS_GPU(device);
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  Encoders with{};
  find(with.tiled, "cuTensorMapEncodeTiled");
  find(with.im2col, "cuTensorMapEncodeIm2col");
#if CUDA_VERSION >= 12080
  find(with.wide, "cuTensorMapEncodeIm2colWide");
#endif
  ASSERT_NE(with.tiled, nullptr);
  ASSERT_NE(with.im2col, nullptr);
  std::set<std::string> lines;
  for (const std::string mode : {"tiled", "im2col", "im2col_wide"})
    for (const uint64_t rank : {1, 2, 3, 4, 5}) {
      Arguments base;
      base.rank = rank;
      lines.insert(line(with, mode, base));
      for (const Field& f : fields())
        for (size_t at = 0; at < f.count; ++at)
          for (const int64_t v : f.values) {
            Arguments a = base;
            f.set(a, at, v);
            lines.insert(line(with, mode, a));
          }
      std::mt19937_64 random(rank);
      for (int n = 0; n < 400; ++n) {
        Arguments a = base;
        for (int changes = 0; changes < 4; ++changes) {
          const Field& f = fields()[random() % fields().size()];
          f.set(a, random() % f.count, f.values[random() % f.values.size()]);
        }
        lines.insert(line(with, mode, a));
      }
    }
  const char* const folder = std::getenv("BITWELL_CAPTURES");
  std::string text = "# " + device->name() + ", driver " + device->driver() + "\n";
  for (const std::string& l : lines) text += l + "\n";
  if (folder == nullptr)
    std::fputs(text.c_str(), stdout);
  else
    capture::write_packed(std::string(folder) + "/tensor_maps.txt.xz", "the tensor maps", text);
}

}  // namespace
}  // namespace bitwell::device
