#!/usr/bin/env bash
# The tests with torch and Triton, by a Python that has them and bitwell (`pip install .`): BITWELL_TORCH_PYTHON=VENV/bin/python ctest -L torch
cd "$(dirname "$0")" || exit 1
if [ -z "$BITWELL_TORCH_PYTHON" ]; then
  echo "skipped: BITWELL_TORCH_PYTHON names no Python that has bitwell, torch, triton and pytest"
  exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 TRITON_DEFAULT_FP_FUSION=1
report=$(mktemp -d) && trap 'rm -rf "$report"' EXIT
"$BITWELL_TORCH_PYTHON" -m pytest -q -p bitwell.pytest -p no:cacheprovider --bitwell --bitwell-report "$report" with_torch &&
  "$BITWELL_TORCH_PYTHON" -m pytest -q -p no:cacheprovider examples_test.py
