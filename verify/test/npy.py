"""Arrays for the pages of command/. Usage: npy FILE DTYPE NUMBER... writes one of one dimension, of f2, f4, f8, i4 or u4; a number
that begins with 0x is its bits. npy FILE prints the numbers of any."""
import ast
import struct
import sys

CODES = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q"}


def bytes_of(text, code):
    if text.startswith("0x"):
        return int(text, 16).to_bytes(struct.calcsize(code), "little")
    return struct.pack("<" + code, int(text) if code in "iI" else float(text))


path, *rest = sys.argv[1:]
if rest:
    header = str({"descr": "<" + rest[0], "fortran_order": False, "shape": (len(rest) - 1,)}).ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"".join(bytes_of(n, CODES[rest[0]]) for n in rest[1:]))
else:
    data = open(path, "rb").read()
    end = 10 + struct.unpack_from("<H", data, 8)[0]
    code = CODES[ast.literal_eval(data[10:end].decode())["descr"][1:]]
    print(*(f"{n:.9g}" if isinstance(n, float) else n for n in struct.unpack(f"<{(len(data) - end) // struct.calcsize(code)}{code}", data[end:])))
