#!/usr/bin/env python3
"""Kernels in tilelang, launched by its own runtime: tilelang_programs.py NAME. What it computes is compared with sums in fp64.

Beside bitwell's libraries (`bitwell capture`) no GPU is needed; torch only copies. tilelang takes nvcc from CUDA_HOME.
"""
import sys

import tilelang
import tilelang.language as T
import torch


@tilelang.jit(out_idx=[-1])
def matmul(m, n, k, tile_m, tile_n, tile_k, stages):
    @T.prim_func
    def main(a: T.Tensor((m, k), "float16"), b: T.Tensor((k, n), "float16"), c: T.Tensor((m, n), "float16")):
        with T.Kernel(T.ceildiv(n, tile_n), T.ceildiv(m, tile_m), threads=128) as (x, y):
            of_a, of_b = T.alloc_shared((tile_m, tile_k), "float16"), T.alloc_shared((tile_k, tile_n), "float16")
            sums = T.alloc_fragment((tile_m, tile_n), "float32")
            T.clear(sums)
            for step in T.Pipelined(T.ceildiv(k, tile_k), num_stages=stages):
                T.copy(a[y * tile_m, step * tile_k], of_a)
                T.copy(b[step * tile_k, x * tile_n], of_b)
                T.gemm(of_a, of_b, sums)
            T.copy(sums, c[y * tile_m, x * tile_n])

    return main


@tilelang.jit(out_idx=[-1])
def rms_norm(rows, columns, tile):
    @T.prim_func
    def main(x: T.Tensor((rows, columns), "float32"), y: T.Tensor((rows, columns), "float32")):
        with T.Kernel(T.ceildiv(rows, tile), threads=128) as at:
            whole, squares = T.alloc_fragment((tile, columns), "float32"), T.alloc_fragment((tile, columns), "float32")
            sums = T.alloc_fragment((tile,), "float32")
            T.copy(x[at * tile:(at + 1) * tile, :], whole)
            for i, j in T.Parallel(tile, columns):
                squares[i, j] = whole[i, j] * whole[i, j]
            T.reduce_sum(squares, sums, dim=1)
            for i in T.Parallel(tile):
                sums[i] = T.rsqrt(sums[i] / columns + 1e-6)
            for i, j in T.Parallel(tile, columns):
                whole[i, j] *= sums[i]
            T.copy(whole, y[at * tile:(at + 1) * tile, :])

    return main


def run_matmul():
    a, b = torch.randn(256, 192).half(), torch.randn(192, 256).half()
    return matmul(256, 256, 192, 128, 128, 64, 3)(a.cuda(), b.cuda()), a.double() @ b.double()


def run_rms_norm():
    x = torch.randn(32, 512)
    wide = x.double()
    return rms_norm(32, 512, 4)(x.cuda()), wide * (wide.square().mean(-1, keepdim=True) + 1e-6).rsqrt()


def main():
    torch.manual_seed(1)
    given, wanted = {"matmul": run_matmul, "rms_norm": run_rms_norm}[sys.argv[1]]()
    worst = ((given.cpu().double() - wanted).abs().max() / wanted.abs().max()).item()
    print(f"worst error: {worst:.1e} of the largest\n{'PASSED' if worst < 2**-10 else 'FAILED'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
