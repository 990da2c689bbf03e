#!/usr/bin/env python3
"""Every test has a label, by which `ctest -L` and the presets choose. Usage: labels_test.py CTEST BUILD"""
import json
import subprocess
import sys

ctest, build = sys.argv[1:]
known = json.loads(subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout)
without = []
for test in known["tests"]:
    labels = [label for p in test.get("properties", []) if p["name"] == "LABELS" for label in p["value"]]
    if not test["name"].endswith("_NOT_BUILT") and not any(labels):
        without.append(test["name"])
print(f"{len(known['tests'])} tests, without a label: {', '.join(without) or 'none'}")
sys.exit(1 if without else 0)
