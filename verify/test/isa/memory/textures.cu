// Textures and surfaces as nvcc compiles them, each thread at coordinates that it is given.
#include <cstdint>

namespace {

__device__ uint32_t i() { return threadIdx.x; }

}  // namespace

extern "C" __global__ void tex_1d(cudaTextureObject_t t, const float* x, float* out) { out[i()] = tex1D<float>(t, x[i()]); }
extern "C" __global__ void tex_1d_fetch(cudaTextureObject_t t, const int* x, float* out) {
  out[i()] = tex1Dfetch<float>(t, x[i()]);
}
extern "C" __global__ void tex_2d(cudaTextureObject_t t, const float* x, const float* y, float4* out) {
  out[i()] = tex2D<float4>(t, x[i()], y[i()]);
}
extern "C" __global__ void tex_2d_byte(cudaTextureObject_t t, const float* x, const float* y, int* out) {
  out[i()] = tex2D<signed char>(t, x[i()], y[i()]);
}
extern "C" __global__ void tex_3d(cudaTextureObject_t t, const float* x, const float* y, const float* z, uint16_t* out) {
  out[i()] = tex3D<unsigned short>(t, x[i()], y[i()], z[i()]);
}
extern "C" __global__ void tex_layers(cudaTextureObject_t one, cudaTextureObject_t two, const float* x, const float* y,
                                      const int* layer, int* out) {
  out[i()] = tex1DLayered<int>(one, x[i()], layer[i()]) + 1000 * tex2DLayered<int>(two, x[i()], y[i()], layer[i()]);
}
extern "C" __global__ void tex_second(cudaTextureObject_t t, const float* x, float* out) {
  out[i()] = tex1D<float2>(t, x[i()]).y;
}

// y[row, byte] of a surface, from another.
extern "C" __global__ void surf_copy_2d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, const int* x, const int* y) {
  int v;
  surf2Dread(&v, from, x[i()], y[i()]);
  surf2Dwrite(v + 1, to, x[i()], y[i()]);
}
extern "C" __global__ void surf_zero_2d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, const int* x, const int* y,
                                        int* out) {
  out[i()] = surf2Dread<int>(from, x[i()], y[i()], cudaBoundaryModeZero);
  surf2Dwrite(7, to, x[i()], y[i()], cudaBoundaryModeZero);
}
extern "C" __global__ void surf_clamp_2d(cudaSurfaceObject_t from, const int* x, const int* y, int* out) {
  out[i()] = surf2Dread<int>(from, x[i()], y[i()], cudaBoundaryModeClamp);
}
extern "C" __global__ void surf_3d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, const int* x, const int* y,
                                   const int* z) {
  surf3Dwrite(surf3Dread<ushort2>(from, x[i()], y[i()], z[i()]), to, x[i()], y[i()], z[i()]);
}
extern "C" __global__ void surf_layers(cudaSurfaceObject_t one, cudaSurfaceObject_t two, const int* x, const int* y,
                                       const int* layer) {
  const auto v = surf1DLayeredread<unsigned char>(one, x[i()], layer[i()]);
  surf2DLayeredwrite(v, two, x[i()], y[i()], layer[i()]);
}
