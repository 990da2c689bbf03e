#!/usr/bin/env python3
"""Compares model/layout with CuTe itself, on a machine without a GPU.

  compare_cute.py LAYOUT_TOOL --cutlass INCLUDE_DIR [--write cute.txt]   the CUTLASS headers' algebra, compiled by g++
  compare_cute.py LAYOUT_TOOL --dsl                                      the CuTe DSL at trace time (run with its Python)

Both come from PyPI: nvidia-cutlass (cutlass_library/source/include), nvidia-cutlass-dsl. Random nested layouts with a
seed; the same expressions to both sides; every printed result must be the same text. Where bitwell refuses an
expression, CuTe must refuse it too (a sample of those is compiled one by one). --write keeps the expressions and
CuTe's results for the test that runs without CUTLASS.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

# Known differences, by name: (side, pattern of "expression => bitwell's result", why). An entry that no expression shows is stale and fails.
DIFFERENCES = [
    ("cutlass", r"=> error: .*\(CuTe returns one\)", "CuTe's weak divisibility check lets a layout through that is not the composition"),
    ("dsl", r"^left_inverse\(\S+:[(0,)]+\) =>", "of broadcasts only: the DSL gives 1:0, the CUTLASS 4.2 headers n:0; both are inverses"),
]


def nested(r, depth, leaf):
    if depth == 0 or r.random() < 0.5:
        return leaf()
    return tuple(nested(r, depth - 1, leaf) for _ in range(r.randint(1, 3)))


def flat(t):
    return [x for i in t for x in flat(i)] if isinstance(t, tuple) else [t]


def rebuild(t, values):
    return tuple(rebuild(i, values) for i in t) if isinstance(t, tuple) else next(values)


def extent(r):
    return r.choice([1, 1, 2, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16, 32])


def strides(r, shape):
    """Compact in a random order of modes, with gaps, broadcast modes, or plain random."""
    extents = flat(shape)
    order = list(range(len(extents)))
    if r.random() < 0.6:
        r.shuffle(order)
    kind = r.random()
    out = [0] * len(extents)
    current = 1 if kind < 0.8 else r.choice([2, 4])
    for i in order:
        out[i] = current
        current *= extents[i] * (r.choice([2, 3]) if kind > 0.6 and r.random() < 0.3 else 1)
    if kind > 0.9:
        out = [r.choice([0, 1, 2, 3, 4, 8, 16, 64]) for _ in out]
    elif r.random() < 0.2:
        out[r.randrange(len(out))] = 0
    return rebuild(shape, iter(out))


def text(t):
    return "(" + ",".join(text(i) for i in t) + ")" if isinstance(t, tuple) else str(t)


def layout(r, depth=2):
    shape = nested(r, depth, lambda: extent(r))
    return text(shape) + ":" + text(strides(r, shape))


def small(r, top):
    """A layout that often divides others: powers of two."""
    n = r.choice([1, 2, 2, 4, 4, 8])
    kind = r.random()
    if kind < 0.5:
        return f"{n}:{r.choice([1, 1, 2, 4])}"
    if kind < 0.8:
        return f"({n},{r.choice([2, 4])}):({r.choice([1, 2])},{r.choice([8, 16])})"
    return layout(r, top)


def tiler(r, modes):
    if r.random() < 0.5:
        return small(r, 1)
    return "[" + ", ".join(small(r, 1) for _ in range(r.randint(1, modes))) + "]"


def case(r):
    a = layout(r)
    modes = a.split(":")[0]
    count = 1
    if modes.startswith("("):
        level = 0
        for c in modes:
            level += c == "("
            level -= c == ")"
            count += c == "," and level == 1
    op = r.choice(OPERATIONS)
    if op in ("size", "cosize", "coalesce", "filter", "filter_zeros", "complement", "right_inverse", "left_inverse"):
        return f"{op}({a})" if op != "complement" or r.random() < 0.5 else f"complement({a}, {r.choice([64, 100, 512, 4096])})"
    if op in ("blocked_product", "raked_product"):
        return f"{op}({small(r, 2)}, {small(r, 2)})"
    if op == "tile_to_shape":
        block = (r.choice([2, 4, 8]), r.choice([2, 3, 4]))
        t = (block[0] * r.choice([1, 2, 3, 4]), block[1] * r.choice([1, 2, 4, 5]))
        b = text(block) + ":" + r.choice([f"(1,{block[0]})", f"({block[1]},1)"])
        return f"tile_to_shape({b}, {text(t)}" + (f", {r.choice(['(1,2)', '(2,1)'])})" if r.random() < 0.7 else ")")
    if op in ("upcast", "downcast"):
        return f"{op}({a}, {r.choice([2, 2, 4])})"
    if op == "recast":
        return f"recast({a}, {r.choice([4, 8, 16, 32])}, {r.choice([4, 8, 16, 32])})"
    return f"{op}({a}, {tiler(r, count)})"


OPERATIONS = ["size", "cosize", "coalesce", "filter", "filter_zeros", "complement", "right_inverse", "left_inverse",
              "composition", "composition", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide",
              "logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product",
              "raked_product", "tile_to_shape", "upcast", "downcast", "recast"]


def split(arguments):
    out, level, current = [], 0, ""
    for c in arguments:
        level += c in "([" 
        level -= c in ")]"
        if c == "," and level == 0:
            out.append(current.strip())
            current = ""
        else:
            current += c
    return out + [current.strip()]


def parts(expression):
    op, arguments = re.match(r"(\w+)\((.*)\)$", expression).groups()
    return op, split(arguments)


def cpp_tuple(t):
    if not t.startswith("("):
        return f"Int<{t}>{{}}"
    return "make_tuple(" + ", ".join(cpp_tuple(i) for i in split(t[1:-1])) + ")"


def cpp_layout(t):
    if t.startswith("["):
        return "make_tuple(" + ", ".join(cpp_layout(i) for i in split(t[1:-1])) + ")"
    if ":" not in t:
        return cpp_tuple(t)
    shape, stride = t.split(":")
    return f"make_layout({cpp_tuple(shape)}, {cpp_tuple(stride)})"


def cpp(expression):
    op, a = parts(expression)
    if op in ("upcast", "downcast"):
        return f"{op}<{a[1]}>({cpp_layout(a[0])})"
    if op == "recast":
        return f"recast_layout<uint_bit_t<{a[1]}>, uint_bit_t<{a[2]}>>({cpp_layout(a[0])})"
    if op == "tile_to_shape" and len(a) == 3:
        steps = ", ".join(f"Int<{i}>" for i in split(a[2][1:-1]))
        return f"tile_to_shape({cpp_layout(a[0])}, {cpp_tuple(a[1])}, Step<{steps}>{{}})"
    return f"{op}({', '.join(cpp_layout(i) for i in a)})"


def compile_cute(include, expressions, folder, name):
    source = os.path.join(folder, name + ".cpp")
    with open(source, "w") as f:
        f.write("#include <cute/layout.hpp>\n#include <cstdio>\nusing namespace cute;\n")
        for i, e in enumerate(expressions):
            f.write(f"void f{i}() {{ print({cpp(e)}); print(\"\\n\"); }}\n")
        f.write("int main() {\n" + "".join(f"f{i}();\n" for i in range(len(expressions))) + "}\n")
    cuda = os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include")
    command = ["g++", "-std=c++17", "-w", "-O0", "-I" + include, "-I" + cuda, "-I" + cuda + "/cccl", source, "-o",
               os.path.join(folder, name)]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        return None, built.stderr
    return subprocess.run([os.path.join(folder, name)], capture_output=True, text=True, check=True).stdout, ""


def with_cutlass(include, expressions):
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(expressions), 60):
            some = expressions[first:first + 60]
            result, errors = compile_cute(include, some, folder, "chunk")
            if result is None:  # one by one, to name those that CuTe refuses
                for e in some:
                    single, message = compile_cute(include, [e], folder, "single")
                    reason = re.search(r"static assertion failed: (.*)|error: (.*)", message)
                    out.append(single.strip() if single is not None else "error: " + reason.group(0))
            else:
                out += result.strip().split("\n")
            print(f"\r{len(out)} of {len(expressions)} compiled", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return [r.replace("_", "") for r in out]


def with_dsl(expressions):
    import cutlass
    import cutlass.cute as cute

    def value(t):
        return tuple(value(i) for i in split(t[1:-1])) if t.startswith("(") else int(t)

    def made(t):
        if t.startswith("["):
            return tuple(made(i) for i in split(t[1:-1]))
        if ":" not in t:
            return value(t)
        shape, stride = t.split(":")
        return cute.make_layout(value(shape), stride=value(stride))

    def run(e):
        op, a = parts(e)
        if op == "tile_to_shape":
            return cute.tile_to_shape(made(a[0]), value(a[1]), order=value(a[2]) if len(a) == 3 else tuple(range(1, 1 + len(value(a[1])))))
        if op == "recast":
            return cute.recast_layout(int(a[2]), int(a[1]), made(a[0]))
        return getattr(cute, op)(*[made(i) for i in a])

    out = []

    def attempt(e):
        try:
            return str(run(e)).replace(" ", "")
        except AttributeError:
            return "absent"
        except Exception as error:  # the DSL has many kinds
            message = str(error).split("\n")[0]
            missing = "must be a Value" in message or "missing 1 required" in message
            return "absent" if missing else "error: " + message

    def all_of(some):
        out.extend([attempt(e) for e in some])

    @cute.jit
    def trace(some: cutlass.Constexpr):
        all_of(some)

    for first in range(0, len(expressions), 60):
        cute.compile(trace, tuple(expressions[first:first + 60]))
        print(f"\r{len(out)} of {len(expressions)} traced", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool", metavar="LAYOUT_TOOL")
    p.add_argument("--cutlass", metavar="INCLUDE_DIR")
    p.add_argument("--dsl", action="store_true")
    p.add_argument("--count", type=int, default=720)
    p.add_argument("--refused", type=int, default=24, help="expressions that bitwell refuses, tried on CuTe")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--write", metavar="FILE")
    a = p.parse_args()
    r = random.Random(a.seed)
    candidates = list(dict.fromkeys(case(r) for _ in range(6 * a.count)))
    if a.dsl:
        a.refused = 0  # DSL 4.8.1 dies (SIGFPE) on some expressions that bitwell and CUTLASS refuse
    ours = subprocess.run([a.tool], input="\n".join(candidates), capture_output=True, text=True, check=True).stdout.split("\n")
    pairs = list(zip(candidates, ours))
    taken = [x for x in pairs if not x[1].startswith("error")][:a.count]
    # Half of the refusals are those that a known difference may explain, so that each entry is tried.
    errors = [x for x in pairs if x[1].startswith("error")]
    listed = [x for x in errors if any(re.search(d[1], f"{x[0]} => {x[1]}") for d in DIFFERENCES)][:a.refused // 2]
    refused = listed + [x for x in errors if x not in listed][:a.refused - len(listed)]
    theirs = (with_dsl if a.dsl else lambda e: with_cutlass(a.cutlass, e))([e for e, _ in taken + refused])
    # The DSL nests and merges modes in its own way: the same function of integers is enough there.
    as_functions = [[], []]
    if a.dsl:
        for side, results in enumerate(([m for _, m in taken + refused], theirs)):
            text = "\n".join(f"coalesce({t})" if ":" in t else "size(1)" for t in results)
            as_functions[side] = subprocess.run([a.tool], input=text, capture_output=True, text=True, check=True).stdout.split("\n")
    wrong = absent = nested_otherwise = 0
    side = "dsl" if a.dsl else "cutlass"
    shown = set()
    for i, ((expression, mine), other) in enumerate(zip(taken + refused, theirs)):
        known = next((d for d in DIFFERENCES if d[0] == side and re.search(d[1], f"{expression} => {mine}")), None)
        if other == "absent":
            absent += 1
            continue
        same = other.startswith("error") if mine.startswith("error") else other == mine
        if not same and a.dsl and ":" in other and as_functions[0][i] == as_functions[1][i]:
            same = True
            nested_otherwise += 1
        if not same and known:
            shown.add(known)
        if same or known:
            continue
        wrong += 1
        print(f"{expression}\n  bitwell {mine}\n  CuTe    {other}")
    by = f"CUTLASS headers in {a.cutlass}" if a.cutlass else "CuTe DSL"
    print(f"seed {a.seed}: {len(taken)} results and {len(refused)} refusals compared with {by}: {wrong} differ, "
          f"{nested_otherwise} nested otherwise, {absent} absent there")
    for d in DIFFERENCES:
        if d[0] != side:
            continue
        print(f"known difference: {d[1]}: {d[2]}" + ("" if d in shown else ": STALE, nothing shows it"))
        wrong += d not in shown
    if a.write and wrong == 0:
        with open(a.write, "w") as f:
            f.write("# Written by compare_cute.py from the CUTLASS headers (PyPI nvidia-cutlass 4.2.0). expression => result\n")
            for (expression, _), other in zip(taken, theirs):
                f.write(f"{expression} => {other}\n")
    return 1 if wrong else 0


sys.exit(main())
