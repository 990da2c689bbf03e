"""peers_test.py PEERS BITWELL DRIVER: experiments/peers with peers that stand for others: bitwell's own driver library, one
made here that computes right by `ptx_run`, one that does not, and one that has no way in."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PEERS, BITWELL, DRIVER = sys.argv[1:]
STUB = """
#include <stddef.h>
#include <stdint.h>
void ptx_run(const char* text, int count, void* arguments[], int bx, int by, int bz, int gx, int gy, int gz, int shared) {
  const float* x = arguments[0];
  float* y = arguments[1];
  if (text == NULL || count != 3 || bx * by * bz != 128 || gx * gy * gz != 1 || shared != 0) return;
  for (uint32_t i = 0; i < (uint32_t)(uintptr_t)arguments[2]; ++i) y[i] = FACTOR * x[i] + y[i];
}
"""


def ran(*arguments):
    return subprocess.run([sys.executable, PEERS, *arguments], capture_output=True, text=True)


def made(folder, name, source, *options):
    file = folder / (name + ".c")
    file.write_text(source)
    library = str(folder / (name + ".so"))
    subprocess.run(["cc", "-shared", "-fPIC", "-ffp-contract=off", *options, "-o", library, str(file)], check=True)
    return library


def expect(held, what, done):
    if not held:
        sys.exit(f"{what}: {done.returncode}\n{done.stdout}{done.stderr}")


with tempfile.TemporaryDirectory() as temporary:
    folder = Path(temporary)
    right = made(folder, "right", STUB, "-DFACTOR=1.5f")
    wrong = made(folder, "wrong", STUB, "-DFACTOR=1.25f")
    none = made(folder, "none", "int nothing;\n")
    few = ["--elements", "5000", "--runs", "1"]
    done = ran(BITWELL, right, DRIVER, *few)
    lines = done.stdout.splitlines()
    for peer in (right, DRIVER):
        line = next((text for text in lines if text.startswith(peer)), "")
        expect(re.search(r"[\d.]+ G/s, bitwell is [\d.]+ times as fast$", line), f"{peer} has no figures", done)
    expect(done.returncode == 0, "all ran", done)
    for peer, why in ((wrong, "not run: 4918 of 5000 numbers are wrong"), (none, "not run: it has neither ptx_run nor cuLaunchKernel"),
                      (str(folder / "absent.so"), "not run: ")):
        done = ran(BITWELL, peer, *few)
        expect(done.returncode == 1 and why in done.stdout, why, done)
    done = ran(BITWELL)
    expect(done.returncode == 2 and "at least one library" in done.stderr, "no peer", done)
    done = ran("/bin/false", right, *few)
    expect(done.returncode == 1 and "/bin/false ended with 1" in done.stderr, "no bitwell", done)
