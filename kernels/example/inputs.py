"""a and b for tile.json: quarters, small enough for every sum to be exact in fp32."""
import numpy as np

random = np.random.default_rng(1)
np.save("a.npy", (random.integers(-16, 17, (128, 128)) / 4).astype(np.float16))
np.save("b.npy", (random.integers(-16, 17, (64, 128)) / 4).astype(np.float16))
