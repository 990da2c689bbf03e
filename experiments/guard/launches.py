"""The launches that the guard and the scaling table time: kernels.cu here, and kernels of bitwell's own."""
import json
import os
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KERNELS = ROOT / "build/release/share/bitwell/kernels"


@dataclass
class Subject:
    """A launch by name, the options of `bitwell run` that it is timed with, and what it is for: so many MAC or bytes (B)."""

    name: str
    launch: dict
    options: list = field(default_factory=list)
    work: int = 0
    unit: str = "MAC"


def s32(*values):
    return [{"type": "s32", "value": v} for v in values]


def f32_buffer(name, count):
    return {"buffer": name, "generate": {"kind": "uniform_f32", "bytes": 4 * count}}


def bits(name, size):
    return {"buffer": name, "generate": {"kind": "uniform_bits", "bytes": size}, "read_only": True}


def numbers(name, size, clear):
    """Random bytes without these bits, by turns: random bits of fp16 and E4M3 are NaN too often. written() makes them."""
    return {"buffer": name, "bytes_without": [size, clear], "read_only": True}


def halves(name, count):
    """fp16 numbers below 1: of random bits many would be NaN."""
    return {"buffer": name, "values": [(i * 37 % 97) / 97 - 0.5 for i in range(97)] * (count // 97 + 1), "format": "f16"}


def compiled(folder):
    """kernels.cu as PTX, by the nvcc that there is."""
    out = folder / "kernels.ptx"
    nvcc = os.environ.get("NVCC", "nvcc")
    subprocess.run([nvcc, "-arch=sm_90a", "-O3", "-ptx", "-lineinfo", "-o", out, HERE / "kernels.cu"], check=True)
    return str(out)


def simple(ptx, entry, grid, block, arguments, **more):
    return {"ptx": ptx, "entry": entry, "grid": [grid], "block": [block], "arguments": arguments, **more}


def gemv(rung, m, k, l=1, split=1):
    """One of kernels/gemv that takes a thread or several a row; the contest's layout of scales."""
    file = KERNELS / f"gemv/{rung}.sm_90a.ptx"
    scales = lambda rows: l * ((rows + 127) // 128) * ((k // 16 + 3) // 4) * 512
    rows = 128 // split
    block = [rows, split] if split > 1 else [128]
    return {"ptx": str(file), "entry": f"gemv_{rung}_blocked", "grid": [(m + rows - 1) // rows, l], "block": block,
            "arguments": [bits("a", l * m * k // 2), bits("b", l * k // 2), bits("sfa", scales(m)), bits("sfb", scales(1)),
                          {"buffer": "c", "unwritten": 2 * l * m}] + s32(m, k, l)}


def tma_copy(rows, boxes, times):
    size = rows * boxes * 128
    map_of = lambda name: {"tensor_map": name, "type": "f16", "dims": [64 * boxes, rows, 1],
                           "strides": [128 * boxes, size], "box": [64, 64, 1], "swizzle": "128b"}
    return {"ptx": str(KERNELS / "peer/tensor_copy.sm_90a.ptx"), "entry": "tensor_copy", "grid": [rows // 64], "block": [32],
            "buffers": [bits("from", size), {"buffer": "to", "unwritten": size}],
            "arguments": [map_of("from"), map_of("to")] + s32(boxes, times)}


def hopper_gemm(m, n, k):
    """gemm_m128_split1_f16 of kernels/gemm, behind the kernel that decodes A: here A is fp16 from the start."""
    maps = [{"tensor_map": "a", "type": "f16", "dims": [k, m, 1], "strides": [2 * k, 2 * k * m], "box": [64, 128, 1],
             "swizzle": "128b"},
            {"tensor_map": "b", "type": "u8", "dims": [k // 2, n, 1], "strides": [k // 2, k // 2 * n], "box": [32, 128, 1]},
            {"tensor_map": "d", "type": "f16", "dims": [n, m, 1], "strides": [2 * n, 2 * n * m], "box": [64, 64, 1],
             "swizzle": "128b"}]
    scales = ((n + 127) // 128) * ((k // 16 + 3) // 4) * 512
    return {"ptx": str(KERNELS / "gemm/gemm_m128_split1_f16.sm_90a.ptx"), "entry": "gemm_m128_split1_f16",
            "grid": [m // 128 * (n // 128), 1], "block": [384], "cluster": [1, 1], "dynamic_shared_bytes": 232448,
            "buffers": [numbers("a", 2 * m * k, [0, 0x40]), bits("b", n * k // 2), {"buffer": "d", "unwritten": 2 * m * n}],
            "arguments": maps + [numbers("sfb", scales, [0x40]), {"pointer": "d"}] + s32(m, n, k, 1)}


def dense(m, n, k):
    """dense_m128_n256 of kernels/dense: NVFP4 by tcgen05."""
    codes = lambda name, rows, box: {"tensor_map": name, "type": "u4x16_align8b", "dims": [k, rows, 1],
                                     "strides": [k // 2, k // 2 * rows], "box": [256, box, 1], "swizzle": "128b"}
    steps = k // 64
    scales = lambda name, rows: {"tensor_map": name, "type": "u16", "dims": [256, steps, (rows + 127) // 128, 1],
                                 "strides": [512, 512 * steps, 512 * steps * ((rows + 127) // 128)], "box": [256, 4, 1, 1]}
    stage = 128 * 128 + 256 * 128 + 3 * 4 * 512
    shared = lambda stages: stages * stage + (2 * stages + 16) * 8 + 1024
    stages = max(s for s in range(1, 9) if shared(s) <= 232448)
    return {"ptx": str(KERNELS / "dense/dense_m128_n256.sm_100a.ptx"), "entry": "dense_m128_n256",
            "grid": [m // 128, n // 256, 1], "block": [192], "cluster": [1, 1, 1], "dynamic_shared_bytes": shared(stages),
            "buffers": [bits("a", m * k // 2), bits("b", n * k // 2), numbers("sfa", m // 128 * steps * 512, [0x40]),
                        numbers("sfb", (n + 127) // 128 * steps * 512, [0x40]), {"buffer": "d", "unwritten": 2 * m * n}],
            "arguments": [codes("a", m, 128), codes("b", n, 256), scales("sfa", m), scales("sfb", n), codes("a", m, 128),
                          {"pointer": "d"}, {"buffer": "c", "zeros": 2 * m * n, "read_only": True},
                          {"buffer": "alpha", "values": [1], "format": "f32"},
                          {"buffer": "beta", "values": [0], "format": "f32"}] + s32(m, n, k, 1)}


def many(ptx, count):
    return simple(ptx, "nothing", 1, 32, s32(0), then=[
        {"entry": "nothing", "grid": [1], "block": [32], "arguments": s32(0)} for _ in range(count - 1)])


# Opcode, kind of its result, operands: a kind of register, or what stands there.
LINES = [("add.s32", "r", "r", "7"), ("add.s64", "rd", "rd", "16"), ("ld.global.nc.f32", "f", "[%rd2+4]"),
         ("fma.rn.f32", "f", "f", "f", "f"), ("fma.rn.f32", "f", "f", "f", "f"), ("mul.lo.s32", "r", "r", "r"),
         ("shl.b32", "r", "r", "2"), ("cvt.rn.bf16x2.f32", "r", "f", "f"), ("selp.f32", "f", "f", "0f00000000", "p"),
         ("setp.lt.s32", "p", "r", "r"), ("xor.b32", "r", "r", "r"), ("st.global.f32", "", "[%rd2+8]", "f")]


def ptx_of(lines):
    """So many lines as compilers write them: a result is a register of its own, and branches end blocks."""
    chance = random.Random(1)
    last = dict.fromkeys(("r", "f", "rd", "p"), 2)  # of each kind, the number that was written last
    near = lambda kind: f"%{kind}{chance.randint(max(1, last[kind] - 40), last[kind])}" if kind in last else kind
    out = [".version 9.0", ".target sm_90a", ".address_size 64", ".visible .entry lines(.param .u64 at)", "{",
           *(f"  .reg .{type} \t%{kind}<{lines}>;" for kind, type in
             (("p", "pred"), ("f", "f32"), ("r", "b32"), ("rd", "b64"))),
           "  ld.param.u64 \t%rd1, [at];", "  cvta.to.global.u64 \t%rd2, %rd1;", "  mov.u32 \t%r1, %tid.x;",
           "  mov.u32 \t%r2, %ntid.x;", "  mov.f32 \t%f1, 0f3F800000;", "  mov.f32 \t%f2, 0f40000000;",
           "  setp.eq.s32 \t%p1, %r1, 0;", "  setp.ne.s32 \t%p2, %r1, 0;"]
    while len(out) < lines - 3:
        if chance.random() < 0.04:
            out += [f"  @{near('p')} bra \t$L{len(out)};", f"$L{len(out)}:"]
            continue
        opcode, kind, *operands = chance.choice(LINES)
        operands = [near(o) for o in operands]
        if kind:
            last[kind] += 1
            operands.insert(0, f"%{kind}{last[kind]}")
        out.append(f"  {opcode} \t{', '.join(operands)};")
    return "\n".join([*out, "  ret;", "}", ""])


def subjects(ptx, scale=1):
    """All of them; `scale` multiplies how many CTAs a launch has."""
    n = 1 << 21
    saxpy = simple(ptx, "saxpy", n * scale // 256, 256, [{"type": "f32", "value": 1.5}, f32_buffer("x", n * scale),
                                                         f32_buffer("y", n * scale)] + s32(n * scale))
    loop = simple(ptx, "saxpy_loop", 128 * scale, 128, [{"type": "f32", "value": 1.5}, f32_buffer("x", 65536),
                                                        f32_buffer("y", 65536)] + s32(65536))
    arithmetic = simple(ptx, "arithmetic", 264 * scale, 128, [{"buffer": "out", "unwritten": 264 * scale * 512}] + s32(2000))
    reduction = simple(ptx, "reduction", 256 * scale, 256, [
        f32_buffer("x", 256 * scale * 256 * 64), {"buffer": "sums", "unwritten": 1024 * scale}] + s32(64))
    scan = simple(ptx, "scan", 2048 * scale, 256, [bits("x", 2048 * scale * 2048), {"buffer": "y", "unwritten": 2048 * scale * 2048}],
                  dynamic_shared_bytes=2048)
    softmax = simple(ptx, "softmax", 1024 * scale, 256, [f32_buffer("x", 1024 * scale * 2048)] + s32(2048))
    layernorm = simple(ptx, "layernorm", 1024 * scale, 256, [
        f32_buffer("x", 1024 * scale * 2048), f32_buffer("gain", 2048), f32_buffer("bias", 2048),
        {"buffer": "y", "unwritten": 4 * 1024 * scale * 2048}] + s32(2048))
    rows = 1024 * scale
    attention = simple(ptx, "attention", rows // 64, 128, [
        halves("q", 64 * rows), halves("k", 64 * 512), halves("v", 64 * 512), {"buffer": "out", "unwritten": 128 * rows}] + s32(512))
    return [
        Subject("saxpy", saxpy),
        Subject("saxpy loop", loop),
        Subject("arithmetic", arithmetic),
        Subject("reduction", reduction),
        Subject("scan", scan),
        Subject("softmax", softmax),
        Subject("layernorm", layernorm),
        Subject("attention", attention, work=2 * rows * 512 * 64),
        Subject("gemv naive", gemv("naive", 2048 * scale, 8192), work=2048 * scale * 8192),
        Subject("gemv fused", gemv("fused", 8192 * scale, 8192), work=8192 * scale * 8192),
        Subject("gemv intrinsics", gemv("intrinsics", 4096 * scale, 8192), work=4096 * scale * 8192),
        Subject("hopper gemm", hopper_gemm(256 * scale, 512, 1024), work=256 * scale * 512 * 1024),
        Subject("dense nvfp4", dense(256 * scale, 1024, 4096), work=256 * scale * 1024 * 4096),
        Subject("tma copy", tma_copy(1024 * scale, 16, 64), work=1024 * scale * 16 * 128 * 64 * 2, unit="B"),
        Subject("10^4 launches", many(ptx, 10_000)),
        Subject("10^5 lines", {"ptx_lines": 100_000, "entry": "lines", "grid": [1], "block": [32],
                               "arguments": [f32_buffer("at", 64)]}),
        Subject("softmax --races", {**softmax, "grid": [256 * scale]}, ["--races"]),
        Subject("attention --races", attention, ["--races"]),
        Subject("hopper gemm --races", hopper_gemm(256 * scale, 512, 512), ["--races"]),
    ]


def written(subject, folder):
    chance = random.Random(1)
    for buffer in subject.launch.get("buffers", []) + subject.launch["arguments"]:
        if "bytes_without" in buffer:
            size, clear = buffer.pop("bytes_without")
            data = bytearray(chance.randbytes(size))
            for at, bits_cleared in enumerate(clear):
                table = bytes(v & ~bits_cleared for v in range(256))
                data[at::len(clear)] = data[at::len(clear)].translate(table)
            file = folder / f"{subject.name.replace(' ', '_')}.{buffer['buffer']}.bin"
            file.write_bytes(data)
            buffer["bin"] = str(file)
    if "ptx_lines" in subject.launch:
        text = folder / "lines.ptx"
        text.write_text(ptx_of(subject.launch.pop("ptx_lines")))
        subject.launch["ptx"] = str(text)
    file = folder / (subject.name.replace(" ", "_").replace("^", "") + ".json")
    file.write_text(json.dumps(subject.launch))
    return str(file)
