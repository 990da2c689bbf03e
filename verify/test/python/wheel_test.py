"""Makes a wheel, looks into it, and runs the module's tests on it in an environment of its own.
Usage: wheel_test.py SOURCE [BUILD]

It takes the network, a compiler and, without BUILD (a folder in which CMake has built it already), as long as a whole build."""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

MOST = 60e6  # bytes


def run(*words, **more):
    print("+", *words, flush=True)
    return subprocess.run([*map(str, words)], check=True, **more)


def check(held, text):
    if not held:
        sys.exit(f"FAILED: {text}")


def look_into(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (r"bitwell/_native(\.abi3|\.cpython.*)\.so", r"bitwell/_native\.pyi", r"bitwell/py\.typed",
                   r"bitwell/bin/bitwell", r"bitwell/lib/bitwell/libcuda\.so\.1", r"bitwell/lib/bitwell/libcudart\.so\.1.",
                   r"bitwell/lib/libbitwell_tensor_map\.so", r"bitwell/share/bitwell/kernels/.*\.ptx",
                   r"bitwell/share/bitwell/launch\.schema\.json", r"bitwell/share/bitwell/docs/python\.md",
                   r"bitwell/share/bitwell/budgets/.*\.json", r".*dist-info/entry_points\.txt", r".*dist-info/.*LICENSE"):
        check(any(re.fullmatch(wanted, n) for n in names), f"{wanted} is not in {wheel.name}")
    (entry_points,) = (n for n in names if n.endswith("entry_points.txt"))
    text = zipfile.ZipFile(wheel).read(entry_points).decode()
    for wanted in ("bitwell = bitwell.__main__:main", "[pytest11]\nbitwell.pytest = bitwell.pytest"):
        check(wanted in text, f"{wanted!r} is not among the entry points:\n{text}")
    for name in names:
        check(re.match(r"bitwell(/|-)", name), f"{name} stands outside of the package")
        check("__pycache__" not in name and not name.endswith((".a", ".o")), name)
    tag = wheel.stem.split("-", 2)[2]
    check(tag.startswith(f"cp{sys.version_info[0]}{sys.version_info[1]}-" if sys.version_info < (3, 12) else "cp312-abi3-"),
          f"the tag is {tag}")
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB, {len(names)} files")
    check(size < MOST, "it is too large")


def main(source, build=None):
    tests = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        settings = ["-C", f"build-dir={build}"] if build else []
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, *settings, source)
        (wheel,) = out.glob("*.whl")
        look_into(wheel)
        run(sys.executable, "-m", "venv", out / "venv")
        bin = out / "venv" / "bin"
        run(bin / "pip", "install", "-q", wheel, "ml_dtypes")
        if "abi3" in wheel.name:
            run(bin / "pip", "install", "-q", "abi3audit")
            run(bin / "abi3audit", "--strict", wheel)
        empty = out / "empty"
        empty.mkdir()
        for name in ("launch", "replay", "package"):
            run(bin / "python", tests / f"{name}_test.py", cwd=empty)
        run(bin / "bitwell", "help", "python", cwd=empty, stdout=subprocess.DEVNULL)
        run(bin / "pip", "install", "-q", "pytest")
        told = run(bin / "pytest", "--help", cwd=empty, stdout=subprocess.PIPE, text=True).stdout
        check("--bitwell-races" in told, "pytest does not know --bitwell")
        # It has libraries of the driver's names, and none of them is loaded.
        run(bin / "python", "-c", "import bitwell; bitwell.process(); assert 'libcud' not in open('/proc/self/maps').read()",
            cwd=empty)
    print("held")


if __name__ == "__main__":
    main(*sys.argv[1:])
