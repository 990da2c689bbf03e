#!/usr/bin/env bash
# The tests with torch and Triton, by a Python that has them: BITWELL_TORCH_PYTHON=VENV/bin/python ctest -L torch
cd "$(dirname "$0")/../../.."
if [ -z "$BITWELL_TORCH_PYTHON" ]; then
  echo "skipped: BITWELL_TORCH_PYTHON names no Python that has torch, triton and pytest"
  exit 77
fi
export PYTHONPATH=$PWD/verify/python PYTHONDONTWRITEBYTECODE=1 TRITON_DEFAULT_FP_FUSION=1
exec "$BITWELL_TORCH_PYTHON" -m pytest -q -p bitwell.pytest -p no:cacheprovider --bitwell --bitwell-report "$(mktemp -d)" "${@:-verify/test/pytest/torch}"
