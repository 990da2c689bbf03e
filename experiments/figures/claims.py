"""Holds every sentence of experiments/README.md, and the speeds that kernels/README.md names, against the numbers in
experiments/results; prints each with its figures."""
import sys

from results import read, select

failed = []


def claim(sentence, holds, figures):
    print(f"{'holds' if holds else 'FAILS'}: {sentence}  [{figures}]")
    if not holds:
        failed.append(sentence)


def one(rows, **wanted):
    found = select(rows, **wanted)
    assert len(found) == 1, (wanted, len(found))
    return found[0]


accumulate = read("accumulate.csv")
at = lambda family, order, k=16384: one(accumulate, family=family, order=order, k=float(k))

exact = max(r["ulp99"] for r in accumulate if r["order"] == "fused" and r["family"] in
            ("problem", "gaussian", "same_sign", "heavy_tailed"))
claim("exact groups added in fp32 stay within half a unit", exact <= 0.501, f"largest 99 % {exact} ULP")
slow = at("problem", "f16x2_sequential")["ulp99"]
claim("one packed fp16 sum is 59 ULP off on the contest's inputs", 58.5 < slow < 60, slow)
slow = at("gaussian", "f16x2_sequential")["ulp99"]
claim("and over 1,000 on Gaussian ones", slow > 1000, slow)

beyond = sum(r["beyond_worst"] for r in accumulate)
claim("no dot product lies beyond its worst-case bound", beyond == 0, f"{len(accumulate)} points, {beyond:.0f} beyond")
lost = at("same_sign", "f16_sequential")["mean_relative"]
claim("an fp16 sum of 16,384 terms of one sign loses 40 % of its value", 0.37 < lost < 0.43, lost)
missed = at("same_sign", "f16_sequential")
claim("where the likely bound, for roundings without a sign, no longer holds", missed["beyond_probable"] > 0,
      f"{missed['beyond_probable']:.0f} of {missed['dots']:.0f}")

claim("four threads and an fp16 butterfly hold at k = 2,048", at("problem", "contest_k2048", 2048)["outside"] == 0, 0)
share = at("problem", "contest_k2048", 8192)
claim("and fail for 2 % of outputs at k = 8,192", 0.015 < share["outside"] / share["dots"] < 0.025,
      share["outside"] / share["dots"])
late = max(r["outside"] for r in accumulate if r["order"] == "contest_k7168" and r["family"] == "problem")
claim("an fp32 sum that takes over every 128 elements holds everywhere", late == 0, late)
first = at("problem", "contest_k16384")["outside"]
claim("sixteen threads added in fp32 hold at k = 16,384", first == 0, first)
half = at("gaussian", "contest_k7168")
claim("on Gaussian inputs half of its outputs lie outside", 0.45 < half["outside"] / half["dots"] < 0.55,
      half["outside"] / half["dots"])

recipes = read("quantise.csv")
db = lambda recipe, data="gaussian": one(recipes, input=data, recipe=recipe)["sqnr_db"]
gain = db("four_over_six_mse") - db("nvfp4")
claim("4 over 6 gains 0.8 dB on Gaussian tensors", 0.7 < gain < 0.9, f"{gain:.2f} dB")
cost = db("nvfp4") - db("stochastic")
claim("stochastic rounding costs 3.2 dB", 3.1 < cost < 3.3, f"{cost:.2f} dB")
turned = db("nvfp4", "outlier_channels") - db("hadamard", "outlier_channels")
claim("a Hadamard turn costs 3 dB where single channels stand out", 2.8 < turned < 3.3, f"{turned:.2f} dB")

gemm = read("gemm_error.csv")
worst = max(r["max_relative"] for r in select(gemm, family="gaussian", sum="blackwell_nvfp4", split=1.0, output="f32"))
claim("NVFP4 sums of Gaussian tensors are exact up to k = 16,384", worst == 0, worst)
sums = lambda **wanted: one(gemm, k=16384.0, sum="blackwell_nvfp4", **wanted)["rms_relative"]
core = sums(family="outlier_channels", split=1.0, output="f32")
bf16 = sums(family="outlier_channels", split=8.0, handed_over="bf16")
claim("eight splits handed over in bf16 lose some hundred times what the tensor core does", 300 < bf16 / core < 3000,
      f"{bf16 / core:.0f}")

tile = select(read("gemm_map.csv"), family="same_sign", sum="blackwell_nvfp4")
down = sum(r["error_over_a"] < 0 for r in tile)
claim("with data of one sign every element of the tile errs downwards", down == len(tile) == 1024, f"{down} of {len(tile)}")

gemv = read("gemv_speed.csv")
contest = ("7168x16384x1", "4096x7168x8", "7168x2048x4")
streamed = [one(gemv, kernel="streamed", **{"m x k x l": shape}) for shape in contest]
shares = [r["share of reading"] for r in streamed]
claim("streamed reaches 80 to 95 % of the speed of reading", (min(shares), max(shares)) == (0.80, 0.95), shares)
faster = [r["cuBLAS / this"] for r in streamed]
claim("and is 2.6 to 3.4 times as fast as cuBLAS", (round(min(faster), 1), round(max(faster), 1)) == (2.6, 3.4), faster)
gemm = {r["m x n x k"]: r for r in read("gemm_speed.csv")}
ratios = [gemm[shape]["ratio"] for shape in ("128x7168x16384", "128x4096x7168", "128x7168x2048")]
claim("the GEMM is 1.5 to 2.5 times as fast as its peer at the contest's shapes",
      (round(min(ratios), 1), round(max(ratios), 1)) == (1.5, 2.5), ratios)
large = [r["ratio"] for shape, r in gemm.items() if min(map(int, shape.split("x"))) >= 2048]
claim("and 0.94 to 1.08 times where m, n and k are large", (min(large), max(large)) == (0.94, 1.08), large)

sys.exit(1 if failed else 0)
