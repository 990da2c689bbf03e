"""The example suites, as they stand and with a bug planted in each, whose message is checked."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "verify/python/examples"
# Suite: what it needs, the file, what stands there and what is put in its place, pytest's options, the message.
BUGS = {
    "nvcc_blur": (("numpy",), "blur.cu", "  __syncthreads();\n", "", (), "was never written"),
    "triton_softmax": (("torch", "triton"), "test_softmax.py", ", mask=inside, other=-float(\"inf\")", "", (), "out-of-bounds read"),
    "cute_rms_norm": (("torch", "cutlass"), "test_rms_norm.py", "    cute.arch.sync_threads()\n", "", (), "was never written"),
    "torch_gated": (("torch", "triton"), "gated.py", "sums = torch.zeros(", "sums = torch.empty(", (), "was never written"),
}


@pytest.fixture(params=BUGS)
def suite(request, tmp_path):
    needs = BUGS[request.param][0]
    missing = [n for n in needs if importlib.util.find_spec(n) is None]
    if missing:
        pytest.skip(f"{request.param} needs {', '.join(missing)}, which this Python lacks")
    shutil.copytree(EXAMPLES / request.param, tmp_path / request.param)
    return tmp_path / request.param


def run(folder, *options):
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "bitwell.pytest", "-p", "no:cacheprovider", "--bitwell", *options],
                          cwd=folder, capture_output=True, text=True, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})


def test_it_passes(suite):
    ran = run(suite)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " launched " in ran.stdout


def test_its_planted_bug_fails_with_bitwells_message(suite):
    _, name, was, now, options, message = BUGS[suite.name]
    text = (suite / name).read_text()
    assert text.count(was) == 1
    (suite / name).write_text(text.replace(was, now))
    ran = run(suite, *options)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert any(line.startswith("E ") and message in line for line in ran.stdout.splitlines()), ran.stdout
    assert "replay: bitwell run " in ran.stdout
