"""Kernels in Warp: arrays are structures by value, and a module brings its whole library along."""
import pathlib
import re
import tempfile

import numpy as np
import warp as wp

from case import Case, In, Out, kernel, random, scalar

wp.config.quiet = True
wp.init()


def array(name, value):
    """wp.array_t by value: data, gradient, shape and strides of 4 each, dimensions, flags."""
    a = value.array if isinstance(value, In) else np.empty(value.expected.shape, value.dtype)
    fields = [{"at": 0, "pointer": name}]
    fields += [{"at": 16 + 4 * i} | scalar("s32", n) for i, n in enumerate(a.shape)]
    fields += [{"at": 32 + 4 * i} | scalar("s32", n) for i, n in enumerate(a.strides)]
    return {"struct": [*fields, {"at": 48} | scalar("s32", a.ndim)], "size": 56}


def bounds(dims):
    """wp.launch_bounds_t: shape of 4, dimensions, and the number of threads at byte 24."""
    fields = [{"at": 4 * i} | scalar("s32", n) for i, n in enumerate(dims)]
    return {"struct": [*fields, {"at": 16} | scalar("s32", len(dims)), {"at": 24} | scalar("u64", int(np.prod(dims)))], "size": 32}


def compiled(arch, function, dims, block=256, fused=True, **arguments):
    """The Case of a @wp.kernel, each of a module of its own: In and Out (arrays), int and float, in its order."""
    function.module.options["block_dim"] = block
    function.module.options["fuse_fp"] = fused
    with tempfile.TemporaryDirectory() as folder:
        wp.compile_aot_module(function.module, arch=int(arch[3:].rstrip("a")), module_dir=folder, use_ptx=True)
        ptx = next(pathlib.Path(folder).glob("*.ptx")).read_text()
    entry = re.search(r"\.entry (\w+_cuda_kernel_forward)\(", ptx).group(1)
    passed = [bounds(dims)]
    for name, value in arguments.items():
        if isinstance(value, (In, Out)):
            passed.append(array(name, value))
        else:
            passed.append(scalar("f32" if isinstance(value, float) else "s32", value))
    buffers = {n: v for n, v in arguments.items() if isinstance(v, (In, Out))}
    grid = (-(-int(np.prod(dims)) // block),)
    return Case(f"Warp {wp.__version__}", ptx, entry, grid, (block,), buffers, passed)


@wp.kernel(module="unique", enable_backward=False)
def scale(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] - y[i]


@kernel("warp_scale")
def _(arch):
    x, y = random(1000), random(1000, seed=2)
    return compiled(arch, scale, (1000,), x=In(x), y=Out(4 * x - y, before=y), a=4.0)


@wp.kernel(module="unique", enable_backward=False)
def blur(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)
    for a in range(-1, 2):
        for b in range(-1, 2):
            r = wp.clamp(i + a, 0, x.shape[0] - 1)
            c = wp.clamp(j + b, 0, x.shape[1] - 1)
            total += x[r, c]
    y[i, j] = total


@kernel("warp_stencil")
def _(arch):
    x = np.random.default_rng(1).integers(-20, 20, (20, 33)).astype(np.float32)
    p = np.pad(x, 1, mode="edge")
    y = sum(p[a:a + 20, b:b + 33] for a in range(3) for b in range(3))
    return compiled(arch, blur, (20, 33), x=In(x), y=Out(y))


@wp.kernel(module="unique", enable_backward=False)
def particles(x: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3), dt: float):
    i = wp.tid()
    p = x[i] + v[i] * dt
    if p[1] < 0.0:
        p = wp.vec3(p[0], -p[1], p[2])
    x[i] = p


@kernel("warp_vectors")
def _(arch):
    x, v = random(100, 3), random(100, 3, seed=2)
    p = (x + v * np.float32(0.5)).astype(np.float32)
    p[:, 1] = np.abs(p[:, 1])
    case = compiled(arch, particles, (100,), x=Out(p, before=x), v=In(v), dt=0.5)
    for argument in case.arguments[1:3]:  # one dimension of 3 numbers each
        argument["struct"] = [f for f in argument["struct"] if f["at"] not in (20, 36, 48)] + [{"at": 48} | scalar("s32", 1)]
    return case


@wp.kernel(module="unique", enable_backward=False)
def scatter(x: wp.array(dtype=float), index: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(y, index[i], x[i])


@kernel("warp_atomics")
def _(arch):
    x = np.random.default_rng(2).integers(-50, 50, 700).astype(np.float32)
    index = np.random.default_rng(3).integers(0, 10, 700).astype(np.int32)
    return compiled(arch, scatter, (700,), x=In(x), index=In(index),
                    y=Out(np.bincount(index, x, 10).astype(np.float32), before=np.zeros(10, np.float32)))


@wp.kernel(module="unique", enable_backward=False)
def rotations(q: wp.array(dtype=wp.quat), x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    y[i] = wp.quat_rotate(wp.normalize(q[i]), x[i])


def rotated(arch, fused):
    q, x = random(64, 4), random(64, 3, seed=2)
    u = q.astype(np.float64) / np.linalg.norm(q.astype(np.float64), axis=1, keepdims=True)
    r, w = u[:, :3], u[:, 3:]
    y = x + 2 * np.cross(r, np.cross(r, x) + w * x)
    case = compiled(arch, rotations, (64,), fused=fused, q=In(q), x=In(x), y=Out(y, "f4", rtol=1e-5, atol=1e-5))
    for argument in case.arguments[1:]:
        argument["struct"] = [f for f in argument["struct"] if f["at"] not in (20, 36, 48)] + [{"at": 48} | scalar("s32", 1)]
    return case


@kernel("warp_quaternions")
def _(arch):
    return rotated(arch, True)


@kernel("warp_quaternions_unfused")
def _(arch):
    return rotated(arch, False)


@wp.kernel(module="unique", enable_backward=False)
def noise(seed: int, y: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    y[i] = wp.randu(state)


def pcg(v):
    """One step of the 32-bit PCG (RXS-M-XS), as O'Neill describes it."""
    b = v * np.uint32(747796405) + np.uint32(2891336453)
    c = ((b >> ((b >> np.uint32(28)) + np.uint32(4))) ^ b) * np.uint32(277803737)
    return (c >> np.uint32(22)) ^ c


@kernel("warp_random")
def _(arch):
    i = np.arange(128, dtype=np.uint32)
    return compiled(arch, noise, (128,), seed=42, y=Out(pcg(pcg(np.uint32(42) + pcg(i)))))


@wp.kernel(module="unique", enable_backward=False)
def tile_sums(x: wp.array2d(dtype=float), y: wp.array(dtype=float)):
    i, _ = wp.tid()
    t = wp.tile_load(x[i], shape=256)
    wp.tile_store(y, wp.tile_sum(t), offset=i)


@kernel("warp_tiles")
def _(arch):
    x = np.random.default_rng(4).integers(-50, 50, (6, 256)).astype(np.float32)
    return compiled(arch, tile_sums, (6, 64), block=64, x=In(x), y=Out(x.sum(1)))


@wp.kernel(module="unique", enable_backward=False)
def waves(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i]) * wp.sqrt(wp.abs(x[i])) + wp.exp(-x[i])


@kernel("warp_functions")
def _(arch):
    x = random(256)
    v = x.astype(np.float64)
    return compiled(arch, waves, (256,), x=In(x), y=Out(np.sin(v) * np.sqrt(np.abs(v)) + np.exp(-v), "f4", rtol=1e-5, atol=1e-6))
