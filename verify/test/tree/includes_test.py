#!/usr/bin/env python3
"""includes_test.py SOURCE: what a file names of the standard library, and what it calls of ours, it or a header of ours below it includes.

The release is built with the standard headers precompiled and many files at a time, so a file that includes too little compiles there
and nowhere else: the presets with sanitizers, which nobody runs every day, stop at it. Only names that no header brings by the way are
looked for; of ours, functions whose names have a "_" and stand in one header, of the same room.
"""
import collections
import functools
import os
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
DECLARED = re.compile(r"^(?!return|else|using)\w[\w:<>,&* ]*[ &*]([a-z]\w*_\w+)\(", re.M)


@functools.lru_cache(None)
def headers(path):
    """The headers of ours that a file includes, and that these do; and the names of all others."""
    ours, others, text = {path}, set(), (SOURCE / path).read_text()
    for kind, name in INCLUDE.findall(text):
        beside = os.path.normpath(pathlib.Path(path).parent / name)
        found = next((p for p in (name, beside, "verify/driver/" + name) if kind == '"' and (SOURCE / p).is_file()), None)
        below = headers(found) if found else ((), (name, *BRINGS.get(name, ())))
        ours.update(below[0])
        others.update(below[1])
    return frozenset(ours), frozenset(others)


def code(path):
    text = re.sub(r"//[^\n]*", "", (SOURCE / path).read_text())
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def room(path):
    return path.split("/")[:2]


sources = [p.relative_to(SOURCE).as_posix() for top in ("model", "verify", "experiments") for p in (SOURCE / top).rglob("*")
           if p.suffix in (".h", ".cpp")]
if len(sources) < 500:
    sys.exit(f"only {len(sources)} sources in {SOURCE}")
wrong = []
where = collections.defaultdict(set)
for path in sources:
    if path.endswith(".h"):
        for name in DECLARED.findall(code(path)):
            where[name].add(path)
        for name in re.findall(r"^  .*[\w>&*] [&*]*([a-z]\w*_\w+)\(", code(path), re.M):
            where[name].add("a member")
for path in sorted(sources):
    text = code(path)
    ours, others = headers(path)
    for header, named in NAMED.items():
        if header not in others and (match := named.search(text)):
            wrong.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}, and no #include <{header}>")
    if path.endswith(".cpp"):
        # What the file declares itself, as a function, a variable or a parameter.
        own = set(DECLARED.findall(text)) | set(re.findall(r"[\w>&*] ?[&*]*\b(\w+_\w+)(?= =|\)|,|;| ?{)", text))
        for match in re.finditer(r"(?<![\w.>:])([a-z]\w*_\w+)\(", text):
            header = next(iter(where[match[1]])) if len(where.get(match[1], ())) == 1 else None
            if header and header not in ours and match[1] not in own and room(header) == room(path):
                wrong.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[1]}(), and no #include \"{header}\"")
print("\n".join(wrong) or f"{len(sources)} sources include what they name")
sys.exit(bool(wrong))
