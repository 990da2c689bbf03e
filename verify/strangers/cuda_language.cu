// C++ itself: calls through pointers, recursion, wide integers, arrays of a thread's own, printf, traps, fp64, complex arithmetic.
#include <cuda_pipeline.h>

#include <cuda/std/complex>
#include <cuda/std/span>

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Rectangle : Shape {
  float a, b;
  __device__ Rectangle(float x, float y) : a(x), b(y) {}
  __device__ float area() const override { return a * b; }
};

extern "C" __global__ void virtual_calls(const float* in, float* out) {
  const int i = threadIdx.x;
  const Square square(in[i]);
  const Rectangle rectangle(in[i], 2);
  const Shape* shape = i % 3 == 0 ? static_cast<const Shape*>(&square) : &rectangle;
  out[i] = shape->area();
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = ackermann(2, threadIdx.x % 8); }

extern "C" __global__ void wide_integers(const unsigned long long* a, const unsigned long long* b, unsigned long long* high,
                                         unsigned long long* quotient) {
  const int i = threadIdx.x;
  const unsigned __int128 product = static_cast<unsigned __int128>(a[i]) * b[i];
  high[i] = static_cast<unsigned long long>(product >> 64);
  quotient[i] = static_cast<unsigned long long>(product / (a[i] | 1));
}

// A thread's own array, indexed by data: insertion sort.
extern "C" __global__ void own_arrays(const int* in, int* out) {
  int v[16];
  for (int i = 0; i < 16; ++i) v[i] = in[threadIdx.x * 16 + i];
  for (int i = 1; i < 16; ++i)
    for (int j = i; j > 0 && v[j - 1] > v[j]; --j) {
      const int t = v[j];
      v[j] = v[j - 1];
      v[j - 1] = t;
    }
  for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = v[i];
}

extern "C" __global__ void printed(const int* in, int* out) {
  const int v = in[threadIdx.x];
  if (v < 0) __trap();
  if (threadIdx.x == 3) printf("thread %d has %d, %s, %.2f\n", 3, v, "and says so", v / 4.0);
  out[threadIdx.x] = v % 7;
}

extern "C" __global__ void doubles(const double* in, double* sum, double* roots) {
  const double v = in[threadIdx.x];
  atomicAdd(sum, v);
  roots[threadIdx.x] = sqrt(fabs(v)) / (1 + v * v);
}

extern "C" __global__ void mandelbrot(int* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const cuda::std::complex<float> c(x * 3.0f / width - 2, y * 2.0f / gridDim.y - 1);
  cuda::std::complex<float> z = 0;
  int n = 0;
  while (n < 20 && z.real() * z.real() + z.imag() * z.imag() < 4) {
    z = cuda::std::complex<float>(z.real() * z.real() - z.imag() * z.imag(), 2 * z.real() * z.imag()) + c;
    ++n;
  }
  out[y * width + x] = n;
}

// The pipeline of __pipeline_memcpy_async, three stages deep.
extern "C" __global__ void pipeline_primitives(const int4* in, int4* out, int stages) {
  __shared__ int4 buffer[3][32];
  int4 sum = make_int4(0, 0, 0, 0);
  for (int s = 0; s < stages + 2; ++s) {
    if (s < stages) __pipeline_memcpy_async(&buffer[s % 3][threadIdx.x], &in[s * 32 + threadIdx.x], 16);
    __pipeline_commit();
    if (s < 2) continue;
    __pipeline_wait_prior(2);
    const int4 v = buffer[(s - 2) % 3][threadIdx.x];
    sum = make_int4(sum.x + v.x, sum.y ^ v.y, max(sum.z, v.z), sum.w + __popc(v.w));
  }
  out[threadIdx.x] = sum;
}

// Intrinsics on integers, bytes and bits.
extern "C" __global__ void intrinsics(const unsigned* in, unsigned* out) {
  const unsigned v = in[threadIdx.x];
  unsigned r = __brev(v) ^ __byte_perm(v, ~v, 0x5410) ^ __funnelshift_l(v, ~v, 7) ^ __clz(v) ^ __ffs(v) << 8;
  r += __dp4a(static_cast<int>(v), 0x01020304, 5) ^ __vadd4(v, 0x01FF7F80) ^ __vmaxs2(v, 0x80007FFF) ^ __usad(v, 77u, 3u);
  out[threadIdx.x] = r ^ static_cast<unsigned>(__mulhi(static_cast<int>(v), 0x12345678)) ^ __umul24(v, 1234567u);
}
