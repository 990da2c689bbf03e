"""Launches over the host's memory: each is written as a LAUNCH.json, run by `bitwell run`, and its results handed back.

A buffer has the address that the host's memory has, so that addresses inside of buffers lead where they should.
"""
import collections
import ctypes
import json
import pathlib
import subprocess

GRAIN = 256  # where a buffer may begin
Span = collections.namedtuple("Span", "address bytes")


class Refused(RuntimeError):
    """What bitwell ended with."""


class Simulator:
    def __init__(self, bitwell, folder):
        self.bitwell, self.folder = str(bitwell), pathlib.Path(folder)
        self.made = []  # of every launch: kernel, folder, exit status and the report

    def buffers(self, spans):
        """Spans that share a grain become one: (address, end, those in it)."""
        out = []
        for s in sorted(set(spans)):
            begin, end = s.address // GRAIN * GRAIN, s.address + s.bytes
            if out and begin < -(-out[-1][1] // GRAIN) * GRAIN:
                last = out[-1]
                out[-1] = (last[0], max(last[1], end), last[2] + [s])
            else:
                out.append((begin, end, [s]))
        return out

    def launch(self, ptx, entry, grid, block, arguments, spans, shared=0, cluster=1, **more):
        """Arguments are bytes; a launch that bitwell does not run to its end raises Refused."""
        folder = self.folder / f"{len(self.made):03}.{entry[:60]}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kernel.ptx").write_text(ptx)
        buffers, held = [], self.buffers(spans)
        for i, (begin, end, _) in enumerate(held):
            (folder / f"b{i}.bin").write_bytes(ctypes.string_at(begin, end - begin))
            buffers.append({"buffer": f"b{i}", "address": begin, "bin": f"b{i}.bin", "output": f"b{i}.out.bin"})
        launch = {"ptx": "kernel.ptx", "entry": entry, "grid": list(grid), "block": list(block), "buffers": buffers,
                  "arguments": [{"bytes": a.hex()} for a in arguments]}
        launch |= {key: value for key, value in more.items() if value}
        if shared:
            launch["dynamic_shared_bytes"] = shared
        if cluster > 1:
            launch["cluster"] = [cluster]
        (folder / "launch.json").write_text(json.dumps(launch, indent=1))
        ran = subprocess.run([self.bitwell, "run", "--json", str(folder / "launch.json")], capture_output=True, text=True)
        report = json.loads(ran.stdout) if ran.stdout.startswith("{") else {}
        self.made.append({"kernel": entry, "folder": str(folder), "status": ran.returncode, "seconds": report.get("seconds")})
        print(f"  {entry}: {ran.returncode}, {report.get('seconds', 0):.2f} s", flush=True)
        if ran.returncode != 0:
            raise Refused(ran.stderr.strip()[:2000])
        for i, (begin, _, those) in enumerate(held):
            out = (folder / f"b{i}.out.bin").read_bytes()
            for s in those:
                at = s.address - begin
                ctypes.memmove(s.address, out[at:at + s.bytes], s.bytes)
        for old in folder.glob("*.out.bin"):
            old.unlink()
