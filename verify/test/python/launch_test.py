"""Launches from Python, on arrays in place."""
import copy
import ctypes
import gc
import io
import pickle
import signal
import sys
import threading
import types
import unittest
import weakref
from contextlib import redirect_stdout

import ml_dtypes
import numpy as np

import bitwell
import kernels
from bitwell import gpu


def module(*bodies):
    return bitwell.Module(kernels.HEAD + "".join(bodies), path="kernels.ptx", process=bitwell.Process())


class InPlace(unittest.TestCase):
    def test_arrays_are_read_and_written_where_they_stand(self):
        whole = np.arange(100, dtype=np.float32)
        for first in (0, 1, 7):
            x, y = whole.copy()[first:first + 64], np.full(64, 0.5, np.float32)
            before = x.base.copy()
            report = module(kernels.ADD)["add"].launch(1, 64, x, y, races=True)
            self.assertTrue(report.holds, report.text)
            before[first:first + 64] += 0.5
            np.testing.assert_array_equal(x.base, before)
        self.assertEqual(report.findings, ())
        self.assertEqual((report.entry, report.launch), ("add", 1))
        self.assertGreater(report.lane_instructions, 64)

    def test_types_of_ml_dtypes_and_views_that_leave_gaps(self):
        for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.int8, np.complex64, bool):
            y = np.arange(24).astype(dtype).reshape(4, 6)
            x = np.zeros(24, dtype)
            module(kernels.BYTES)["bytes"].launch(1, y.nbytes, x, y)
            self.assertEqual(x.tobytes(), y.tobytes())
        every_other = np.arange(20, dtype=np.uint8)[::2]  # 19 bytes from the first to the last
        x = np.zeros(19, np.uint8)
        module(kernels.BYTES)["bytes"].launch(1, 19, x, every_other)
        np.testing.assert_array_equal(x, np.arange(19))
        backwards = np.arange(8, dtype=np.uint8)[::-1]
        x = np.zeros(8, np.uint8)
        with self.assertRaises(bitwell.Fault):  # its address is that of the last byte
            module(kernels.BYTES)["bytes"].launch(1, 9, x, backwards)

    def test_dlpack_and_buffers(self):
        class Other:  # that has DLPack and nothing else
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x, y = np.zeros((8, 8), np.float32), np.ones(64, np.float32)
        module(kernels.ADD)["add"].launch(1, 64, Other(x), Other(y))
        np.testing.assert_array_equal(x, np.ones((8, 8)))
        data = bytearray(16)
        module(kernels.BYTES)["bytes"].launch(1, 16, data, np.arange(16, dtype=np.uint8))
        self.assertEqual(data, bytes(range(16)))

    def test_arrays_that_share_bytes_are_one_buffer(self):
        x = np.ones(64, np.float32)
        module(kernels.ADD)["add"].launch(1, 32, x, x[32:])
        module(kernels.ADD)["add"].launch(1, 32, x, x[16:])
        self.assertEqual([float(x[i]) for i in (0, 15, 16, 31, 32)], [4, 4, 3, 3, 1])

    def test_read_only_arrays_are_not_written(self):
        x = np.ones(64, np.float32)
        x.flags.writeable = False
        with self.assertRaisesRegex(bitwell.Fault, "read-only"):
            module(kernels.ADD)["add"].launch(1, 64, x, x)

    def test_immutable_bytes_are_not_written(self):
        class Other:  # whose DLPack says it
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        text, fixed = bytes(4), np.zeros(4, np.uint8)
        fixed.flags.writeable = False
        for x in (memoryview(text), Other(fixed), memoryview(bytearray(4)).toreadonly()):
            with self.assertRaisesRegex(bitwell.Fault, "read-only"):
                module(kernels.BYTES)["bytes"].launch(1, 4, x, np.ones(4, np.uint8))
        y = np.ones(4, np.uint8)
        module(kernels.BYTES)["bytes"].launch(1, 4, y, memoryview(text))
        self.assertEqual((text, fixed.tolist(), y.tolist()), (bytes(4), [0] * 4, [0] * 4))

    def test_what_dlpack_exports_stays_as_long_as_the_array(self):
        class Fleeting:  # its bytes live as long as the export
            def __dlpack__(self, **options):
                array = np.ones(64, np.float32)
                self.alive = weakref.ref(array)
                return array.__dlpack__(**options)

            def __dlpack_device__(self):
                return (1, 0)

        given = Fleeting()
        array = bitwell.arrays.array_of(given)
        gc.collect()
        self.assertIsNotNone(given.alive())
        del array
        gc.collect()
        self.assertIsNone(given.alive())

    def test_other_orders_of_bytes_are_refused(self):
        x = np.ones(64, ">f4")
        with self.assertRaisesRegex(bitwell.InputError, r">f4, not this machine's order of bytes.*newbyteorder"):
            module(kernels.ADD)["add"].launch(1, 64, x, np.ones(64, np.float32))
        for same in ("<f4", "=f4", "|u1"):
            module(kernels.BYTES)["bytes"].launch(1, 4, np.ones(4, same), np.ones(4, same))

    def test_a_tensor_of_a_gpu_is_taken_where_that_is_bitwells(self):
        class Tensor:
            device, shape = types.SimpleNamespace(type="cuda"), (64,)

            def __init__(self, array):
                self.array = array

            def data_ptr(self):
                return self.array.ctypes.data

            def element_size(self):
                return 4

            def stride(self):
                return (1,)

        x, y = np.ones(64, np.float32), np.ones(64, np.float32)
        text = kernels.HEAD + kernels.ADD
        with self.assertRaisesRegex(bitwell.InputError, "tensors of the CPU"):
            bitwell.Module(text)["add"].launch(1, 64, Tensor(x), y)
        before = gpu._current, bitwell.process()
        try:
            on = gpu.opened(gpu.Settings())
            on.adopt(x.ctypes.data, x.nbytes, "x")
            bitwell.Module(text)["add"].launch(1, 64, Tensor(x), y)
            self.assertEqual(set(x), {2.0})
            self.assertTrue(on.holds(x.ctypes.data, x.nbytes))
            with self.assertRaisesRegex(bitwell.InputError, "tensors of the CPU"):  # another GPU's
                bitwell.Module(text)["add"].launch(1, 64, Tensor(y), y)
        finally:
            gpu._current, sys.modules["bitwell.process"]._one = before

    def test_the_process_lets_go_of_arrays(self):
        m = module(kernels.ADD)
        x, y = np.ones(64, np.float32), np.ones(64, np.float32)
        m["add"].launch(1, 64, x, y)
        self.assertFalse(m.process.holds(x.ctypes.data, 1))
        for _ in range(2):
            with self.assertRaises(bitwell.Fault):
                m["add"].launch(1, 65, x, y)
        self.assertFalse(m.process.holds(x.ctypes.data, 1))
        gone = weakref.ref(x)
        del x
        gc.collect()
        self.assertIsNone(gone())


class Verdicts(unittest.TestCase):
    def test_a_fault_has_its_place_and_its_bytes(self):
        x, y = np.ones(64, np.float32), np.ones(64, np.float32)
        with self.assertRaises(bitwell.Fault) as caught:
            module(kernels.ADD)["add"].launch(1, 65, x, y)
        f = caught.exception
        self.assertEqual((f.thread, f.cta), ((64, 0, 0), (0, 0, 0)))
        self.assertEqual((f.access.kind, f.access.space, f.access.object, f.access.bytes), ("read", "global", "x", 4))
        self.assertEqual(f.address, x.ctypes.data + 256)
        self.assertEqual((kernels.HEAD + kernels.ADD).split("\n")[f.ptx_line - 1], "ld.global.f32 %f0, [%a3];")
        self.assertIn("out-of-bounds read of 4 bytes", str(f))
        self.assertIn(f"PTX line {f.ptx_line}", str(f))
        self.assertIs(f.report.fault, f)
        report = module(kernels.ADD)["add"].launch(1, 65, x, y, check=False)
        self.assertFalse(report.holds)
        self.assertEqual(report.fault.ptx_line, f.ptx_line)

    def test_a_hang_says_who_waits(self):
        with self.assertRaises(bitwell.Fault) as caught:
            module(kernels.HANG)["hang"].launch(1, 64, 0)
        self.assertEqual(len(caught.exception.waiters), 2)
        self.assertIn("barrier", caught.exception.waiters[0].on)

    def test_what_is_undefined_is_not_read(self):
        x, y = np.ones(64, np.float32), np.empty(64, np.float32)
        with self.assertRaisesRegex(bitwell.Fault, "'y'"):
            module(kernels.ADD)["add"].launch(1, 64, x, y, undefined=[y])
        out = np.empty(64, np.uint8)
        with self.assertRaisesRegex(bitwell.Fault, "byte 32 of output 'x' was never written"):
            module(kernels.BYTES)["bytes"].launch(1, 32, out, np.ones(64, np.uint8), undefined=[out], outputs=[out],
                                                  all_written=True)

    def test_a_race_has_both_acts(self):
        x, y = np.ones(32, np.float32), np.zeros(32, np.float32)
        with self.assertRaises(bitwell.RaceError) as caught:
            module(kernels.EXCHANGE)["exchange"].launch(1, 32, x, y, races=True)
        f = caught.exception.finding
        self.assertEqual((f.level, f.earlier.access, f.later.access), ("error", "write", "read"))
        self.assertEqual((f.earlier.instruction, f.later.instruction), ("st.shared.u32", "ld.shared.u32"))
        self.assertEqual((f.earlier.entry, f.earlier.launch, f.earlier.warp), ("exchange", 1, 0))
        self.assertIn(f.remedy, str(caught.exception))
        self.assertIn("__syncwarp", f.remedy)
        explained = module(kernels.EXCHANGE)["exchange"].launch(1, 32, x, y, races=True, explain=True, check=False)
        self.assertIn("128 bytes of 'y'", explained.findings[0].on_this_run)

    def test_schedules_part_and_leave_the_first_ones_bytes(self):
        x = np.zeros(1, np.uint32)
        with self.assertRaises(bitwell.ScheduleError) as caught:
            module(kernels.LAST)["last"].launch(1, 96, x, schedules=8)
        p = caught.exception.parting
        self.assertEqual((p.first, p.buffer, p.byte, p.of_first), ("lazy", "x", 0, 2))
        self.assertNotEqual(p.of_second, 2)
        self.assertEqual(p.address, x.ctypes.data)
        self.assertEqual(x[0], 2)
        a, b = np.ones(64, np.float32), np.ones(64, np.float32)
        self.assertTrue(module(kernels.ADD)["add"].launch(1, 64, a, b, schedules=8).holds)
        self.assertEqual(set(a), {2.0})
        found = {int(x[0]) for seed in range(8)
                 if module(kernels.LAST)["last"].launch(1, 96, x, schedule="random", seed=seed).holds}
        self.assertGreater(len(found), 1)

    def test_schedules_are_compared_by_the_outputs_alone(self):
        x = np.zeros(4, np.uint32)
        last = module(kernels.LAST)["last"]
        with self.assertRaises(bitwell.ScheduleError) as caught:
            last.launch(1, 96, x, schedules=8, outputs=[x[:1]])
        self.assertEqual((caught.exception.parting.buffer, caught.exception.parting.byte), ("x", 0))
        for outputs in ([x[1:]], [x[1:2], x[3:]]):
            self.assertTrue(last.launch(1, 96, x, schedules=8, outputs=outputs).holds)

    def test_the_first_schedule_is_compared_with_others(self):
        x, y = np.ones(1, np.uint32), np.zeros(1, np.uint32)
        wait = module(kernels.UNWAITED)["unwaited"]
        p = wait.launch(1, 1, x, y, schedule="eager", schedules=2, check=False).parting
        self.assertEqual((p.first, p.second, y[0]), ("eager", "lazy", 1))
        self.assertIn("cp.async", p.fault)  # which lazy leaves until somebody waits
        self.assertTrue(module(kernels.ADD)["add"].launch(1, 1, x, y, schedule="eager", schedules=2).holds)
        for first, seed, words in (("random", 1, "random, seed 1"), ("random", 5, "random, seed 5"), ("starve-stores", 0, "starve-stores")):
            report = module(kernels.LAST)["last"].launch(1, 96, x, schedule=first, seed=seed, schedules=30, check=False)
            self.assertEqual(report.parting.first, words)

    def test_verdicts_travel_between_processes(self):
        x, y = np.ones(64, np.float32), np.ones(64, np.float32)
        word = np.zeros(1, np.uint32)
        for launch in (lambda: module(kernels.ADD)["add"].launch(1, 65, x, y),
                       lambda: module(kernels.HANG)["hang"].launch(1, 64, 0),
                       lambda: module(kernels.EXCHANGE)["exchange"].launch(1, 32, x, y, races=True),
                       lambda: module(kernels.LAST)["last"].launch(1, 96, word, schedules=8)):
            with self.assertRaises(bitwell.Verdict) as caught:
                launch()
            was = caught.exception
            for now in (pickle.loads(pickle.dumps(was)), copy.copy(was), copy.deepcopy(was)):
                self.assertIs(type(now), type(was))
                self.assertEqual((str(now), now.text, now.report.text), (str(was), was.text, was.report.text))
                for field in ("place", "access", "waiters", "findings", "parting", "ptx_line"):
                    self.assertEqual(getattr(now, field, None), getattr(was, field, None), field)
            if was.report.fault is not None:
                now = pickle.loads(pickle.dumps(was))
                self.assertIs(now.report.fault, now)

    def test_products_and_sums_as_ptxas_fuses_them(self):
        for fmad, left in ((False, 0), (True, 2**-46)):
            x, y = np.float32([1 + 2**-23]), np.float32([1 + 2**-22])
            bitwell.Module(kernels.HEAD + kernels.SQUARE, fmad=fmad)["square"].launch(1, 1, x, y)
            self.assertEqual(y[0], left)
        with self.assertRaisesRegex(bitwell.InputError, "^'k.ptx': ptxas .* does not take it for sm_90a: line .*error"):
            bitwell.Module(kernels.HEAD + kernels.SQUARE.replace("sub.f32 %f0", "sub.f32 %a0"), path="k.ptx", fmad=True)

    def test_losses_of_half_precision(self):
        report = module(kernels.HALF)["half"].launch(1, 1, np.zeros(1, np.float16), numeric=True)
        (losses,) = report.losses
        self.assertEqual((losses.instruction, losses.overflowed.count), ("add.f16", 1))
        self.assertEqual((losses.overflowed.operands, losses.overflowed.result), ((60000.0, 60000.0), float("inf")))

    def test_what_the_kernel_prints(self):
        out = io.StringIO()
        with redirect_stdout(out):
            report = module(kernels.SAY)["say"].launch(1, 2, 0)
        self.assertEqual(out.getvalue(), "hello\nhello\n")
        self.assertEqual(report.printed, "hello\nhello\n")


class Arguments(unittest.TestCase):
    def test_each_kind_becomes_the_parameters_bytes(self):
        class S(ctypes.Structure):
            _fields_ = [("a", ctypes.c_int64), ("b", ctypes.c_double)]

        x = np.zeros(40, np.uint8)
        m = module(kernels.SCALARS)["scalars"]
        for structure in (S(7, 1.5), bytes(S(7, 1.5)), np.array([(7, 1.5)], "i8,f8")[0]):
            m.launch(1, 1, x, -3, 2**32 - 1, 0.1, 0.1, True, structure)
            self.assertEqual(x[:8].view(np.int32).tolist(), [-3, -1])
            self.assertEqual(x[8:12].view(np.float32)[0], np.float32(0.1))
            self.assertEqual(x[16:24].view(np.float64)[0], 0.1)
            self.assertEqual(x[12], 1)
            self.assertEqual((x[24:32].view(np.int64)[0], x[32:40].view(np.float64)[0]), (7, 1.5))
        m.launch(1, 1, x, np.int64(5), np.uint8(6), np.float64(0.5), np.float64(2), np.int32(3), S(0, 0))
        self.assertEqual(x[:8].view(np.int32).tolist(), [5, 6])
        self.assertEqual(x[8:12].view(np.float32)[0], 0.5)
        m.launch(1, 1, x, -1, np.float32(1.0), 1, 1, 0, S(0, 0))  # the bits of a float
        self.assertEqual(x[4:8].view(np.float32)[0], 1.0)

    def test_what_does_not_fit_is_refused_by_name(self):
        x = np.zeros(40, np.uint8)
        good = [x, 1, 1, 1.0, 1.0, 1, bytes(16)]
        m = module(kernels.SCALARS)["scalars"]
        for at, bad, words in ((1, 2**31, r"i \(\.s32\): it must be -2147483648 to 2147483647"),
                               (2, 2**32, r"u \(\.u32\)"), (2, -2**31 - 1, r"u \(\.u32\)"), (5, 256, r"b \(\.u8\)"),
                               (1, 1.5, "which is an integer"), (3, "1", "it takes a number"), (1, x, "no pointer"),
                               (3, x, "no pointer"), (3, 1e300, "too large"), (6, bytes(15), "15 bytes for s"),
                               (6, 5, "a ctypes structure"), (0, 1.5, "which is an integer"), (0, [1], "an array, an address")):
            with self.subTest(at=at, bad=bad), self.assertRaisesRegex(bitwell.InputError, words):
                m.launch(1, 1, *good[:at], bad, *good[at + 1:])
        with self.assertRaisesRegex(bitwell.InputError, "6 arguments for scalars, which has 7"):
            m.launch(1, 1, *good[:-1])
        for grid, block in ((0, 1), (1, 0), ((1, 2, 3, 4), 1), (1, 1025)):
            with self.assertRaises(bitwell.InputError):
                m.launch(grid, block, *good)
        m.launch((1, 1), np.array([1, 1, 1]), *good)

    def test_tensor_maps_by_the_drivers_names(self):
        y, x = np.arange(256, dtype=np.float32).reshape(8, 32), np.zeros(32, np.float32)
        for kind in ("FLOAT32", "CU_TENSOR_MAP_DATA_TYPE_FLOAT32", 7):
            x[:] = 0
            m = bitwell.TensorMap(y, kind, (32, 8), (16, 2), swizzle="CU_TENSOR_MAP_SWIZZLE_NONE")
            self.assertEqual(len(bytes(m)), 128)
            module(kernels.BOX)["box"].launch(1, 32, m, x)
            np.testing.assert_array_equal(x, y[1:3, 4:20].reshape(-1))
        with self.assertRaisesRegex(bitwell.InputError, "FLOAT33"):
            bitwell.TensorMap(y, "FLOAT33", (32, 8), (16, 2))
        with self.assertRaisesRegex(bitwell.InputError, "box"):
            bitwell.TensorMap(y, "FLOAT32", (32, 8), (300, 2))


class Modules(unittest.TestCase):
    def test_variables_persist(self):
        m, x = module(kernels.COUNT), np.zeros(1, np.uint32)
        for n in (6, 7, 8):
            m["count"].launch(1, 1, x, races=n == 7, schedules=3 if n == 8 else 1)
            self.assertEqual(x[0], n)
        address, size = m.variables["launches"]
        self.assertEqual(m.process.read(address, size), (8).to_bytes(4, "little"))
        m.process.write(address, (40).to_bytes(4, "little"))
        m["count"].launch(1, 1, x)
        self.assertEqual(x[0], 41)
        self.assertEqual(m.process.launches, 4)

    def test_entries_go_by_any_of_their_names(self):
        m = module(kernels.BOUND, kernels.LAST)
        for name in ("_Z3addPfPKfi", "add", "add(float*, float const*, int)"):
            self.assertEqual(m[name].name, "_Z3addPfPKfi")
        self.assertEqual([str(p) for p in m["add"].parameters],
                         ["argument 0 (.u64)", "argument 1 (.u64)", "argument 2 (.u32)"])
        x, y = np.ones(64, np.float32), np.ones(64, np.float32)
        m["add"].launch(1, 128, x, y, 64)
        self.assertEqual(set(x), {2.0})
        with self.assertRaisesRegex(KeyError, "there is no entry 'sub'; there are add"):
            m["sub"]
        with self.assertRaisesRegex(KeyError, "several"):
            m["a"]
        self.assertEqual(list(m), ["_Z3addPfPKfi", "last"])

    def test_what_cannot_be_meant_is_refused_by_name(self):
        add, x, y = module(kernels.ADD)["add"], np.zeros(64, np.float32), np.zeros(64, np.float32)
        for grid in (np.int64(1), (np.int32(1), 1), np.array([1, 1])):
            self.assertTrue(add.launch(grid, np.int64(64), x, y).holds)
        for grid in ((4.9, 1, 1), 4.5, ("4",), "4", -1, 2**32, (1, 1, 1, 1), ()):
            with self.subTest(grid=grid), self.assertRaisesRegex(bitwell.InputError, "the grid is .*; it is a number, or"):
                add.launch(grid, 64, x, y)
        for options, words in ((dict(cluster=0), "the cluster is 0; without clusters it is None"),
                               (dict(cluster=(1, 0, 1)), "the cluster is"), (dict(cluster=2.0), "the cluster is 2.0"),
                               (dict(schedules=0), "schedules is 0; a launch runs under 1 to 1000000"),
                               (dict(schedules=2**40), "a launch runs under 1 to 1000000"), (dict(schedules=-1), "schedules is -1; it is a whole number"),
                               (dict(explain=True), "explain tells of what races finds: it needs races"),
                               (dict(seed=-1), "seed is -1; it is a whole number from 0"), (dict(seed=2**64), "seed is"),
                               (dict(shared=2**33), "shared is 8589934592; it is a whole number from 0"), (dict(shared=1.5), "shared is 1.5")):
            with self.subTest(options=options), self.assertRaisesRegex(bitwell.InputError, words):
                add.launch(1, 64, x, y, **options)
        self.assertTrue(add.launch(1, 64, x, y, races=True, explain=True).holds)

    def test_host_threads_change_nothing_but_time(self):
        self.assertGreaterEqual(bitwell.Process().threads, 1)
        self.assertEqual(bitwell.Process(threads=3).threads, 3)
        left, said = [], []
        for threads in (1, 2, 7, None):
            m = module(kernels.TURNS)
            x, nobody = np.arange(32 * 128, dtype=np.uint32), np.array([2**31], np.uint32)
            report = m["turns"].launch(128, 32, x, nobody, threads=threads)
            left.append((x.tobytes(), report.lane_instructions))
            with self.assertRaises(bitwell.Fault) as fault:
                m["turns"].launch(128, 32, x, np.array([77], np.uint32), threads=threads)
            self.assertEqual(fault.exception.cta, (77, 0, 0))
            said.append(str(fault.exception).splitlines()[0].split(" at 0x")[0])
        self.assertEqual(len(set(left)), 1)
        self.assertEqual(len(set(said)), 1, said)
        expected = np.arange(32 * 128, dtype=np.uint32)
        for _ in range(1000):
            expected = expected * np.uint32(5) + np.arange(32 * 128, dtype=np.uint32)
        self.assertEqual(left[0][0], expected.tobytes())
        for threads in (0, -1):
            with self.assertRaisesRegex(bitwell.InputError, "host threads"):
                m["turns"].launch(1, 32, x, nobody, threads=threads)

    def test_clusters_of_sixteen_are_for_entries_that_may(self):
        m = module(kernels.ADD)
        x, y = np.zeros(32 * 16, np.float32), np.zeros(32 * 16, np.float32)
        self.assertTrue(m["add"].launch(16, 32, x, y, cluster=8).holds)
        with self.assertRaisesRegex(bitwell.InputError, "16 CTAs, the limit is 8"):
            m["add"].launch(16, 32, x, y, cluster=16)
        other = module(kernels.ADD)["add"]
        m["add"].allow_non_portable_clusters()
        self.assertTrue(m["add"].launch(16, 32, x, y, cluster=16).holds)
        with self.assertRaisesRegex(bitwell.InputError, "32 CTAs"):
            m["add"].launch(32, 32, x, y, cluster=32)
        with self.assertRaises(bitwell.InputError):
            other.launch(16, 32, x, y, cluster=16)

    def test_what_is_no_ptx_is_refused(self):
        for image, words in (("no", "PTX"), (b"\x7fELF....", "machine code"), (b"\xff\xfe", "PTX"),
                             ("add.ptx", "from_file"), (kernels.HEAD + "bad bad;", "line 4")):
            with self.subTest(image=image), self.assertRaisesRegex(bitwell.InputError, words):
                bitwell.Module(image)
        self.assertEqual(list(bitwell.Module((kernels.HEAD + kernels.LAST).encode() + b"\0")), ["last"])
        m = module(kernels.LAST)
        m.unload()
        with self.assertRaisesRegex(bitwell.InputError, "unloaded"):
            m["last"].launch(1, 1, 0)


class LowLevel(unittest.TestCase):
    def test_a_process_by_addresses(self):
        p = bitwell.Process(schedules=3)
        host = np.arange(64, dtype=np.float32)
        at = host.ctypes.data
        p.adopt(at, 128, "first")
        p.adopt(at + 128, 128, "second", defined=False)
        m = p.load(kernels.HEAD + kernels.ADD)
        words = [at.to_bytes(8, "little"), (at + 128).to_bytes(8, "little")]
        report = p.launch(m, "add", 1, 32, words)
        self.assertIn("'second'", str(report.fault))
        self.assertEqual((p.written(at + 120, 8), p.written(at + 128, 128)), (b"\xff" * 8, bytes(128)))
        p.mark(at + 140, 3, written=True)
        self.assertEqual(p.written(at + 136, 10), bytes(4) + b"\xff" * 3 + bytes(3))
        with self.assertRaisesRegex(bitwell.InputError, "'first'"):
            p.written(at + 120, 16)  # of two buffers
        p.mark(at + 128, 128, written=True)
        self.assertTrue(p.launch(m, "add", (1, 1, 1), (32, 1, 1), words, races=True, shared=16, cluster=1).holds)
        np.testing.assert_array_equal(host[:32], np.arange(32) * 2 + 32)
        with self.assertRaisesRegex(bitwell.InputError, "'first' of 128 bytes"):
            p.adopt(at + 4, 8, "third")
        p.release(at)
        with self.assertRaises(bitwell.InputError):
            p.release(at)
        self.assertIn("freed", str(p.launch(m, "add", 1, 32, words).fault))
        own = p.allocate(64, "own")
        with self.assertRaises(bitwell.InputError):
            p.write(own + 60, b"12345678")
        p.write(own, bytes(range(64)))
        self.assertEqual(p.read(own + 8, 2), b"\x08\x09")

    def test_other_threads_wait_for_a_launch(self):
        p = bitwell.Process()
        m = bitwell.Module(kernels.HEAD + kernels.ADD, process=p)
        arrays = [np.zeros(64, np.float32) for _ in range(4)]
        one = np.ones(64, np.float32)

        def work(x):
            for _ in range(20):
                m["add"].launch(1, 64, x, one)

        threads = [threading.Thread(target=work, args=(x,)) for x in arrays]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual({float(v) for x in arrays for v in x}, {20.0})

    def test_control_c_ends_a_launch(self):
        spin = kernels.entry("spin", ".param .u64 x", "ld.param.u64 %a0, [x];\nagain:\nld.volatile.global.u32 %r0, [%a0];\n"
                             "add.u32 %r1, %r1, %r0;\nsetp.eq.u32 %p0, %r0, 0;\nst.volatile.global.u32 [%a0+4], %r1;\n"
                             "add.u32 %r1, %r1, 1;\n@%p0 bra again;\n").replace(".reg .b64", "mov.u32 %r1, 0;\n.reg .b64", 0)
        x = np.zeros(2, np.uint32)
        threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            module(spin.replace("again:", "mov.u32 %r1, 0;\nagain:"))["spin"].launch(1, 1, x)
        self.assertTrue(module(kernels.LAST)["last"].launch(1, 1, x).holds)


if __name__ == "__main__":
    unittest.main()
