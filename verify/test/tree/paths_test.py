"""Paths that comments name are there. Usage: paths_test.py SOURCE

A path is what has a slash and ends as files of this tree do; it may begin in any folder, as "explore/given.h" does.
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
folders = ["model", "verify", "experiments", "kernels", "notebooks", "docs", ".ci"]
files = [str(f.relative_to(source)) for folder in folders for f in (source / folder).rglob("*") if f.is_file() and "__pycache__" not in f.parts]
files += [f.name for f in source.iterdir() if f.is_file()]
ends = {"/" + "/".join(parts[i:]) for f in files for parts in [f.split("/")] for i in range(len(parts))}
named = re.compile(r"(?<![\w./*<{$-])((?:[\w-]+/)+[\w.-]+\.(?:h|cpp|cu|py|sh|md|txt|csv|cmake|ptx|inc))\b(?![/.]\w)")
# Of others' trees, and of a file for each NAME.
elsewhere = {"media/docs/cpp/cute/01_layout.md", "cooperative_groups/details/driver_abi.h", "doc/lz4_Block_format.md", "special_function/NAME.inc"}
comment = {".h": "//", ".cpp": "//", ".cu": "//", ".inc": "//", ".py": "#", ".sh": "#", ".cmake": "#", "CMakeLists.txt": "#"}
checked, wrong = 0, []
for f in files:
    path = source / f
    mark = comment.get(path.suffix) or comment.get(path.name)
    if mark is None or f.startswith("notebooks/"):
        continue
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        at = line.find(mark)
        if at < 0:
            continue
        for match in named.finditer(line[at + len(mark):]):
            checked += 1
            if "/" + match[1] not in ends and match[1] not in elsewhere:
                wrong.append(f"{f}:{number}: {match[1]}")
print("\n".join(wrong) or f"{checked} paths in comments, all there")
sys.exit(bool(wrong) or checked < 20)
