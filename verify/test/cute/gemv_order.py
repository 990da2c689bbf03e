"""What the steps of kernels/cute_dsl/gemv.py come to, by NumPy, from the definitions of the formats and the order of the sums.

Nothing of bitwell: each sum is one operation of NumPy's in its format. fp64 holds what a fused multiply-add of fp16 adds, for
these products are multiples of 2^-2, at most 36, and the scales' of 2^-24, so that rounding it once is right.
"""
import numpy as np

E2M1 = np.array([s * v for s in (1, -1) for v in (0, 0.5, 1, 1.5, 2, 3, 4, 6)])
E4M3 = np.array([s * ((c & 7) * 2.0 ** -9 if c < 8 else (1 + (c & 7) / 8) * 2.0 ** ((c >> 3) - 7)) if c < 127 else np.nan
                 for s in (1, -1) for c in range(128)])
TILE, GROUP = 64, 16


def unpacked(codes):
    """Two elements a byte, the low one first."""
    return E2M1[np.stack((codes & 15, codes >> 4), -1).reshape(*codes.shape[:-1], -1)]


def tiled(scales):
    """Scales as (batch, row, group) in tiles of 128 rows by 4 groups, batch by batch; the padding is not a number."""
    batches, rows, groups = scales.shape
    out = np.full((batches, -(-rows // 128), -(-groups // 4), 512), 0x7F, np.uint8)
    batch, row, group = np.indices(scales.shape)
    out[batch, row // 128, group // 4, row % 32 * 16 + row % 128 // 32 * 4 + group % 4] = scales
    return out


def half(x):
    return np.asarray(x).astype(np.float16)


def thread_sum(step, products, scales_a, scales_b, thread):
    """(rows) of one thread."""
    rows = products.shape[0]
    total, pair = np.zeros(rows, np.float32), np.zeros((rows, 2), np.float16)
    for tile in range(thread, products.shape[1] // TILE, step.threads):
        if step.drain:
            pair = np.zeros((rows, 2), np.float16)
        for e in range(tile * TILE, (tile + 1) * TILE, 2):
            sa, sb = scales_a[:, e // GROUP], scales_b[e // GROUP]
            if step.packed:
                scale = half(sa * sb).astype(np.float64)[:, None]
                pair = half(products[:, e:e + 2] * scale + pair)
            else:
                for i in (e, e + 1):
                    total = (total + (products[:, i] * (sa * sb)).astype(np.float32)).astype(np.float32)
        if step.drain:
            total = total + half(pair[:, 0] + pair[:, 1]).astype(np.float32)
    return (pair[:, 0] + pair[:, 1]).astype(np.float16 if step.half else np.float32) if step.packed and not step.drain else total


def gemv(step, a, b, sfa, sfb):
    """fp16 bits (batch, row): of NaN the one that GPUs give."""
    out = np.zeros(sfa.shape[:2], np.float16)
    with np.errstate(all="ignore"):
        for batch in range(len(out)):
            products = unpacked(a[batch]) * unpacked(b[batch])
            sums = [thread_sum(step, products, E4M3[sfa[batch]], E4M3[sfb[batch, 0]], t) for t in range(step.threads)]
            if step.join == "shared":
                total = np.zeros_like(sums[0], np.float32)
                for s in sums:
                    total = total + s.astype(np.float32)
            else:
                while len(sums) > 1:  # each lane adds its partner's
                    sums = [sums[i] + sums[i + len(sums) // 2] for i in range(len(sums) // 2)]
                total = sums[0]
            out[batch] = half(total)
    bits = out.view(np.uint16)
    bits[np.isnan(out)] = 0x7FFF
    return bits
