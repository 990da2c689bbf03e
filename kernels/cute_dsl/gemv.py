"""The NVFP4 batched GEMV in the CuTe DSL, in the steps of the contest entry in that language (../README.md).

c[m, l] = sum over k of (a * sfa)[m, k, l] * (b * sfb)[k, l]: a, b in E2M1, two a byte, k innermost; scales in E4M3, one for 16
elements, row-major or in the 128x4 tiling; c in fp16, [l][m]. Any m and l, k a multiple of 64.

    compiled = cute.compile(Gemv(STEPS["split_k_shared"]), *pointers(), 1, 64, 1)
    compiled(a, b, sfa, sfb, c, m, k, l)
"""
import dataclasses

import cutlass
import cutlass.cute as cute
import cutlass.memory

TILE = 64  # elements of k that a thread takes at once
GROUP = 16  # elements of a scale


@dataclasses.dataclass(frozen=True)
class Step:
    """How a row's sum is made: by so many threads, each of which takes every so manieth tile."""
    threads: int
    rows: int  # of a CTA
    batches: int = 1  # of a CTA
    packed: bool = False  # two running sums in fp16, of the even and the odd elements; else one in fp32
    drain: bool = False  # the two are added to a sum in fp32 after each tile
    join: str = "shuffle"  # of the threads' sums: through shared memory, in order, or by a butterfly of shuffles
    half: bool = False  # that sum in fp16

    @property
    def type(self):
        return cutlass.Float16 if self.half else cutlass.Float32


STEPS = {
    "one_thread": Step(1, 128),
    "split_k_shared": Step(16, 16, join="shared"),
    "split_k_shuffle": Step(16, 16),
    "batches": Step(8, 16, batches=4),
    "fp16_shared": Step(16, 16, packed=True, join="shared", half=True),
    "fp16_combine": Step(8, 32, packed=True, half=True),
    "fp32_combine": Step(8, 32, packed=True, drain=True),
}


def pointers():
    """What a Gemv is compiled for: a, b, sfa, sfb, c."""
    types = (cutlass.Float4E2M1FN, cutlass.Float4E2M1FN, cutlass.Float8E4M3FN, cutlass.Float8E4M3FN, cutlass.Float16)
    return [cute.runtime.make_ptr(t, 0, cute.AddressSpace.gmem, assumed_align=2 if t is cutlass.Float16 else 16) for t in types]


class Gemv:
    def __init__(self, step: Step, tiled_scales: bool = True):
        self.step, self.tiled_scales = step, tiled_scales

    def scales(self, pointer, rows, k, l):
        """(row, (group in the tile, tile), batch)."""
        tiles = k // TILE
        if cutlass.const_expr(self.tiled_scales):
            atoms = cute.ceil_div(rows, 128)
            shape, stride = ((32, 4, atoms), (4, tiles), l), ((16, 4, 512 * tiles), (1, 512), 512 * tiles * atoms)
        else:
            shape, stride = (rows, (4, tiles), l), (4 * tiles, (1, 4), 4 * tiles * rows)
        return cute.make_tensor(pointer, cute.make_layout(shape, stride=stride))

    def elements(self, pointer, rows, k, l):
        """(row, (element in the tile, tile), batch)."""
        return cute.make_tensor(pointer, cute.make_layout((rows, (TILE, k // TILE), l), stride=(k, (1, TILE), k * rows)))

    @cute.jit
    def __call__(self, a: cute.Pointer, b: cute.Pointer, sfa: cute.Pointer, sfb: cute.Pointer, c: cute.Pointer, m: cutlass.Int32, k: cutlass.Int32,
                 l: cutlass.Int32):
        k = cute.assume(k, divby=TILE)
        out = cute.make_tensor(c, cute.make_layout((m, l), stride=(1, m)))
        step = self.step
        self.kernel(self.elements(a, m, k, l), self.elements(b, 1, k, l), self.scales(sfa, m, k, l), self.scales(sfb, 1, k, l), out, k // TILE).launch(
            grid=(cute.ceil_div(m, step.rows), cute.ceil_div(l, step.batches), 1), block=(step.threads, step.rows, step.batches))

    @cute.kernel
    def kernel(self, a: cute.Tensor, b: cute.Tensor, sfa: cute.Tensor, sfb: cute.Tensor, c: cute.Tensor, tiles: cutlass.Int32):
        step = self.step
        thread, y, z = cute.arch.thread_idx()
        block_x, block_y, _ = cute.arch.block_idx()
        row, batch = block_x * step.rows + y, block_y * step.batches + z
        inside = row < c.shape[0] and batch < c.shape[1]
        # Who has no row takes the last: all threads come to the end, where their sums meet.
        i, j = cutlass.min(row, c.shape[0] - 1), cutlass.min(batch, c.shape[1] - 1)
        total = step.type(0)
        even, odd = cutlass.Float16(0), cutlass.Float16(0)
        for tile in range(thread, tiles, step.threads):
            products = a[i, (None, tile), j].load().to(cutlass.Float16) * b[0, (None, tile), j].load().to(cutlass.Float16)
            scales_a = sfa[i, (None, tile), j].load().to(cutlass.Float16)
            scales_b = sfb[0, (None, tile), j].load().to(cutlass.Float16)
            if cutlass.const_expr(step.packed):
                scales = scales_a * scales_b  # rounded to fp16
                if cutlass.const_expr(step.drain):
                    even, odd = cutlass.Float16(0), cutlass.Float16(0)
                for e in cutlass.range_constexpr(0, TILE, 2):
                    scale = scales[e // GROUP]
                    even, odd = cute.arch.fma_packed_f16x2((products[e], products[e + 1]), (scale, scale), (even, odd))
                if cutlass.const_expr(step.drain):
                    total += (even + odd).to(cutlass.Float32)
            else:
                for e in cutlass.range_constexpr(TILE):
                    total += products[e].to(cutlass.Float32) * (scales_a[e // GROUP].to(cutlass.Float32) * scales_b[e // GROUP].to(cutlass.Float32))
        if cutlass.const_expr(step.packed and not step.drain):
            total = (even + odd).to(step.type)
        if cutlass.const_expr(step.join == "shared"):
            sums = cutlass.memory.SmemAllocator().allocate_tensor(step.type, cute.make_layout((step.threads, step.rows, step.batches)))
            sums[thread, y, z] = total
            cute.arch.sync_threads()
            if thread == 0 and inside:
                whole = cutlass.Float32(0)
                for t in cutlass.range_constexpr(step.threads):
                    whole += sums[t, y, z].to(cutlass.Float32)
                c[row, batch] = whole.to(cutlass.Float16)
        else:
            distance = step.threads // 2
            while cutlass.const_expr(distance > 0):
                total += cute.arch.shuffle_sync_bfly(total, distance)
                distance //= 2
            if thread == 0 and inside:
                c[row, batch] = total.to(cutlass.Float16)
