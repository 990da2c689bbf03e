"""python -m bitwell, and the command of a wheel."""
import os
import sys

from .command import binary


def main() -> None:
    path = binary()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
