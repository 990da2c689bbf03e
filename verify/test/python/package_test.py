"""The package beside its stubs, its numbers beside NumPy's and ml_dtypes', its data beside the command's."""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import ml_dtypes
import numpy as np

import bitwell
import kernels
from bitwell import _native

PACKAGE = pathlib.Path(bitwell.__file__).resolve().parent


class Package(unittest.TestCase):
    def test_stubs_name_what_the_module_has(self):
        stub = ast.parse((PACKAGE / "_native.pyi").read_text())

        def parameters(f):
            return [a.arg for a in f.args.args if a.arg != "self"]

        def of_native(f):
            signature = f.__doc__.split("\n")[0]  # "adopt(self, address: int, ...) -> None"
            return re.findall(r"(\w+): ", signature.split(" -> ")[0])

        for node in stub.body:
            if isinstance(node, ast.FunctionDef):
                self.assertEqual(parameters(node), of_native(getattr(_native, node.name)), node.name)
            elif isinstance(node, ast.ClassDef):
                self.assertTrue(issubclass(getattr(_native, node.name), object))
                for f in node.body:
                    if isinstance(f, ast.FunctionDef) and not f.decorator_list and not f.name.startswith("__"):
                        self.assertEqual(parameters(f), of_native(getattr(getattr(_native, node.name), f.name)), f.name)
        known = {n.name for n in stub.body if hasattr(n, "name")} | {"version"}
        self.assertEqual({n for n in dir(_native) if not n.startswith("_")}, known)
        methods = {f.name for n in stub.body if getattr(n, "name", "") == "Process" for f in n.body}
        self.assertEqual({n for n in dir(_native.Process) if not n.startswith("_")}, methods - {"__init__"})
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_everything_public_says_what_it_is(self):
        for name in bitwell.__all__:
            self.assertTrue((getattr(bitwell, name).__doc__ or "").strip(), name)
        for kind in (bitwell.Process, bitwell.Module, bitwell.Entry):
            for name in vars(kind):
                if not name.startswith("_"):
                    self.assertTrue((getattr(kind, name).__doc__ or "").strip(), f"{kind.__name__}.{name}")

    def test_importing_it_is_quick_and_brings_no_numpy(self):
        code = ("import time; t = time.process_time(); import bitwell; print(time.process_time() - t); import sys; "
                "print('numpy' in sys.modules)")
        seconds, numpy = min(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                                            text=True).stdout.split() for _ in range(3))
        print(f"import bitwell: {float(seconds):.3f} s", file=sys.stderr)
        self.assertLess(float(seconds), 0.3)
        self.assertEqual(numpy, "False")

    def test_a_launch_costs_little_beyond_the_simulation(self):
        m = bitwell.Module(kernels.HEAD + kernels.LAST, process=bitwell.Process())
        entry, x = m["last"], np.zeros(1, np.uint32)
        entry.launch(1, 1, x)
        times = []
        for _ in range(200):
            t = time.process_time()
            entry.launch(1, 1, x)
            times.append(time.process_time() - t)
        print(f"a launch of one thread: {1e6 * sorted(times)[100]:.0f} us", file=sys.stderr)
        self.assertLess(sorted(times)[20], 0.01)


class Numbers(unittest.TestCase):
    def test_codes_decode_as_ml_dtypes_has_them(self):
        for name, dtype, bits in (("e4m3", ml_dtypes.float8_e4m3fn, 8), ("e5m2", ml_dtypes.float8_e5m2, 8),
                                  ("e2m1", ml_dtypes.float4_e2m1fn, 4), ("ue8m0", ml_dtypes.float8_e8m0fnu, 8),
                                  ("f16", np.float16, 16), ("bf16", ml_dtypes.bfloat16, 16)):
            codes = np.arange(1 << bits).astype(np.uint16 if bits > 8 else np.uint8)
            with np.errstate(invalid="ignore"):  # NaNs
                want = codes.view(dtype).astype(np.float64)
            np.testing.assert_array_equal(bitwell.decode(name, codes), want, name)
            if bits != 4:
                np.testing.assert_array_equal(bitwell.decode(name, codes.view(dtype)), want, name)
            finite = codes[np.isfinite(want)]
            np.testing.assert_array_equal(bitwell.encode(name, want[np.isfinite(want)]), finite, name)

    def test_values_round_as_asked(self):
        for rounding, codes in (("rn", [2, 4, 0xA, 7]), ("rz", [2, 3, 0xA, 7]), ("rp", [3, 4, 0xA, 7]),
                                ("rm", [2, 3, 0xB, 7])):
            # 1.25 is between 1 and 1.5 (codes 2, 3), 1.75 between 1.5 and 2 (3, 4)
            self.assertEqual(bitwell.encode("e2m1", [1.25, 1.75, -1.25, 9], rounding=rounding).tolist(), codes, rounding)
        self.assertEqual(bitwell.decode("f16", bitwell.encode("f16", [1e6], saturate=False))[0], np.inf)
        for call, words in ((lambda: bitwell.decode("f8", [1]), "there are e2m1"),
                            (lambda: bitwell.encode("e2m1", [np.nan]), "has none"),
                            (lambda: bitwell.encode("e2m1", [1], rounding="up"), "rn, rna"),
                            (lambda: bitwell.encode("ue4m3", [1, -1]), "element 1 is -1, and format 'ue4m3' has no sign"),
                            (lambda: bitwell.encode("ue8m0", [-np.inf]), "element 0 is -inf, and format 'ue8m0' has no sign"),
                            (lambda: bitwell.decode("f32", np.zeros(1, np.uint8)), "32 bits"),
                            (lambda: bitwell.decode("e2m1", [-1]), "no code"),
                            (lambda: bitwell.decode("e2m1", [15, 16]), "element 1 is 16, and codes of format 'e2m1' go up to 15"),
                            (lambda: bitwell.decode("e4m3", np.array([0x100], np.uint16)), "element 0 is 256.*'e4m3' go up to 255"),
                            (lambda: bitwell.decode("e4m3", [1.0]), "float64 is no type of codes of e4m3.*encode"),
                            (lambda: bitwell.decode("e5m2", np.zeros(1, ml_dtypes.float8_e4m3fn)), "float8_e4m3fn is no type of codes of e5m2"),
                            (lambda: bitwell.decode("f16", np.zeros(1, np.float32)), "float32 is no type of codes of f16"),
                            (lambda: bitwell.quantise("nvfp4", np.zeros(8)), "recipe 'nvfp4' takes blocks of 16 along the last axis, and the shape is "),
                            (lambda: bitwell.quantise("nvfp4", np.zeros((2, 8))), r"the shape is \(2, 8\)"),
                            (lambda: bitwell.quantise("nvfp4", 1.0), r"the shape is \(\)")):
            with self.assertRaisesRegex(bitwell.InputError, words):
                call()

    def test_shapes_are_kept(self):
        for shape in ((), (1,), (2, 0, 3), (2, 3)):
            codes = bitwell.encode("e4m3", np.ones(shape))
            self.assertEqual((codes.shape, bitwell.decode("e4m3", codes).shape), (shape, shape))
        ones = bitwell.encode("e4m3", np.ones((5, 1, 32)))
        for a, b, shape in ((ones[0, 0], ones[0, 0], ()), (ones, ones[0, 0], (5, 1)), (ones, ones[:, 0], (5, 5))):
            d = bitwell.dot("hopper.wgmma.f32.e4m3", a, b)
            self.assertEqual(d.shape, shape)
            np.testing.assert_array_equal(d.view(np.float32), np.full(shape, 32, np.float32))
        self.assertEqual(bitwell.decode("f64", np.array([1 << 62], np.int64))[0], 2.0)

    def test_products_take_codes_and_no_values(self):
        i, ones = "hopper.wgmma.f32.e4m3", bitwell.encode("e4m3", np.ones((2, 32)))
        own = ones.view(ml_dtypes.float8_e4m3fn)
        np.testing.assert_array_equal(bitwell.dot(i, own, own, np.ones(2, np.float32)).view(np.float32), [33, 33])
        for call, words in ((lambda: bitwell.dot(i, np.ones((2, 32)), ones), "a: float64 is no type of codes of e4m3"),
                            (lambda: bitwell.dot(i, ones, np.ones((2, 32), np.float16)), "b: float16 is no type"),
                            (lambda: bitwell.dot(i, ones, ones, 1.0), "c: float64 is no type of codes of f32"),
                            (lambda: bitwell.dot(i, ones.astype(np.uint16) + 256, ones), "a: element 0 is 312, and codes of format 'e4m3' go up to 255"),
                            (lambda: bitwell.dot(i, ones, ones.astype(np.uint64) + 2**32), "b: 4294967352 is no code")):
            with self.assertRaisesRegex(bitwell.InputError, words):
                call()

    def test_quantised_values_are_codes_times_scales(self):
        x = np.random.default_rng(1).normal(size=(4, 64)).astype(np.float32)
        for recipe in bitwell.recipes():
            if recipe["hadamard"]:
                continue
            q = bitwell.quantise(recipe["name"], x, seed=3)
            blocks = np.repeat(q.scales.astype(np.float64), recipe["block"], axis=-1)
            want = (bitwell.decode("e2m1", q.codes) * blocks * q.tensor_scale).astype(np.float32)
            self.assertEqual(q.codes.shape, x.shape)
            np.testing.assert_allclose(q.values, want, rtol=1e-6, err_msg=recipe["name"])
            self.assertLess(np.abs(q.values - x).max(), 1)

    def test_products_of_small_integers_are_exact(self):
        rng = np.random.default_rng(2)
        tried = 0
        for i in bitwell.instructions():
            if i["scale"] is not None or i["result"] not in ("f32", "f16"):
                continue
            a, b = rng.integers(-2, 3, (5, 16)), rng.integers(-2, 3, (5, 16))
            d = bitwell.dot(i["name"], bitwell.encode(i["a"], a), bitwell.encode(i["b"], b),
                            bitwell.encode(i["result"], np.full(5, 3.0)))
            np.testing.assert_array_equal(bitwell.decode(i["result"], d), (a * b).sum(-1) + 3, i["name"])
            tried += 1
        self.assertGreater(tried, 10)

    def test_scaled_products(self):
        i = next(i for i in bitwell.instructions() if i["scale"] == "ue4m3" and i["a"] == "e2m1")
        k = 4 * i["scale_vector"]
        ones = bitwell.encode("e2m1", np.ones((2, k)))
        scales = bitwell.encode("ue4m3", np.full((2, 4), 2.0))
        d = bitwell.dot(i["name"], ones, ones, scales_a=scales, scales_b=scales)
        np.testing.assert_array_equal(d.view(np.float32), np.full(2, 4.0 * k))
        with self.assertRaisesRegex(bitwell.InputError, "scales of a: 2 elements, expected 8"):
            bitwell.dot(i["name"], ones, ones, scales_a=scales[:, :1], scales_b=scales[:, :1])
        with self.assertRaisesRegex(bitwell.InputError, "last axes"):
            bitwell.dot(i["name"], ones, ones[:, 1:])

    def test_layouts_are_their_offsets(self):
        l = bitwell.layout("(4,(2,8)):(8,(1,32))")
        want = [[8 * m + 1 * (n % 2) + 32 * (n // 2) for n in range(16)] for m in range(4)]
        np.testing.assert_array_equal(l.offsets, want)
        self.assertEqual(str(l), "(4,(2,8)):(8,(1,32))")
        self.assertEqual((l.facts["size"], l.facts["cosize"]), (64, 24 + 1 + 224 + 1))
        named = bitwell.layouts()[0]["name"]
        self.assertIn("evidence", bitwell.layout(named).facts)
        with self.assertRaises(bitwell.LayoutError):
            bitwell.layout("(4,2):(1")
        self.assertIn("<svg", l._repr_svg_())


class Images(unittest.TestCase):
    def test_a_cubin_made_with_line_numbers_holds_its_ptx(self):
        nvcc = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
        if nvcc is None:
            self.skipTest("there is no nvcc")
        with tempfile.TemporaryDirectory() as folder:
            source, cubin = pathlib.Path(folder, "twice.cu"), pathlib.Path(folder, "twice.cubin")
            source.write_text("__global__ void twice(int* x) {\n  x[threadIdx.x] *= 2;\n}\n")
            subprocess.run([nvcc, "-cubin", "-arch=sm_90", "-lineinfo", "-o", cubin, source], check=True)
            x = np.arange(32, dtype=np.int32)
            bitwell.Module.from_file(cubin)["twice"].launch(1, 32, x)
            np.testing.assert_array_equal(x, 2 * np.arange(32))
            subprocess.run([nvcc, "-cubin", "-arch=sm_90", "-o", cubin, source], check=True)
            with self.assertRaisesRegex(bitwell.InputError, "twice.cubin.*-lineinfo"):
                bitwell.Module.from_file(cubin)


class Command(unittest.TestCase):
    def test_a_launch_file_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            pathlib.Path("k.ptx").write_text(kernels.HEAD + kernels.ADD)
            launch = {"ptx": "k.ptx", "entry": "add", "grid": 1, "block": 64,
                      "arguments": [{"buffer": "x", "format": "f32", "values": [1.0] * 64, "output": "out.npy"},
                                    {"buffer": "y", "format": "f32", "values": [2.0] * 64}]}
            pathlib.Path("launch.json").write_text(json.dumps(launch))
            for given in ("launch.json", pathlib.Path("launch.json"), launch):
                ran = bitwell.run(given, races=True)
                self.assertTrue(ran.held, ran.text)
                self.assertEqual(set(np.load("out.npy")), {3.0})
                os.remove("out.npy")
            self.assertEqual(sorted(os.listdir()), ["k.ptx", "launch.json"])
            os.mkdir("fixed")  # where nobody may write, who is not root
            os.chmod("fixed", 0o500)
            os.chdir("fixed")
            del launch["arguments"][0]["output"]
            launch["ptx"] = "../k.ptx"
            self.assertTrue(bitwell.run(launch).held)
            os.chdir(folder)
            launch["ptx"] = "k.ptx"
            launch["block"] = 65
            ran = bitwell.run(launch)
            self.assertFalse(ran.held)
            self.assertIn("out-of-bounds", ran.text)
            launch["block"] = 0
            with self.assertRaises(bitwell.InputError):
                bitwell.run(launch)
            os.chdir("/")

    def test_times(self):
        text = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x)
{
.reg .b64 %a; .reg .b32 %r;
ld.param.u64 %a, [x];
ld.global.u32 %r, [%a];
st.global.u32 [%a+64], %r;
ret;
}
"""
        with tempfile.TemporaryDirectory() as folder:
            ptx, trace = os.path.join(folder, "k.ptx"), os.path.join(folder, "trace.json")
            pathlib.Path(ptx).write_text(text)
            launch = {"ptx": ptx, "entry": "k", "grid": [200], "block": [32], "arguments": [{"buffer": "x", "zeros": 256}]}
            t = bitwell.time(launch, trace=trace)
            self.assertEqual((t.device, t.runs_there), ("h200", True))
            self.assertTrue(0 < t.low_us < t.us < t.high_us)
            self.assertEqual(t.launches[0]["entry"], "k")
            events = json.loads(pathlib.Path(trace).read_text())["traceEvents"]
            turns = [e for e in events if e["ph"] == "X"]
            self.assertTrue(turns)
            self.assertLess(max(e["ts"] + e["dur"] for e in turns), t.high_us)
            asked = bitwell.time(launch, what_if=True, picture=True)
            self.assertEqual((t.what_if, t._repr_svg_()), ([], None))
            self.assertIn("latency_half", [w["name"] for w in asked.what_if])
            self.assertLessEqual(min(w["us"] for w in asked.what_if), asked.us)
            self.assertIn("<svg", asked._repr_svg_())
            self.assertFalse(bitwell.time(launch, device="b200", clusters=0).runs_there)
            with self.assertRaisesRegex(bitwell.InputError, "no table of costs"):
                bitwell.time(launch, device="h100")
            self.assertIsNone(bitwell.time(launch, ptx_alone=True).launches[0]["machine_code"])
            self.assertEqual(bitwell.time(launch, ptx_alone=True).why_no_machine_code, "")
            ptxas = pathlib.Path(folder, "ptxas")  # none that takes anything
            ptxas.write_text("#!/bin/sh\nexit 1\n")
            ptxas.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, PATH=folder + ":" + os.environ["PATH"]):
                failed = bitwell.time(launch)
            self.assertIsNone(failed.launches[0]["machine_code"])
            self.assertIn("does not take it for sm_90a", failed.why_no_machine_code)

    def test_budgets_and_studies(self):
        with self.assertRaisesRegex(bitwell.InputError, "there are .*dense"):
            bitwell.budget("none")
        b = bitwell.budget("dense")
        self.assertTrue(b)
        self.assertIn("<svg", b._repr_svg_())
        here = pathlib.Path(__file__).resolve()
        spec = next(pathlib.Path(source, name) for source in (here.parents[3] / "model", PACKAGE / "share")
                    for source, _, names in os.walk(source) for name in names if name == "dense.json")
        with tempfile.TemporaryDirectory() as folder:
            before, tempfile.tempdir = tempfile.tempdir, folder
            try:
                b = bitwell.budget(json.loads(spec.read_text()))
                self.assertIn("<svg", b._repr_svg_())
                self.assertEqual(os.listdir(folder), [])
            finally:
                tempfile.tempdir = before
        rows = bitwell.study("accumulate", "--family", "gaussian", "--most-k", 16, "--dots", 10)
        self.assertGreater(len(rows), 5)
        self.assertEqual({row["k"] for row in rows}, {16.0})
        with self.assertRaises(bitwell.InputError):
            bitwell.study("none")


if __name__ == "__main__":
    unittest.main()
