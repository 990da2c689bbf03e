"""A launch with its memory as a launch file, which `bitwell run` replays."""
import dataclasses
import json
import pathlib
import re

GRAIN = 256  # where a buffer of a launch file may begin


@dataclasses.dataclass(frozen=True)
class Buffer:
    name: str
    address: int
    bytes: bytes


def buffers(allocations, bytes_of):
    """Allocations, in order, as they stand now. Those that share a grain become one."""
    groups = []
    for a in allocations:
        if groups and a.address // GRAIN * GRAIN < groups[-1][-1].end:
            groups[-1].append(a)
        else:
            groups.append([a])
    out = []
    for i, group in enumerate(groups):
        begin = group[0].address // GRAIN * GRAIN
        whole = bytearray(group[-1].end - begin)
        for a in group:
            whole[a.address - begin:a.end - begin] = bytes_of(a)
        out.append(Buffer(re.sub(r"\W+", "_", "_".join(a.name for a in group))[:60] + f".{i}", begin, bytes(whole)))
    return out


def three(extent):
    return [extent] if isinstance(extent, int) else [int(e) for e in extent]


def write(folder, ptx, entry, grid, block, arguments, buffers, cluster=None, shared=0, cooperative=False, **_):
    """LAUNCH.json and its files in the folder; its path."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.ptx").write_text(ptx)
    listed = []
    for b in buffers:
        (folder / f"{b.name}.bin").write_bytes(b.bytes)
        listed.append({"buffer": b.name, "address": b.address, "bin": f"{b.name}.bin", "output": f"{b.name}.out.bin"})
    out = {"ptx": "kernel.ptx", "entry": entry, "grid": three(grid), "block": three(block), "buffers": listed,
           "arguments": [{"bytes": a.hex()} for a in arguments]}
    if shared:
        out["dynamic_shared_bytes"] = shared
    if cluster is not None and max(three(cluster)) > 1:
        out["cluster"] = three(cluster)
        out["non_portable_cluster"] = True
    if cooperative:
        out["cooperative"] = True
    path = folder / "LAUNCH.json"
    path.write_text(json.dumps(out, indent=1) + "\n")
    return path
