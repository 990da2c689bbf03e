"""The comparison of the example suites with a GPU (beside_gpu/run.py), with bitwell's driver in the GPU's place and one wrong bit."""
import pathlib
import shutil
import subprocess
import sys

import pytest

from bitwell.command import binary

ROOT = pathlib.Path(__file__).resolve().parents[3]
DRIVER = pathlib.Path(binary()).parents[1] / "lib/bitwell/libcuda.so.1"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_a_byte_that_differs_is_told(tmp_path):
    for part in ("verify/test/pytest/beside_gpu", "verify/python/examples"):
        shutil.copytree(ROOT / part, tmp_path / part)
    gpu = tmp_path / "verify/test/pytest/beside_gpu/module_on_gpu.py"
    text = gpu.read_text()
    assert text.count("return out.raw\n") == 1
    gpu.write_text(text.replace("return out.raw\n", "return out.raw if size != 512 else out.raw[:5] + bytes([out.raw[5] ^ 1]) + out.raw[6:]\n"))
    ran = subprocess.run([binary(), "exec", "--arch", "sm_90", "--", sys.executable, gpu.parent / "run.py", tmp_path / "out", "--only", "nvcc_blur",
                          "--driver", DRIVER], capture_output=True, text=True)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    told = [line for line in lines if "bytes differ, the first" in line]
    assert len(told) == 2 and all("test_blur[128]" in line and "1 of 512 bytes differ, the first is byte 5:" in line for line in told), ran.stdout
    assert any(line.startswith("NOT: nvcc_blur: 3 tests, 2 passed on both; 3 launches, 3 outputs of 1316 bytes") and line.endswith("; 2 bytes differ") for line in lines)
    assert "held: nvcc_blur, replayed: 3 launches kept on the GPU, 3 leave the same here in all of 2632 bytes" in lines
