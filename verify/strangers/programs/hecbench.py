#!/usr/bin/env python3
"""HeCBench's programs (github.com/zjin-lcf/HeCBench): what bitwell says of their kernels, how fast it is, whether a GPU leaves the same.

    hecbench.py build CHECKOUT --work DIR [--every N] [--first K] [--no-fmad PROGRAM ...] [--own-sizes] [--jobs J]
    hecbench.py run BITWELL --work DIR --csv FILE [--gpu] [--fmad] [--jobs J] [--seconds S] [--limit S]
    hecbench.py time BITWELL --work DIR --csv FILE [--jobs J] [--seconds S] [--limit S]

`build` takes every N-th program of src/*-cuda from the K-th on, by its own Makefile, with nvcc's runtime as a shared library, for
sm_90; those named behind --no-fmad once more with -fmad=false, since ptxas may join a product and a sum, and bitwell does not.
`run` keeps the first three launches of each program with their memory (those of a program with less than 100 MB), by bitwell, or
with --gpu on this machine's GPU with what they leave there, and then runs each by bitwell on one thread; with --fmad products and
sums are fused as ptxas fuses them. Problems are made
small by SMALL, but for --own-sizes. `time` keeps the launches on this machine's GPU, one program after the other, with how long each
takes there, and sets the model of time beside that. Nothing of HeCBench is kept here.
"""
import argparse
import concurrent.futures
import csv
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

FIELDS = ("program", "launch", "kernel", "lane instructions", "seconds", "G/s", "bitwell says")
TIME_FIELDS = ("program", "launch", "kernel", "device", "between events, us", "least, us", "most, us", "empty, us", "measured, us", "modelled, us",
               "low, us", "high, us", "bound by", "without a row", "bitwell says")
KEPT = 3
LEAST = 0.02  # seconds: what is shorter is mostly memory that is touched for the first time
# Arguments in place of those of the Makefile's `run`.
SMALL = dict(line.split(" ", 1) for line in """\
ace 2
adamw 100000 3
adjacent 1000000 2
aop -runs 2
atomicAggregate 2
atomicIntrinsics 20 2
attention-paged 1 8 128 512 128 2
axpby 2
background-subtract 512 256 0 3
bezier-surface -n 2
bgmv --op bgmv_shrink --tokens 1 --hidden 4096 --rank 16 --loras 4 --repeat 2
bilateral 296 144 0.5 0.5 2
blockScan 222720 2
bonds 2
bscan 2
burger 410 405 2
cbsfil 512 512 2
channelShuffle 1 32 32 2
cmembench 2
colorwheel 10 512 2
compute-score -p=2
convolution1D 1048576 2
convolutionSeparable 512 512 2
crossEntropy 2
d3q19-bgk 4
depixel 256 256 2
distort 256 256 0.001 2
dwconv 4 16 56 56 2
entropy 1024 1024 2
ert 1024 2
expdist 512 2
f16sp 2
fdtd3d --dimx=64 --dimy=64 --timesteps=3
flame 2
floydwarshall 128 100 2
fresnel 2
fsm 2
fwt 2
ge-spmm data/snap/amazon0302/amazon0302.mtx 8 2
geam 1024 1024 2
glu 3 64 2
groupnorm 32 32 16 16 32 2
hausdorff 3000 3000 2
hwt1d 524288 2
hypterm 2
idivide 2
ising -x 1024 -y 1024 -w 10 -n 2
iso2dfd 256 256 2
kernelLaunch 2
kiss 2
lebesgue 10000 2
lif 1000 32 100
loopback 0 2
lrn 2
mandelbrot 2
marchingCubes 2
matrixT 1024 1024 2
maxFlops 2
memtest 2
michalewicz 65536 2
minisweep --niterations 1
minkowski 2
moe 1024 384 1 2
moe-align 2
morphology 8 8 256 256 2
mt 2
nbnxm 2
nbody 1024 2
nlll 256 100 2
nosync 1048576 2
nqueen 12 7 2
nw 1024 10 2
p2p 2
p4 2
page-rank -n 1000 -i 2
pcc 1024 64
perlin 2
permute 8 2
pnpoly 2
pns 22 65536 2
pointwise 10 4 64 32 2
projectile 2
qem 2
quantBnB 65536 2
quicksort 2 256 256
rayleighBenardConvection 2
reaction 2
relu 100000 2
reverse 2
reverse2D 256 256 2
ring 1 65536 2
romberg 16 64 2
rsbench -s small -m event
s3d -q -n 2 -s 1
scan2 2 262144 256
scatterAdd 100000 32 8 2
silu 2 32 64 64 2
simplemoc -s 10000 -e 16 -n 1
softmax-fused 4 12 64 64 2
spmm 128 128 128 128 128 2 1
sps2d 1024 1024 8192 2
storeKVCache 2
streamPriority 2
surfel 1024 64 48 2
tensorAccessor 512 512 2
threadfence 100 2
topk 3072 2
tsa 1024 1024 2
unfold 1000000 2
vanGenuchten 64 64 64 2
vmc 2
warpexchange 512 512 2
wlcpow 2
wsm5 2
zerocopy 2
zeropoint 100000 2""".splitlines())


def made(asked, source, unfused):
    """One program, or what was in its way, in words; none where it is there already."""
    name = source.name[:-5]
    to = asked.work / (name + (".no-fmad" if unfused else ""))
    if (to / "cmd").exists():
        return ""
    shutil.copytree(source, to, dirs_exist_ok=True, ignore_dangling_symlinks=True)
    makefile = (to / "Makefile").read_text()
    program = (re.search(r"^program\s*=\s*(\S+)", makefile, re.M) or ("", "main"))[1]
    rule = re.search(r"^run:.*\n\t(.*)", makefile, re.M)
    words = rule[1].replace("$(LAUNCHER)", "").split(maxsplit=1)[1:] if rule else []
    compiler = "nvcc -cudart shared -lineinfo" + (" -fmad=false" if unfused else "")
    try:
        ran = subprocess.run(["make", "-s", "CC=" + compiler, "ARCH=sm_90", "VERIFY=yes", "-I", str(source)], cwd=to, capture_output=True,
                             text=True, timeout=200)
    except subprocess.TimeoutExpired:
        return f"{to.name}: not built within 200 s"
    if ran.returncode != 0 or not (to / program).exists():
        return f"{to.name}: not built: {' '.join(ran.stderr.split())[-120:]}"
    own = " ".join(words)
    (to / "cmd").write_text(f"./{program} {own if asked.own_sizes else SMALL.get(name, own)}".strip())
    return f"{to.name}: {(to / 'cmd').read_text()}"


def build(asked):
    sources = sorted(p for p in (asked.checkout / "src").glob("*-cuda") if (p / "Makefile").exists())[asked.first::asked.every]
    wanted = [(p, False) for p in sources] + [(p, True) for p in sources if p.name[:-5] in asked.no_fmad]
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for said in pool.map(lambda w: made(asked, *w), wanted):
            if said:
                print(said, flush=True)


def keep(asked, program, how):
    """Its first launches, each a folder with launch.json; what the program's run says of itself does not matter."""
    to = asked.work / "kept" / program.name
    shutil.rmtree(to, ignore_errors=True)
    command = [asked.bitwell, "exec", *how, "--record", to, "--record-count", str(KEPT + 1), "--record-bytes", "100M", "--",
               *(program / "cmd").read_text().split()]
    with subprocess.Popen(list(map(str, command)), cwd=program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as ran:
        end = time.time() + asked.keeping
        while ran.poll() is None and time.time() < end and not (to / f"{KEPT + 1:04}").exists():
            time.sleep(0.02)
        ran.terminate()
    return sorted(to.glob("*/launch.json"))[:KEPT]  # one more has begun: these are whole


def judge(asked, file):
    row = {"program": file.parents[1].name, "launch": int(file.parent.name)}
    limit = min(asked.limit, asked.end - time.time())
    if limit < 1:
        return row | {"bitwell says": "not run: no time was left"}
    try:
        ran = subprocess.run([asked.bitwell, "run", file, "--threads", "1", *["--fmad"] * asked.fmad], capture_output=True, text=True, timeout=limit,
                             errors="replace")
    except subprocess.TimeoutExpired:
        return row | {"bitwell says": f"not done within {limit:.0f} s"}
    counted = re.search(r"^(.*?): ([\d,]+) lane instructions in ([\d.]+) s", ran.stdout, re.M)
    if counted:
        lanes, seconds = int(counted[2].replace(",", "")), float(counted[3])
        row |= {"kernel": counted[1][:60], "lane instructions": lanes, "seconds": seconds,
                "G/s": f"{lanes / seconds / 1e9:.3f}" if seconds >= LEAST else ""}
    wrong = re.search(r"^FAILED: (.*)", ran.stdout, re.M)
    said = re.search(r"bitwell: (.*)", ran.stderr)
    row["bitwell says"] = ("holds" if ran.returncode == 0 else f"{wrong[1]}: not what the GPU left" if wrong
                           else said[1][:300] if said else f"exit status {ran.returncode}")
    return row


def programs_of(asked):
    asked.end = time.time() + asked.seconds
    return sorted(p.parent for p in asked.work.glob("*/cmd"))


def write(asked, fields, rows):
    rows.sort(key=lambda r: (r["program"], r["launch"]))
    with asked.csv.open("w", newline="") as to:
        table = csv.DictWriter(to, fields, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def run(asked):
    programs = programs_of(asked)
    how = ["--gpu", "--record-after"] if asked.gpu else ["--unchecked", "--threads", "1"]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        def whole(program):
            return [judge(asked, file) for file in keep(asked, program, how)] if time.time() < asked.end else []
        for of_program in pool.map(whole, programs):
            rows += of_program
    write(asked, FIELDS, rows)
    rates = sorted((float(r["G/s"]), r["program"], r["kernel"]) for r in rows if r.get("G/s"))
    print(f"{len(rows)} launches of {len({r['program'] for r in rows})} programs, {sum(r['bitwell says'] == 'holds' for r in rows)} hold")
    if rates:
        print(f"G lane instructions a second, of {len(rates)} that took {1000 * LEAST:.0f} ms: median {rates[len(rates) // 2][0]:.2f}, the least:")
        for rate, program, kernel in rates[:10]:
            print(f"  {rate:.3f}  {program}  {kernel}")
    for r in rows:
        if r["bitwell says"] != "holds":
            print(f"{r['program']} {r['launch']}: {r['bitwell says'][:150]}")


def modelled(asked, file):
    row = {"program": file.parents[1].name, "launch": int(file.parent.name)}
    try:
        ran = subprocess.run([asked.bitwell, "time", file, "--json"], capture_output=True, text=True, timeout=asked.limit, errors="replace")
    except subprocess.TimeoutExpired:
        return row | {"bitwell says": f"not done within {asked.limit:.0f} s"}
    if ran.returncode != 0:
        return row | {"bitwell says": " ".join(ran.stderr.split())[:300]}
    launch = json.loads(ran.stdout)["launches"][0]
    measured = launch.get("measured")
    if measured is None:
        return row | {"kernel": launch["entry"][:60], "bitwell says": "not timed on the GPU"}
    return row | {"kernel": launch["entry"][:60], "device": measured["device"], "between events, us": measured["us"], "least, us": measured["least_us"],
                  "most, us": measured["most_us"], "empty, us": measured["empty_us"], "measured, us": f"{measured['kernel_us']:.3f}",
                  "modelled, us": f"{launch['alone_us']:.3f}", "low, us": f"{launch['low_us']:.3f}", "high, us": f"{launch['high_us']:.3f}",
                  "bound by": launch["bound_by"], "without a row": " ".join(launch.get("without_a_row", {}))}


def quantile(sorted_values, part):
    return sorted_values[min(len(sorted_values) - 1, int(part * len(sorted_values)))]


def time_all(asked):
    """One program at a time on the GPU; the model meanwhile on the host's other cores."""
    rows = []
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        asks = [pool.submit(modelled, asked, file) for program in programs_of(asked) if time.time() < asked.end
                for file in keep(asked, program, ["--gpu", "--record-time"])]
        rows = [ask.result() for ask in asks]
    write(asked, TIME_FIELDS, rows)
    say_errors(rows)


def say_errors(rows):
    """Of all launches that have both figures."""
    told = [(float(r["modelled, us"]) / float(r["measured, us"]) - 1, float(r["measured, us"]), r) for r in rows
            if "measured, us" in r and float(r["measured, us"]) > 0]
    print(f"{len(rows)} launches of {len({r['program'] for r in rows})} programs, {len(told)} with both figures")
    for name, least in (("all", 0), ("of 5 us and more", 5), ("of 20 us and more", 20)):
        errors = sorted(abs(error) for error, us, _ in told if us >= least)
        if errors:
            inside = sum(float(r["low, us"]) <= us <= float(r["high, us"]) for _, us, r in told if us >= least)
            print(f"{name}: {len(errors)} launches, error: median {100 * quantile(errors, 0.5):.0f} %, mean {100 * sum(errors) / len(errors):.0f} %, "
                  f"90th percentile {100 * quantile(errors, 0.9):.0f} %; {inside} within the range that the model gives")
    print_order([(us, float(r["modelled, us"])) for _, us, r in told if us >= 5])


def print_order(told):
    """Of two launches that differ on the GPU, how often the model names the slower one."""
    pairs = [(a, b) for a, b in itertools.combinations(told, 2) if max(a[0], b[0]) > 1.1 * min(a[0], b[0])]
    right = sum((a[0] < b[0]) == (a[1] < b[1]) for a, b in pairs)
    if pairs:
        print(f"order of pairs of 5 us and more that differ by more than 10 %: right in {100 * right / len(pairs):.0f} % of {len(pairs)}")


def do_asked(parser):
    """What the command line asks, with whole paths and the folder for it there."""
    asked = parser.parse_args()
    asked.work = asked.work.resolve()
    asked.work.mkdir(parents=True, exist_ok=True)
    if hasattr(asked, "bitwell"):
        asked.bitwell = asked.bitwell.resolve()
    return asked.does(asked)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    b = commands.add_parser("build")
    b.add_argument("checkout", type=pathlib.Path)
    b.add_argument("--every", type=int, default=8)
    b.add_argument("--first", type=int, default=0)
    b.add_argument("--no-fmad", nargs="*", default=[], metavar="PROGRAM")
    b.add_argument("--own-sizes", action="store_true", help="the problems of the Makefiles")
    b.set_defaults(does=build)
    r = commands.add_parser("run")
    r.add_argument("bitwell", type=pathlib.Path)
    r.add_argument("--csv", type=pathlib.Path, required=True)
    r.add_argument("--gpu", action="store_true")
    r.add_argument("--fmad", action="store_true", help="with products and sums fused as ptxas fuses them")
    r.add_argument("--seconds", type=float, default=3600, help="after which nothing is begun")
    r.add_argument("--limit", type=float, default=60, help="seconds of one launch")
    r.set_defaults(does=run, keeping=20)
    t = commands.add_parser("time")
    t.add_argument("bitwell", type=pathlib.Path)
    t.add_argument("--csv", type=pathlib.Path, required=True)
    t.add_argument("--seconds", type=float, default=3600, help="after which no program is begun")
    t.add_argument("--limit", type=float, default=60, help="seconds of the model for one launch")
    t.add_argument("--keeping", type=float, default=20, help="seconds of a program on the GPU")
    t.set_defaults(does=time_all)
    for command in (b, r, t):
        command.add_argument("--jobs", type=int, default=1, help="so many programs at once")
        command.add_argument("--work", type=pathlib.Path, required=True)
    return do_asked(parser)


if __name__ == "__main__":
    sys.exit(main())
