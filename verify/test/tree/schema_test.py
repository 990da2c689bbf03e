"""launch.schema.json as an independent validator reads it: every launch in the tree holds by it, and the reader of launches and the
schema say the same. Usage: schema_test.py BITWELL SOURCE"""
import copy
import json
import lzma
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("SKIPPED: the Python package jsonschema is not there: run '.ci/test'")
    sys.exit(77)

bitwell, source = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []


def said(*arguments):
    return subprocess.run([bitwell, *arguments], check=True, capture_output=True, text=True).stdout


schema = json.loads(said("schema"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)


# Every launch that stands in a file of the tree: whole files, and those in pages.
def launches():
    for path in sorted(p for folder in ("kernels", "docs", "verify") for p in (source / folder).rglob("*.json")):
        content = json.loads(path.read_text())
        if isinstance(content, dict) and "ptx" in content:
            yield path, content
    pages = [*source.glob("*.md"), *(p for folder in ("docs", "kernels", "verify") for p in (source / folder).rglob("*.md"))]
    for path in sorted(pages):
        text = path.read_text()
        over = 0  # where the last one ended: a launch of its "then" is none by itself
        for start in re.finditer(r'\{("//": "[^"]*", )?"ptx":', text):
            if start.start() < over:
                continue
            try:
                launch, end = json.JSONDecoder().raw_decode(text[start.start():])
            except json.JSONDecodeError as error:
                if path.suffix == ".md" and path.parent.parent.name != "command" and "..." not in text[start.start():start.start() + error.pos + 5]:
                    failures.append(f"{path.name}: a launch that is no JSON: {error}")
                continue
            over = start.start() + end
            if "$" not in text[start.start():start.start() + end].replace("$schema", ""):  # else the shell fills it in
                yield path, launch


count = 0
for path, launch in launches():
    count += 1
    if error := jsonschema.exceptions.best_match(validator.iter_errors(launch)):
        failures.append(f"{path.relative_to(source)}: {error.json_path}: {error.message}\n  {json.dumps(launch)[:300]}")
if count < 20:
    failures.append(f"only {count} launches found in the tree")

# A launch with every key that there is. Its PTX is not there, which is found when all else has been read.
numbers = {"buffer": "out", "unwritten": 16, "format": "f32", "dtype": "f4", "shape": [2, 2], "output": "out.npy", "expected": "four.npy",
           "tolerance": {"rtol": 0.5, "atol": 0.5, "nan": "any"},
           "product": {"a": "a", "b": "b", "b_order": "nk", "alpha": 2}}
shape = {"grid": [2, 1, 1], "block": 32, "cluster": [1], "non_portable_cluster": True, "dynamic_shared_bytes": 16, "registers": 32, "cooperative": True}
everything = {
    "$schema": "launch.schema.json", "//": "a comment", "ptx": "absent.ptx", "entry": "k", **shape, "heap": 65536, "fmad": False,
    "measured": {"device": "NVIDIA H200", "us": 12.5, "least_us": 12, "most_us": 13, "empty_us": 2.25, "launches": 9},
    "buffers": [
        {"buffer": "a", "npy": "four.npy", "shape": [2, 2], "read_only": True},
        {"buffer": "b", "values": [1, 2, 3, -4.5], "format": "f32", "shape": [2, 2]},
        {"buffer": "c", "bin": "four.npy", "address": 35184372088832, "written": "four.npy", "output": "c.bin", "all_written": False},
        {"buffer": "d", "zeros": 256, "fields": [{"at": 0, "pointer": "a", "offset": 4}, {"at": 8, "type": "s32", "value": -1},
                                                 {"at": 16, "bytes": "00ff"}, {"at": 32, "texture": "t"}, {"at": 40, "surface": "t"},
                                                 {"at": 64, "struct": [{"at": 4, "type": "f16", "value": 0.5}]},
                                                 {"at": 128, "tensor_map": "e", "type": "u8", "dims": [64], "box": [64]}]},
        {"buffer": "e", "generate": {"kind": "iota_u32", "bytes": 8192, "seed": 3}}],
    "textures": [{"texture": "t", "over": "e", "format": "u8", "channels": 4, "width": 4, "height": 4, "depth": 2, "address": "wrap",
                  "filter": "linear", "normalized_coordinates": True, "normalized_values": True},
                 {"texture": "u", "over": "e", "format": "f32", "width": 4, "layers": 2}],
    "arguments": [
        numbers, {"buffer": "f", "zeros": 4, "output": "f.bin", "partly_written": True}, {"type": "f64", "value": 1}, {"pointer": "a"},
        {"struct": [{"at": 0, "pointer": "a"}], "size": 16}, {"bytes": "0011"}, {"texture": "t"}, {"surface": "u"},
        {"tensor_map": "e", "type": "f16", "dims": [64, 8], "strides": [128], "box": [64, 8], "element_strides": [1, 1],
         "swizzle": "128b", "fill": "nan", "l2_promotion": "none", "offset": 16},
        {"tensor_map": "e", "encoded": "map.bin", "offset": 16}],
    "variables": [{"variable": "v", "values": [1], "format": "f32"}, {"variable": "w", "output": "w.npy", "dtype": "u4"}],
    "then": [{"entry": "k", "ptx": "absent.ptx", **shape, "programmatic_stream_serialization": True, "arguments": [{"pointer": "a"}]},
             {"copy": {"from": "a", "to": "out", "from_offset": 4, "to_offset": 4, "bytes": 8}},
             {"fill": {"buffer": "a", "offset": 4, "bytes": 8, "value": 255}}]}


def keys(value):
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


def properties(value):
    if isinstance(value, dict):
        own = set(value["properties"]) if isinstance(value.get("properties"), dict) else set()
        return own.union(*map(properties, value.values()))
    return set().union(*map(properties, value)) if isinstance(value, list) else set()


if never := properties(schema) - keys(everything) - {"ulp"}:
    failures.append(f"the launch with every key lacks {sorted(never)}")


def places(value, at=()):
    """Of all that stands in a launch: the path to it."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*at, key)
        yield from places(inner, (*at, key))


def changed(at, change):
    out = copy.deepcopy(everything)
    holder = out
    for step in at[:-1]:
        holder = holder[step]
    change(holder, at[-1])
    return out


def put(value):
    return lambda holder, key: holder.__setitem__(key, value)


def misspell(holder, key):
    holder[key + "x"] = holder.pop(key)


# One change to each place, of each kind; and whether it can never be a launch.
changes = [(put(None), True), (put({"nobody": 1}), True), (put("nothing"), False), (put(-1), False), (put([]), False),
           (put(2.5), False), (lambda holder, key: holder.pop(key), False)]
with tempfile.TemporaryDirectory() as work:
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }".ljust(117) + "\n"
    (pathlib.Path(work) / "four.npy").write_bytes(
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<4f", 1, 2, 3, 4))
    recorded = lzma.open(source / "verify/device/captures/tensor_maps.txt.xz", "rt").read().splitlines()  # as an H200's driver made them
    (pathlib.Path(work) / "map.bin").write_bytes(next(bytes.fromhex(r.split(" : ")[1]) for r in recorded if re.fullmatch("tiled .* : [0-9a-f]{256}", r)))

    def reader_takes(launch):
        """The only thing that is wrong with it is that its PTX is not there."""
        (pathlib.Path(work) / "launch.json").write_text(json.dumps(launch))
        done = subprocess.run([bitwell, "run", "launch.json"], cwd=work, capture_output=True, text=True)
        if done.returncode not in (2, 3):
            failures.append(f"exit status {done.returncode}: {done.stderr[:300]}\n  {json.dumps(launch)[:300]}")
        return "cannot read 'absent.ptx'" in done.stderr, done.stderr.strip()

    tried = 0
    taken, why = reader_takes(everything)
    if not taken:
        failures.append(f"the reader refuses the launch with every key: {why}")
    if error := jsonschema.exceptions.best_match(validator.iter_errors(everything)):
        failures.append(f"the schema refuses the launch with every key: {error.json_path}: {error.message}")
    for n, at in enumerate(places(everything)):
        for change, never in (changes[n % len(changes)], (misspell, True)):
            if "//" in at or (change is misspell and not isinstance(at[-1], str)):
                continue
            launch = changed(at, change)
            if launch == everything:
                continue
            tried += 1
            taken, why = reader_takes(launch)
            allowed = validator.is_valid(launch)
            if taken and not allowed:
                failures.append(f"{at}: the reader takes what the schema refuses: {json.dumps(launch)[:200]}")
            if never and (taken or allowed):
                failures.append(f"{at}: {'the reader' if taken else 'the schema'} takes it with {change}")

# The page has the same tables.
page = source / "docs/launch-file.md"
between = re.search(r"<!-- keys -->\n(.*)<!-- end of the keys -->", page.read_text(), re.S)
if not between or between.group(1).strip() != said("schema", "--keys").strip():
    failures.append("docs/launch-file.md does not hold what `bitwell schema --keys` prints, between its two marks")

for failure in failures[:20]:
    print("FAILED:", failure)
print(f"{count} launches in the tree, {tried} changes to the one with every key, {len(failures)} failures")
sys.exit(bool(failures))
