"""Kernels in Triton whose products go to the tensor cores: mma.sync, wgmma or tcgen05, as Triton chooses."""
import numpy as np
import triton
import triton.language as tl

from case import In, Out, bf16, e4m3, kernel, random, whole
from triton_compile import Descriptor, compiled


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    at = a + m[:, None] * K + k[None, :]
    bt = b + k[:, None] * N + n[None, :]
    total = tl.zeros((BM, BN), dtype=tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(at), tl.load(bt), total, input_precision=PRECISION)
        at += BK
        bt += BK * N
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty))


def product(arch, a, b, c, blocks, precision="tf32", **options):
    (M, K), N = a.array.shape, b.array.shape[1]
    constants = dict(zip(("BM", "BN", "BK"), blocks)) | {"PRECISION": precision}
    return compiled(arch, matmul, (M // blocks[0], N // blocks[1]), constants=constants, options=options,
                    a=a, b=b, c=c, M=M, N=N, K=K)


@kernel("triton_matmul_f16")
def _(arch):
    a, b = whole(128, 128).astype(np.float16), whole(128, 128, seed=2).astype(np.float16)
    return product(arch, In(a), In(b), Out(a.astype(np.float32) @ b.astype(np.float32)), (128, 64, 64))


@kernel("triton_matmul_f16_inexact")
def _(arch):
    a, b = random(64, 256).astype(np.float16), random(256, 64, seed=2).astype(np.float16)
    return product(arch, In(a), In(b), Out(a.astype(np.float64) @ b.astype(np.float64), "f4", rtol=1e-4, atol=1e-3), (64, 64, 64))


@kernel("triton_matmul_small")
def _(arch):
    a, b = whole(32, 64).astype(np.float16), whole(64, 32, seed=2).astype(np.float16)
    return product(arch, In(a), In(b), Out(a.astype(np.float32) @ b.astype(np.float32)), (16, 16, 32))


@kernel("triton_matmul_bf16")
def _(arch):
    a, b = whole(128, 64), whole(64, 128, seed=2)
    return product(arch, In(a, "bf16"), In(b, "bf16"), Out(bf16(a @ b), format="bf16"), (64, 128, 32), num_stages=2)


@kernel("triton_matmul_tf32")
def _(arch):
    a, b = whole(64, 64), whole(64, 64, seed=2)
    return product(arch, In(a), In(b), Out(a @ b), (64, 64, 32))


@kernel("triton_matmul_3xtf32")
def _(arch):
    a, b = random(64, 64), random(64, 64, seed=2)
    return product(arch, In(a), In(b), Out(a.astype(np.float64) @ b, "f4", rtol=1e-5, atol=1e-4), (64, 64, 32), "tf32x3")


@kernel("triton_matmul_ieee")
def _(arch):
    a, b = random(32, 32), random(32, 32, seed=2)
    return product(arch, In(a), In(b), Out(a.astype(np.float64) @ b, "f4", rtol=1e-5, atol=1e-5), (32, 32, 32), "ieee")


@kernel("triton_matmul_fp8")
def _(arch):
    a, b = whole(128, 128, below=8), whole(128, 64, below=8, seed=2)
    return product(arch, In(a, "e4m3"), In(b, "e4m3"), Out(a @ b), (128, 64, 64))


@kernel("triton_matmul_int8")
def _(arch):
    r = np.random.default_rng(3)
    a, b = r.integers(-128, 128, (64, 128)).astype(np.int8), r.integers(-128, 128, (128, 64)).astype(np.int8)
    return product(arch, In(a), In(b), Out(a.astype(np.int32) @ b.astype(np.int32)), (64, 64, 64))


@kernel("triton_matmul_clusters")
def _(arch):
    a, b = whole(128, 64).astype(np.float16), whole(64, 128, seed=2).astype(np.float16)
    return product(arch, In(a), In(b), Out(a.astype(np.float32) @ b.astype(np.float32)), (128, 128, 32), num_ctas=2)


@triton.jit
def described_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ROLES: tl.constexpr):
    ad = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    bd = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    cd = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=ROLES):
        total = tl.dot(ad.load([m, k]), bd.load([n, k]).T, total)
    cd.store([m, n], total.to(tl.float16))


def described(arch, M, N, K, blocks, roles):
    a, b = whole(M, K).astype(np.float16), whole(N, K, seed=2).astype(np.float16)
    c = a.astype(np.float32) @ b.astype(np.float32).T
    return compiled(arch, described_matmul, (-(-M // blocks[0]), -(-N // blocks[1])),
                    constants=dict(zip(("BM", "BN", "BK"), blocks)) | {"ROLES": roles},
                    a=In(a), b=In(b), c=Out(c.astype(np.float16)), M=M, N=N, K=K)


@kernel("triton_matmul_device_descriptors")
def _(arch):
    return described(arch, 256, 64, 128, (128, 64, 64), False)


@kernel("triton_matmul_ragged_descriptors")
def _(arch):
    return described(arch, 200, 72, 104, (128, 64, 64), False)


@kernel("triton_matmul_warp_roles")
def _(arch):
    return described(arch, 128, 128, 256, (128, 128, 64), True)


@triton.jit
def host_described(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([m, k]), b.load([k, n]), total)
    c.store([m, n], total)


@kernel("triton_matmul_host_descriptors")
def _(arch):
    a, b = whole(128, 128).astype(np.float16), whole(128, 64, seed=2).astype(np.float16)
    return compiled(arch, host_described, (2, 1), constants={"BM": 64, "BN": 64, "BK": 64},
                    a=Descriptor(In(a), (64, 64)), b=Descriptor(In(b), (64, 64)),
                    c=Descriptor(Out(a.astype(np.float32) @ b.astype(np.float32)), (64, 64)), K=128)


@triton.jit
def split_k(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    part = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]))
    tl.atomic_add(c + m[:, None] * N + n[None, :], part)


@kernel("triton_split_k")
def _(arch):
    a, b = whole(64, 256).astype(np.float16), whole(256, 32, seed=2).astype(np.float16)
    return compiled(arch, split_k, (4,), constants={"BM": 64, "BN": 32, "BK": 64}, a=In(a), b=In(b),
                    c=Out(a.astype(np.float32) @ b.astype(np.float32), before=np.zeros((64, 32), np.float32)), N=32, K=256)


@triton.jit
def attention(q, k, v, o, keys, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + m[:, None] * D + d[None, :])
    top = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BM, BN):
        n = start + tl.arange(0, BN)
        scores = tl.dot(query, tl.load(k + n[None, :] * D + d[:, None])) * scale
        scores = tl.where(m[:, None] >= n[None, :], scores, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores - higher[:, None])
        keep = tl.exp2(top - higher)
        weight = weight * keep + tl.sum(p, 1)
        total = total * keep[:, None] + tl.dot(p.to(tl.float16), tl.load(v + n[:, None] * D + d[None, :]))
        top = higher
    tl.store(o + m[:, None] * D + d[None, :], total / weight[:, None])


@kernel("triton_attention")
def _(arch):
    q, k, v = (random(128, 64, seed=s).astype(np.float16) for s in (1, 2, 3))
    s = np.tril(np.exp(q.astype(np.float64) @ k.astype(np.float64).T / 8))
    o = s / s.sum(1, keepdims=True) @ v.astype(np.float64)
    return compiled(arch, attention, (2,), constants={"BM": 64, "BN": 64, "D": 64}, q=In(q), k=In(k), v=In(v),
                    o=Out(o, "f4", rtol=2e-3, atol=2e-3), keys=128, scale=float(np.log2(np.e) / 8))


@triton.jit
def scaled_matmul(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr,
                  PACKED: tl.constexpr, GROUP: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    k, g = tl.arange(0, K // PACKED), tl.arange(0, K // GROUP)
    at = tl.load(a + m[:, None] * (K // PACKED) + k[None, :])
    bt = tl.load(b + n[None, :] * (K // PACKED) + k[:, None])
    s = tl.load(sa + m[:, None] * (K // GROUP) + g[None, :])
    t = tl.load(sb + n[:, None] * (K // GROUP) + g[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(at, s, TYPE, bt, t, TYPE))


def scaled(arch, kind, M, N, K, group):
    r = np.random.default_rng(13)
    if kind == "e2m1":  # two to a byte, the first in its low half
        numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
        codes = [r.integers(0, 16, (rows, K)).astype(np.uint8) for rows in (M, N)]
        a, b = (numbers[c] for c in codes)
        operands = [In(c[:, ::2] | c[:, 1::2] << 4) for c in codes]
    else:
        a, b = (e4m3(r.integers(-7, 8, (rows, K))) for rows in (M, N))
        operands = [In(x, "e4m3") for x in (a, b)]
    if group == 16:
        scales = [r.integers(1, 4, (rows, K // group)).astype(np.float32) for rows in (M, N)]
        factors, given = scales, [In(x, "e4m3") for x in scales]
    else:
        exponents = [r.integers(125, 130, (rows, K // group)).astype(np.uint8) for rows in (M, N)]
        factors, given = [np.exp2(e.astype(np.float64) - 127) for e in exponents], [In(e) for e in exponents]
    a, b = (x * np.repeat(f, group, 1) for x, f in zip((a, b), factors))
    constants = {"M": M, "N": N, "K": K, "TYPE": kind, "PACKED": 2 if kind == "e2m1" else 1, "GROUP": group}
    return compiled(arch, scaled_matmul, (1,), constants=constants, a=operands[0], sa=given[0], b=operands[1], sb=given[1],
                    c=Out(a @ b.T, "f4"))


@kernel("triton_matmul_mxfp8")
def _(arch):
    return scaled(arch, "e4m3", 128, 64, 128, 32)


@kernel("triton_matmul_mxfp4")
def _(arch):
    return scaled(arch, "e2m1", 128, 64, 128, 32)


@kernel("triton_matmul_nvfp4", only=("sm_100a",))
def _(arch):
    return scaled(arch, "e2m1", 128, 64, 128, 16)
