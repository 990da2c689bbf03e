#!/usr/bin/env python3
"""Compiles the strangers' kernels to PTX and writes a launch of each, with NumPy's results, under build/strangers/cases.

    make.py [--generator triton|cute|numba|warp|cub|nvrtc] [--kernel NAME ...]

Without a GPU; the packages are those of requirements.txt (see README.md).
"""
import argparse
import importlib
import pathlib
import shutil
import sys
import traceback

from case import KERNELS

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parent.parent / "build" / "strangers" / "cases"
GENERATORS = {
    "triton": ["triton_kernels", "triton_products", "triton_library"],
    "cute": ["cute_kernels", "cute_products", "cute_memory"],
    "numba": ["numba_kernels"],
    "warp": ["warp_kernels"],
    "cub": ["cub_kernels"],
    "nvrtc": ["cuda_kernels", "cuda_language"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generator", choices=sorted(GENERATORS))
    parser.add_argument("--kernel", nargs="*")
    options = parser.parse_args()
    for generator, modules in GENERATORS.items():
        if options.generator in (None, generator):
            for module in modules:
                importlib.import_module(module)
    failed = 0
    for name, (make, architectures) in KERNELS.items():
        if options.kernel and name not in options.kernel:
            continue
        for arch in architectures:
            folder = CASES / f"{name}.{arch}"
            shutil.rmtree(folder, ignore_errors=True)
            try:
                make(arch).write(folder, name, arch)
            except Exception:
                failed += 1
                print(f"{name} for {arch} was not compiled:", file=sys.stderr)
                traceback.print_exc(limit=-4)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
