"""What was found of a launch is found again by the command that replays it."""
import json
import pathlib
import shlex
import subprocess
import tempfile
import unittest

import numpy as np

import bitwell
import kernels
from bitwell import gpu, record
from bitwell.command import binary

COPY = kernels.entry("copy", kernels.TWO, kernels.POINTERS + "ld.global.u32 %r1, [%a3];\nst.global.u32 [%a4], %r1;\n")
# *(*x) to y: x holds an address.
FOLLOW = kernels.entry("follow", kernels.TWO, "ld.param.u64 %a0, [x];\nld.param.u64 %a1, [y];\nld.global.u64 %a2, [%a0];\n"
                       "ld.global.u32 %r1, [%a2];\nst.global.u32 [%a1], %r1;\n")
TABLE = (".visible .const .align 4 .b8 table[8];\n.visible .global .align 4 .u32 launches = 5;\n"
         + kernels.entry("table", ".param .u64 x", "ld.param.u64 %a0, [x];\nld.global.u32 %r0, [launches];\nsub.u32 %r0, %r0, 5;\n"
                         "mul.wide.u32 %a1, %r0, 4;\nadd.u64 %a0, %a0, %a1;\nld.const.u32 %r1, [table+4];\nst.global.u32 [%a0], %r1;\n"
                         "add.u32 %r0, %r0, 6;\nst.global.u32 [launches], %r0;\n"))


class Replays(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def gpu(self, **settings):
        return gpu.Gpu(gpu.Settings(report=self.folder, **settings))

    def adopt(self, on, array, name, **more):
        on.adopt(array.ctypes.data, array.nbytes, name, **more)
        return array.ctypes.data.to_bytes(8, "little")

    def launch(self, on, body, entry, arguments, block=1, **more):
        report = on.launch(on.module_of(kernels.HEAD + body), entry, 1, block, arguments, **more)
        return report, on.launched[-1]

    def replayed(self, row):
        """Status and words of the command that the row has."""
        self.assertTrue(row.replay.startswith("replay: bitwell run "), row.replay)
        self.assertNotIn("lacks", row.replay)
        words = shlex.split(row.replay.removeprefix("replay: bitwell "))
        ran = subprocess.run([binary(), *words], capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr

    def test_a_race(self):
        on = self.gpu(races=True)
        x, y = np.ones(32, np.float32), np.ones(32, np.float32)
        _, row = self.launch(on, kernels.EXCHANGE, "exchange", [self.adopt(on, x, "x"), self.adopt(on, y, "y")], 32)
        self.assertEqual(row.verdict, "race")
        status, said = self.replayed(row)
        self.assertEqual(status, 1, said)
        self.assertIn("__syncwarp", said)

    def test_an_order(self):
        for settings, more, words in (({"schedules": 7}, {}, "--schedules 7"), ({}, {"schedules": 6, "schedule": "eager"}, "--schedules 7"),
                                      ({"strict": True}, {"schedules": 8}, "--schedules 8 --strict")):
            on = self.gpu(**settings)
            x = np.zeros(1, np.uint32)
            _, row = self.launch(on, kernels.LAST, "last", [self.adopt(on, x, "x")], 96, **more)
            self.assertEqual(row.verdict, "order")
            self.assertTrue(row.replay.endswith(words), row.replay)
            status, said = self.replayed(row)
            self.assertEqual(status, 1, said)

    def test_one_order_by_its_seed(self):
        on = self.gpu(keep=True)
        x = np.zeros(1, np.uint32)
        argument = self.adopt(on, x, "x")
        for seed in range(4):
            _, row = self.launch(on, kernels.LAST, "last", [argument], 96, schedule="random", seed=seed)
            self.assertEqual(row.verdict, "held")
            self.assertEqual(self.replayed(row)[0], 0)
            self.assertEqual((pathlib.Path(row.file).parent / "out" / "x.bin").read_bytes(), x.tobytes(), seed)

    def test_what_was_never_written(self):
        for count, written in ((32, 0), (32, 31), (31, 20)):  # all of it; its last element; some and no whole number of words
            on = self.gpu()
            x, y = np.ones(32, np.float32), np.ones(32, np.float32)
            arguments = [self.adopt(on, x, "x"), self.adopt(on, y, "y", defined=False)]
            if written:
                on.mark(y.ctypes.data, 4 * written, True)
            report, row = self.launch(on, kernels.ADD, "add", arguments, count)
            self.assertIn("never written", report.text)
            status, said = self.replayed(row)
            self.assertEqual(status, 1, said)
            self.assertIn(report.text.splitlines()[0].split(": ", 1)[1], said)
            if written:
                on.mark(y.ctypes.data, 4 * written, True)
                on.settings.keep = True
                _, row = self.launch(on, kernels.ADD, "add", arguments, written)
                self.assertEqual((row.verdict, self.replayed(row)[0]), ("held", 0))

    def test_a_neighbour(self):
        on = self.gpu()
        both = np.ones(66, np.float32)
        x, y = both[:32], both[33:65]  # 4 bytes between them, in one grain of 256
        arguments = [self.adopt(on, x, "x"), self.adopt(on, y, "y")]
        report, row = self.launch(on, kernels.ADD, "add", arguments, 33)
        self.assertIn("out-of-bounds", report.text)
        status, said = self.replayed(row)
        self.assertEqual(status, 1, said)
        self.assertIn("128 bytes into 'x' of 128 bytes", said)

    def test_what_is_read_only(self):
        on = self.gpu()
        x, y = np.ones(32, np.float32), np.ones(32, np.float32)
        arguments = [self.adopt(on, x, "x", read_only=True), self.adopt(on, y, "y")]
        report, row = self.launch(on, kernels.ADD, "add", arguments, 32)
        self.assertIn("read-only", report.text)
        status, said = self.replayed(row)
        self.assertEqual(status, 1, said)
        self.assertIn("read-only", said)

    def test_variables_and_constants(self):
        on = self.gpu(keep=True)
        on.module_of(kernels.HEAD + kernels.COUNT)  # another module's variables stand where the first one's do
        x = np.zeros(3, np.uint32)
        argument = self.adopt(on, x, "x")
        module = on.module_of(kernels.HEAD + TABLE)
        variables = {v["name"]: v for v in json.loads(on._native.module(module))["variables"]}
        on.write(variables["table"]["address"] + 4, (77).to_bytes(4, "little"))
        for number in range(3):
            _, row = self.launch(on, TABLE, "table", [argument])
            self.assertEqual(row.verdict, "held")
        self.assertEqual(x.tolist(), [77, 77, 77])
        _, row = self.launch(on, TABLE, "table", [argument])  # the fourth is out of bounds
        self.assertEqual(row.verdict, "fault")
        status, said = self.replayed(row)
        self.assertEqual(status, 1, said)
        self.assertIn("12 bytes into 'x' of 12 bytes", said)
        row = on.launched[-2]
        self.assertEqual(self.replayed(row)[0], 0)
        out = pathlib.Path(row.file).parent / "out"
        self.assertEqual((out / "x.bin").read_bytes(), x.tobytes())
        self.assertEqual(int.from_bytes((out / "launches.bin").read_bytes(), "little"), 8)

    def test_an_argument_that_points_to_a_variable(self):
        on = self.gpu(keep=True)
        on.module_of(kernels.HEAD + kernels.COUNT)
        body = ".visible .global .align 8 .u64 here = 41;\n" + FOLLOW.replace("ld.global.u32 %r1, [%a2];", "cvt.u32.u64 %r1, %a2;")
        module = on.module_of(kernels.HEAD + body)
        (variable,) = json.loads(on._native.module(module))["variables"]
        y = np.zeros(1, np.uint32)
        _, row = self.launch(on, body, "follow", [variable["address"].to_bytes(8, "little"), self.adopt(on, y, "y")])
        self.assertEqual((row.verdict, y[0]), ("held", 41))
        self.assertEqual(self.replayed(row)[0], 0)

    def test_pointers_are_followed(self):
        for bytes, where in ((8, 0), (100000, 80004)):  # a word of x, also one that stands on no boundary of 8
            on = self.gpu(keep=True)
            x, y, z = np.zeros(bytes, np.uint8), np.zeros(1, np.uint32), np.full(1, 42, np.uint32)
            x[where:where + 8] = np.frombuffer(z.ctypes.data.to_bytes(8, "little"), np.uint8)
            self.adopt(on, z, "z")
            first = (int.from_bytes(self.adopt(on, x, "x"), "little") + where).to_bytes(8, "little")
            body = FOLLOW.replace("ld.global.u64 %a2, [%a0];", "ld.global.u32 %r2, [%a0];\nld.global.u32 %r3, [%a0+4];\nmov.b64 %a2, {%r2, %r3};")
            _, row = self.launch(on, body, "follow", [first, self.adopt(on, y, "y")])
            self.assertEqual((row.verdict, y[0]), ("held", 42))
            self.assertEqual(self.replayed(row)[0], 0)

    def test_what_a_replay_lacks_is_said(self):
        on = self.gpu(keep=True)
        x, y, z = np.zeros(1 << 18, np.uint64), np.zeros(1, np.uint32), np.full(1, 42, np.uint32)
        x[0] = z.ctypes.data
        self.adopt(on, z, "z")
        _, row = self.launch(on, FOLLOW, "follow", [self.adopt(on, x, "x"), self.adopt(on, y, "y")])
        self.assertEqual(row.replay.splitlines()[1:], ["the replay lacks 'z', to which 'x' points"])

    def test_a_launch_that_may_overlap_lacks_the_one_before(self):
        on = self.gpu(keep=True, races=True)
        x, y = np.ones(32, np.float32), np.ones(32, np.float32)
        arguments = [self.adopt(on, x, "x"), self.adopt(on, y, "y")]
        self.launch(on, kernels.ADD, "add", arguments, 32)
        _, row = self.launch(on, kernels.ADD, "add", arguments, 32, programmatic=True)
        self.assertEqual(row.verdict, "race")
        self.assertEqual(row.replay.splitlines()[1:], ["the replay lacks the launch before it, which may go on meanwhile"])

    def test_where_there_is_none_is_said(self):
        x, y = np.ones(32, np.float32), np.ones(32, np.float32)
        on = self.gpu()
        arguments = [self.adopt(on, x, "x"), self.adopt(on, y, "y")]
        most, gpu.KEPT = gpu.KEPT, 255
        try:
            _, row = self.launch(on, kernels.ADD, "add", arguments, 33)
        finally:
            gpu.KEPT = most
        self.assertEqual((row.verdict, row.file), ("fault", ""))
        self.assertRegex(row.replay, "no replay: .* 256 bytes, and no more than 255")
        on.settings.report = self.folder / "a file"
        on.settings.report.write_text("")
        report, row = self.launch(on, kernels.ADD, "add", arguments, 33)
        self.assertEqual((row.verdict, row.file), ("fault", ""))
        self.assertIn("out-of-bounds", report.text)
        self.assertRegex(row.replay, "no replay: .*a file")
        self.assertEqual(on.notes, [row.replay])

    def test_long_names_of_tests_and_kernels(self):
        on = self.gpu()
        on.where = "test_" + "x" * 400
        long = "kernel_" + "y" * 400
        body = kernels.ADD.replace(" add(", f" {long}(")
        x = np.ones(32, np.float32)
        self.adopt(on, x, "x" * 500)
        on.launch(on.module_of(kernels.HEAD + body), long, 1, 33, [x.ctypes.data.to_bytes(8, "little")] * 2)
        row = on.launched[-1]
        self.assertTrue(all(len(part) <= 100 for part in pathlib.Path(row.file).relative_to(self.folder).parts), row.file)
        self.assertEqual(self.replayed(row)[0], 1)
        self.assertNotEqual(record.folder_name("x" * 101), record.folder_name("x" * 102))

    def test_a_bug_of_bitwell_leaves_its_words(self):
        on = self.gpu()
        x = np.ones(32, np.float32)
        argument = self.adopt(on, x, "x")
        launch, bitwell.Process.launch = bitwell.Process.launch, lambda *_, **__: (_ for _ in ()).throw(bitwell.ModelBug("what cannot be"))
        try:
            with self.assertRaises(bitwell.ModelBug):
                self.launch(on, kernels.ADD, "add", [argument, argument], 32)
        finally:
            bitwell.Process.launch = launch
        self.assertEqual((on.launched[-1].verdict, on.launched[-1].message), ("bug", "what cannot be"))
        self.assertEqual(self.replayed(on.launched[-1])[0], 0)


class Undone(unittest.TestCase):
    def test_memory_comes_back_with_what_was_written_of_it(self):
        on = gpu.Gpu(gpu.Settings())
        module = on.module_of(kernels.HEAD + TABLE)
        x, gone = np.zeros(3, np.uint32), np.zeros(64, np.uint32)
        on.adopt(x.ctypes.data, x.nbytes, "x", defined=False)
        own = on.allocate(12, "own")
        on.adopt(gone.ctypes.data, gone.nbytes, "gone")
        before = on.snapshot()
        for address in (x.ctypes.data, own):
            report = on.launch(module, "table", 1, 1, [address.to_bytes(8, "little")])
            self.assertTrue(report.holds, report.text)
        on.write(own, bytes([7] * 12))
        after = on.snapshot()
        self.assertEqual(before.changed(after)[own], bytes([7] * 12))
        self.assertNotIn(gone.ctypes.data, before.changed(after))
        on.release(gone.ctypes.data)
        new = np.full(4, 9, np.uint8)
        on.adopt(new.ctypes.data, 4, "new")
        on.restore(before)
        self.assertEqual((on.read(own, 12), new.tolist()), (bytes(12), [9] * 4))
        on.adopt(gone.ctypes.data, gone.nbytes, "gone again")
        report = on.launch(module, "table", 1, 1, [x.ctypes.data.to_bytes(8, "little")])
        self.assertTrue(report.holds, report.text)  # the count of launches came back: it is the first again
        self.assertEqual(x.tolist()[1:], [0, 0])
        body = kernels.entry("one", kernels.TWO, kernels.POINTERS + "ld.global.u32 %r1, [%a3];\nst.global.u32 [%a4], %r1;\n")
        y = np.zeros(1, np.uint32)
        on.adopt(y.ctypes.data, 4, "y")
        for address in (x.ctypes.data + 4, own):
            report = on.launch(on.module_of(kernels.HEAD + body), "one", 1, 1,
                               [address.to_bytes(8, "little"), y.ctypes.data.to_bytes(8, "little")])
            self.assertIn("never written", report.text)


if __name__ == "__main__":
    unittest.main()
