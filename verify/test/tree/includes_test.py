#!/usr/bin/env python3
"""includes_test.py SOURCE: what a file names of the standard library, it or a header of ours below it includes.

The release is built with the standard headers precompiled, so a file that includes too little compiles there and nowhere else: the
presets with sanitizers, which nobody runs every day, stop at it. Only names that no header brings by the way are looked for.
"""
import functools
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
HEADERS = {
    "algorithm": "all_of any_of none_of find_if find_if_not count_if sort stable_sort partition unique remove_if lower_bound upper_bound "
                 "equal_range binary_search ranges::\\w+ clamp reverse rotate transform replace set_difference is_sorted",
    "array": "array to_array", "atomic": "atomic atomic_ref memory_order_\\w+", "bit": "bit_cast popcount countr_zero countl_zero has_single_bit bit_width",
    "charconv": "from_chars to_chars", "chrono": "chrono", "cmath": "isnan isinf ldexp frexp nextafter sqrt fma floor ceil",
    "condition_variable": "condition_variable", "cstring": "memcpy memset memcmp memmove strlen strcmp strerror", "deque": "deque",
    "filesystem": "filesystem", "fstream": "ifstream ofstream fstream", "functional": "function hash plus bit_and bit_or bit_xor",
    "iostream": "cout cerr cin", "limits": "numeric_limits", "map": "map multimap", "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared",
    "mutex": "mutex lock_guard unique_lock scoped_lock call_once", "numeric": "accumulate iota gcd lcm partial_sum exclusive_scan",
    "optional": "optional nullopt make_optional", "random": "mt19937 mt19937_64 uniform_int_distribution", "set": "set multiset", "span": "span",
    "sstream": "stringstream ostringstream istringstream", "stdexcept": "runtime_error invalid_argument logic_error out_of_range",
    "string": "string to_string stoi stol stoul stoull getline", "string_view": "string_view", "thread": "thread jthread this_thread",
    "tuple": "tuple tie make_tuple", "unordered_map": "unordered_map", "unordered_set": "unordered_set", "variant": "variant visit monostate get_if holds_alternative",
    "vector": "vector"}
# What a header of the standard library promises of others, and what others' libraries bring.
BRINGS = {"string": ["string_view"], "unordered_map": ["map"], "fstream": ["string"], "sstream": ["string"], "iostream": ["string"], "filesystem": ["string"],
          "stdexcept": ["string"], "algorithm": ["ranges"], "thread": ["chrono"], "condition_variable": ["mutex", "chrono"],
          "gtest/gtest.h": list(HEADERS), "gmock/gmock.h": list(HEADERS), "rapidcheck.h": list(HEADERS), "rapidcheck/gtest.h": list(HEADERS),
          "nlohmann/json.hpp": list(HEADERS), "CLI/CLI.hpp": list(HEADERS), "benchmark/benchmark.h": list(HEADERS), "pybind11/pybind11.h": list(HEADERS),
          "fmt/format.h": ["string", "string_view", "limits", "memory"], "fmt/core.h": ["string", "string_view"]}
NAMED = {header: re.compile(rf"\bstd::(?:{'|'.join(names.split())})\b") for header, names in HEADERS.items()}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


@functools.lru_cache(None)
def brought(path):
    """The names of all that a file of ours includes, and of what that includes."""
    found, text = set(), (SOURCE / path).read_text()
    for kind, name in INCLUDE.findall(text):
        beside = (pathlib.Path(path).parent / name).as_posix()
        ours = next((p for p in (name, beside) if kind == '"' and (SOURCE / p).is_file()), None)
        found |= brought(ours) if ours else {name, *BRINGS.get(name, ())}
    return frozenset(found)


sources = [p.relative_to(SOURCE).as_posix() for top in ("model", "verify", "experiments") for p in (SOURCE / top).rglob("*")
           if p.suffix in (".h", ".cpp")]
if len(sources) < 500:
    sys.exit(f"only {len(sources)} sources in {SOURCE}")
wrong = []
for path in sorted(sources):
    text = re.sub(r"//[^\n]*", "", (SOURCE / path).read_text())
    for header, named in NAMED.items():
        if header not in brought(path) and (match := named.search(text)):
            wrong.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}, and no #include <{header}>")
print("\n".join(wrong) or f"{len(sources)} sources include what they name")
sys.exit(bool(wrong))
