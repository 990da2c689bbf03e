"""bitwell's encoder of tensor maps, which has the arguments of the driver's."""
import ctypes
import pathlib
import shutil


def library():
    return pathlib.Path(shutil.which("bitwell")).resolve().parent.parent / "lib/libbitwell_tensor_map.so"


class TensorMaps:
    """As Triton calls what it has compiled from C."""

    def __init__(self):
        self.library = None

    def made(self, function, *arguments):
        if self.library is None:
            self.library = ctypes.CDLL(str(library()))
            self.library.bitwell_tensor_map_message.restype = ctypes.c_char_p
        out = ctypes.create_string_buffer(128 + 64)
        at = ctypes.addressof(out) + -ctypes.addressof(out) % 64
        if getattr(self.library, function)(ctypes.c_void_p(at), *arguments) != 0:
            raise RuntimeError(self.library.bitwell_tensor_map_message().decode())
        return ctypes.string_at(at, 128)

    @staticmethod
    def tensor(type, address, size, shape, strides):
        """What both kinds of maps begin with, the innermost dimension first."""
        dims, steps = list(shape)[::-1], [s * size for s in list(strides)[-2::-1]]
        return (ctypes.c_int(type), ctypes.c_uint32(len(dims)), ctypes.c_void_p(address), (ctypes.c_uint64 * len(dims))(*dims),
                (ctypes.c_uint64 * len(dims))(*steps))

    @staticmethod
    def rest(swizzle, padding):
        """No interleaving, the swizzle, L2 promotion of 128 bytes, the fill."""
        return ctypes.c_int(0), ctypes.c_int(swizzle), ctypes.c_int(2), ctypes.c_int(1 if padding == 1 else 0)

    def tiled(self, address, swizzle, size, type, box, shape, strides, padding):
        rank = len(shape)
        return self.made("bitwell_tensor_map_encode_tiled", *self.tensor(type, address, size, shape, strides),
                         (ctypes.c_uint32 * rank)(*list(box)[::-1]), (ctypes.c_uint32 * rank)(*[1] * rank), *self.rest(swizzle, padding))

    def im2col(self, address, swizzle, size, type, box, shape, strides, padding, lower, upper, element_strides):
        rank = len(shape)
        corners = [(ctypes.c_int * len(c))(*list(c)[::-1]) for c in (lower, upper)]
        return self.made("bitwell_tensor_map_encode_im2col", *self.tensor(type, address, size, shape, strides), *corners,
                         ctypes.c_uint32(box[1]), ctypes.c_uint32(box[0]), (ctypes.c_uint32 * rank)(*list(element_strides)[::-1]),
                         *self.rest(swizzle, padding))
