"""bitwell.Module's calls on the machine's own driver: PTX that it compiles, arrays that are copied there and back."""
import ctypes
import pathlib


class Driver:
    """libcuda.so.1, by its documented names; the first GPU."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        self.context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self("cuCtxSetCurrent", self.context)

    def __call__(self, function, *args):
        error = getattr(self.library, function)(*args)
        if error:
            raise RuntimeError(f"{function}: error {error} of the GPU's driver")

    def allocated(self, data):
        """These bytes on the GPU: their address."""
        at = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(1, len(data))))
        self("cuMemcpyHtoD_v2", at, bytes(data), ctypes.c_size_t(len(data)))
        return at

    def taken(self, at, size):
        """What stands there, which is freed."""
        out = ctypes.create_string_buffer(size)
        self("cuMemcpyDtoH_v2", out, at, ctypes.c_size_t(size))
        self("cuMemFree_v2", at)
        return out.raw

    def launched(self, function, grid, block, shared, arguments):
        """Arguments are the bytes of each parameter."""
        held = [ctypes.create_string_buffer(bytes(a), len(a)) for a in arguments]
        words = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
        self("cuLaunchKernel", function, *map(ctypes.c_uint, (*grid, *block)), ctypes.c_uint(shared), None, words, None)
        self("cuCtxSynchronize")

    def function(self, ptx, entry):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), ptx.encode() + b"\0")
        self("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        return function


driver = None


def opened():
    global driver
    driver = driver or Driver()
    return driver


def three(extent):
    return (*((extent,) if isinstance(extent, int) else extent), 1, 1)[:3]


class Entry:
    def __init__(self, function):
        self.function = function

    def launch(self, grid, block, *args, shared=0):
        """Of arrays of NumPy and 32-bit integers."""
        gpu = opened()
        there = [gpu.allocated(a.tobytes()) if hasattr(a, "ctypes") else None for a in args]
        gpu.launched(self.function, three(grid), three(block), shared,
                     [int(a).to_bytes(4, "little", signed=True) if at is None else bytes(at) for a, at in zip(args, there)])
        for a, at in zip(args, there):
            if at is not None:
                ctypes.memmove(a.ctypes.data, gpu.taken(at, a.nbytes), a.nbytes)


class Module:
    def __init__(self, ptx):
        self.ptx = ptx

    @classmethod
    def from_file(cls, path):
        return cls(pathlib.Path(path).read_text())

    def __getitem__(self, name):
        return Entry(opened().function(self.ptx, name))
