"""Whether d, and the sums in tensor memory where they were dumped, are a @ b.T."""
import os

import numpy as np

a, b = (np.load(name).astype(np.float32) for name in ("a.npy", "b.npy"))
want = a @ b.T
print("d is right:", np.array_equal(np.load("d.npy"), want))
if os.path.exists("sums.npy"):
    cells = np.load("sums.npy")  # 128 lanes, 512 columns; -1: not written, -2: not allocated
    sums = cells[:, :64].astype(np.uint32).view(np.float32)
    print("tensor memory is right:", np.array_equal(sums, want))
    print("columns allocated:", (cells[0] != -2).sum())
