#!/usr/bin/env bash
# The tests of the CuTe DSL, by a Python that has it: BITWELL_CUTE_PYTHON=VENV/bin/python ctest -L cute
# bitwell is that Python's own (`pip install .`), or the build's: cute.sh BUILD. The page is run with the build's.
cd "$(dirname "$0")" || exit 1
if [ -z "$BITWELL_CUTE_PYTHON" ]; then
  echo "skipped: BITWELL_CUTE_PYTHON names no Python that has nvidia-cutlass-dsl, ml_dtypes, NumPy and pytest"
  exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 BITWELL_BUILD=$1
if PYTHONPATH=$1/python "$BITWELL_CUTE_PYTHON" -c 'import bitwell' 2>/dev/null; then
  "$BITWELL_CUTE_PYTHON" -I ../run_page.py ../../../docs/cute-dsl.md ../../.. "$1" false || exit 1
  "$BITWELL_CUTE_PYTHON" -c 'import bitwell' 2>/dev/null || export PYTHONPATH=$1/python
fi
"$BITWELL_CUTE_PYTHON" -m pytest -q -p no:cacheprovider . && "$BITWELL_CUTE_PYTHON" -m pytest -q -p no:cacheprovider ../pytest/examples_test.py -k cute
