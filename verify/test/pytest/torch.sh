#!/usr/bin/env bash
# The tests with torch and Triton: torch.sh [BUILD], or --count: how many there are, which a job without torch has not run.
# By BITWELL_TORCH_PYTHON, or the first Python here that has them. bitwell is that Python's own, else BUILD's. .ci/torch installs all.
build=
[ -z "$1" ] || [ "$1" = --count ] || build=$(cd "$1" && pwd) || exit 1
cd "$(dirname "$0")" || exit 1
tests="$(cat with_torch/*_test.py | grep -c '^ *def test_') functions of tests with torch and Triton, and two of the example suites"
if [ "$1" = --count ]; then
  echo "test: not run: $tests (.ci/torch installs what they need and runs them)"
  exit
fi
has() { "$1" -c 'import importlib.util as u, sys; sys.exit(not all(u.find_spec(n) for n in ("torch", "triton", "pytest")))' 2>/dev/null; }
python=$BITWELL_TORCH_PYTHON
for candidate in ../../../.venv/bin/python python3; do
  [ -n "$python" ] || ! has "$candidate" || python=$candidate
done
if [ -z "$python" ]; then
  echo "skipped: $tests: no Python here has them." \
    ".ci/torch installs them, or BITWELL_TORCH_PYTHON names one that has bitwell, torch, triton and pytest"
  exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 TRITON_DEFAULT_FP_FUSION=1
if [ -n "$build" ] && ! "$python" -c 'import bitwell' 2>/dev/null; then
  export PYTHONPATH=$build/python${PYTHONPATH:+:$PYTHONPATH} PATH=$build/bin:$PATH
fi
"$python" -c 'import bitwell' || exit 1
report=$(mktemp -d) && trap 'rm -rf "$report"' EXIT
"$python" -m pytest -q -p bitwell.pytest -p no:cacheprovider --bitwell --bitwell-report "$report" with_torch &&
  "$python" -m pytest -q -p no:cacheprovider examples_test.py
