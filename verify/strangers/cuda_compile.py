"""NVRTC, of its wheel, with the headers of CUB, libcu++ and the CUDA runtime from theirs."""
import ctypes
import functools
import importlib.metadata
import pathlib

import nvidia

from case import Case, scalar

WHEELS = pathlib.Path(next(iter(nvidia.__path__))) / "cu13"
HERE = pathlib.Path(__file__).resolve().parent


def version(package):
    return importlib.metadata.version(package)


@functools.cache
def ptx_of(source, arch):
    """The PTX of a .cu file beside this one."""
    nvrtc = ctypes.CDLL(next((WHEELS / "lib").glob("libnvrtc.so.*")))
    program = ctypes.c_void_p()
    text = (HERE / source).read_bytes()

    def call(name, *arguments):
        if status := getattr(nvrtc, name)(*arguments):
            size = ctypes.c_size_t()
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"{name} of {source}: {status}\n{log.value.decode()}")

    call("nvrtcCreateProgram", ctypes.byref(program), text, source.encode(), 0, None, None)
    options = [f"--gpu-architecture={arch}", "--std=c++17", "--generate-line-info", "--device-int128", f"--include-path={WHEELS}/include/cccl",
               f"--include-path={WHEELS}/include"]
    call("nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options)))
    size = ctypes.c_size_t()
    call("nvrtcGetPTXSize", program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    call("nvrtcGetPTX", program, ptx)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx.value.decode()


def compiled(arch, *, generator, source, entry, grid, block, shared=0, cluster=(), cooperative=False, **arguments):
    """The Case of an entry: In, Out and Scratch are pointers, numbers int or float, in its order."""
    buffers = {n: v for n, v in arguments.items() if not isinstance(v, (int, float))}
    passed = [n if n in buffers else scalar("f32" if isinstance(v, float) else "s32", v) for n, v in arguments.items()]
    return Case(generator, ptx_of(source, arch), entry, grid, block, buffers, passed, shared=shared, cluster=cluster,
                options=[("cooperative", True)] if cooperative else [])
