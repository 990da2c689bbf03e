"""a and b for tile.json: quarters, small enough for every sum to be exact in fp32. Python's own library is enough."""
import random
import struct


def save(name, rows, columns):
    """An .npy file of random fp16 numbers."""
    head = f"{{'descr': '<f2', 'fortran_order': False, 'shape': ({rows}, {columns})}}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    numbers = [random.randint(-16, 16) / 4 for _ in range(rows * columns)]
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        file.write(struct.pack(f"<{len(numbers)}e", *numbers))


random.seed(1)
save("a.npy", 128, 128)
save("b.npy", 64, 128)
