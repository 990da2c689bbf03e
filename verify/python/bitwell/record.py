"""A launch with its memory as a launch file, which `bitwell run` replays."""
import ctypes
import dataclasses
import json
import pathlib

GRAIN = 256  # where a buffer of a launch file may begin


@dataclasses.dataclass(frozen=True)
class Launch:
    ptx: str
    entry: str
    grid: tuple
    block: tuple
    arguments: list  # bytes of each parameter
    shared: int = 0
    cluster: tuple = (1, 1, 1)
    more: dict = dataclasses.field(default_factory=dict)  # further keys of a launch file


@dataclasses.dataclass(frozen=True)
class Buffer:
    name: str
    address: int
    bytes: bytes


def bytes_of(allocations):
    """As they stand now. Those that share a grain become one buffer."""
    out = []
    for a in allocations:
        begin = a.address // GRAIN * GRAIN
        if out and begin < -(-out[-1][1] // GRAIN) * GRAIN:
            first, _, names = out[-1]
            out[-1] = (first, max(out[-1][1], a.end), names + [a.name])
        else:
            out.append((begin, a.end, [a.name]))
    return [Buffer(f"{'_'.join(names)}.{i}", begin, ctypes.string_at(begin, end - begin)) for i, (begin, end, names) in enumerate(out)]


def write(launch, buffers, folder):
    """LAUNCH.json and its files in the folder; its path."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.ptx").write_text(launch.ptx)
    listed = []
    for b in buffers:
        row = {"buffer": b.name, "address": b.address}
        row["bin"] = f"{b.name}.bin"
        (folder / row["bin"]).write_bytes(b.bytes)
        row["output"] = f"{b.name}.out.bin"
        listed.append(row)
    out = {"ptx": "kernel.ptx", "entry": launch.entry, "grid": list(launch.grid), "block": list(launch.block), "buffers": listed,
           "arguments": [{"bytes": a.hex()} for a in launch.arguments]}
    if launch.shared:
        out["dynamic_shared_bytes"] = launch.shared
    if any(c > 1 for c in launch.cluster):
        out["cluster"] = list(launch.cluster)
    out |= {key: value for key, value in launch.more.items() if value}
    path = folder / "LAUNCH.json"
    path.write_text(json.dumps(out, indent=1) + "\n")
    return path
