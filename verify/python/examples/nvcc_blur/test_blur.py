"""A kernel in CUDA C++, compiled by nvcc and called on NumPy's arrays."""
import pathlib
import subprocess

import bitwell
import numpy
import pytest

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def blur(tmp_path_factory):
    ptx = tmp_path_factory.mktemp("blur") / "blur.ptx"
    subprocess.run(["nvcc", "-arch=sm_90a", "-lineinfo", "-ptx", HERE / "blur.cu", "-o", ptx], check=True)
    return bitwell.Module.from_file(ptx)["blur"]


@pytest.mark.parametrize("n", [1, 128, 200])
def test_blur(blur, n):
    x = numpy.random.default_rng(0).random(n, dtype=numpy.float32)
    y = numpy.zeros_like(x)
    blur.launch((n + 127) // 128, 128, x, y, n)
    padded = numpy.pad(x, 1)
    expected = (padded[:-2] + padded[1:-1] + padded[2:]) / numpy.float32(3)
    numpy.testing.assert_array_equal(y, expected)
