"""All C++ of model/, verify/ and experiments/ is as .clang-format has it, by the version that .ci/test installs. Usage: format_test.py SOURCE

Kernels are left alone: where their lines end is for their readers, and pages name them by line.
"""
import pathlib
import subprocess
import sys

SKIPPED = 77
source = pathlib.Path(sys.argv[1])
clang_format = pathlib.Path(sys.executable).with_name("clang-format")
listed = subprocess.run(["git", "-C", source, "ls-files", "-z", *(f"{folder}/*.{ending}" for folder in ("model", "verify", "experiments") for ending in ("cpp", "h"))],
                        capture_output=True, text=True)
if listed.returncode != 0 or not clang_format.exists():
    print(f"SKIPPED: {source} is no git checkout" if listed.returncode != 0 else f"SKIPPED: {clang_format} is not there: run '.ci/test'")
    sys.exit(SKIPPED)
files = [name for name in listed.stdout.split("\0") if name and (source / name).exists()]
assert len(files) > 500, f"only {len(files)} files"
said = subprocess.run([clang_format, "--dry-run", "--Werror", *files], cwd=source, capture_output=True, text=True).stderr
wrong = sorted({line.split(":")[0] for line in said.splitlines() if "clang-formatted" in line})
for name in wrong:
    print(f"FAILED: {name} is not as .clang-format has it: {clang_format} -i {name}")
print(f"{len(files)} files, {len(wrong)} to be formatted")
sys.exit(bool(wrong or (said and "error" in said)))
