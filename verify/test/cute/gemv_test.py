"""The GEMV's steps in the CuTe DSL: every bit by NumPy, and by the CUDA kernels that sum in the same order. Run by cute.sh."""
import functools
import os
import pathlib
import sys

import numpy as np
import pytest

import bitwell
import gemv_order

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "kernels/cute_dsl"))
from gemv import STEPS, Gemv, pointers

# CUDA kernels of kernels/gemv, which an H200 agrees with, with the same order of sums.
PEERS = {"one_thread": "naive", "split_k_shared": "split_k_shared", "split_k_shuffle": "split_k_shuffle", "fp16_combine": "fp16_combine", "fp32_combine": "fp32_combine"}
SHAPES = [(37, 1152, 1), (200, 512, 3), (1, 64, 2), (128, 2048, 5)]


def contest(random, m, k, l):
    """Elements in {0, 0.5, 1, 1.5} at even k, zeros at odd k; scales in {0, 1, 2}."""
    scales = np.array([0, 0x38, 0x40], np.uint8)
    return (random.integers(0, 4, (l, m, k // 2), dtype=np.uint8), random.integers(0, 4, (l, 1, k // 2), dtype=np.uint8),
            random.choice(scales, (l, m, k // 16)), random.choice(scales, (l, 1, k // 16)))


def moderate(random, m, k, l, scales=(0x30, 0x40)):
    return (random.integers(0, 256, (l, m, k // 2), dtype=np.uint8), random.integers(0, 256, (l, 1, k // 2), dtype=np.uint8),
            random.integers(*scales, (l, m, k // 16), dtype=np.uint8), random.integers(*scales, (l, 1, k // 16), dtype=np.uint8))


def cancelling(random, m, k, l):
    """Large terms that come twice, the second time negative, with small ones between: what is left of those is the order's."""
    a, b, sfa, sfb = moderate(random, m, k, l, (1, 0x20))
    part = max(k // 64, 1)  # of k / 16 groups
    sfa[..., :part] = random.integers(0x50, 0x60, sfa[..., :part].shape)
    sfb[..., :part] = random.integers(0x50, 0x60, sfb[..., :part].shape)
    for scales in (sfa, sfb):
        scales[..., -part:] = scales[..., :part]
    a[..., -8 * part:], b[..., -8 * part:] = a[..., :8 * part], b[..., :8 * part] ^ 0x88
    return a, b, sfa, sfb


DATA = {
    "cancelling": cancelling,
    "contest": contest, "moderate": moderate,
    "small scales": functools.partial(moderate, scales=(0, 0x18)),  # products that fp16 rounds
    "every scale": functools.partial(moderate, scales=(0, 256)),  # infinities and what is not a number
    "large scales": functools.partial(moderate, scales=(0x60, 0x7F)),
}


@functools.cache
def compiled(step, tiled):
    return bitwell.cute.compile(Gemv(STEPS[step], tiled), *pointers(), 1, 64, 1, arch="sm_100a")


def arguments(tiled, a, b, sfa, sfb):
    return [bitwell.cute.aligned(x) for x in (a, b, *(map(gemv_order.tiled, (sfa, sfb)) if tiled else (sfa, sfb)))]


@pytest.mark.parametrize("tiled", [True, False], ids=["tiled", "row-major"])
@pytest.mark.parametrize("step", STEPS)
def test_every_bit(step, tiled):
    random = np.random.default_rng(STEPS[step].threads)
    for m, k, l in SHAPES:
        for kind, data in DATA.items():
            given = data(random, m, k, l)
            c = np.full((l, m), 0x1234, np.uint16)
            (report,) = compiled(step, tiled).launch(*arguments(tiled, *given), c.view(np.float16), m, k, l, undefined=[c], outputs=[c], all_written=True)
            assert report.holds
            expected = gemv_order.gemv(STEPS[step], *given)
            assert (c == expected).all(), f"{kind}, {m}x{k}x{l}: {(c != expected).sum()} of {c.size} differ"


@pytest.mark.parametrize("step", PEERS)
def test_the_cuda_kernel_of_that_order_gives_the_same(step):
    folder = pathlib.Path(os.environ.get("BITWELL_BUILD", ROOT / "build/release")) / "share/bitwell/kernels/gemv"
    if not folder.exists():
        pytest.skip(f"no {folder}")
    peer = bitwell.Module.from_file(folder / f"{PEERS[step]}.sm_100a.ptx")[f"gemv_{PEERS[step]}_blocked"]
    random = np.random.default_rng(7)
    for kind, data in DATA.items():
        m, k, l = 72, 1536, 2
        taken = arguments(True, *data(random, m, k, l))
        ours, theirs = np.zeros((2, l, m), np.uint16)
        compiled(step, True)(*taken, ours.view(np.float16), m, k, l)
        rows = {1: 128, 16: 16, 8: 32}[STEPS[step].threads]
        block = (128, 1) if STEPS[step].threads == 1 else (STEPS[step].threads, rows)
        peer.launch((-(-m // rows), l), block, *taken, theirs, m, k, l)
        assert (ours == theirs).all(), kind


@pytest.mark.parametrize("step", STEPS)
def test_no_race_and_no_order_that_matters(step):
    m, k, l = 20, 1024, 2
    given = moderate(np.random.default_rng(3), m, k, l)
    c = np.zeros((l, m), np.uint16)
    (report,) = compiled(step, True).launch(*arguments(True, *given), c.view(np.float16), m, k, l, races=True, schedules=4)
    assert report.holds and not report.findings
