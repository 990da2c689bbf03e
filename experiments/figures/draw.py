"""Draws every figure of experiments/README.md and kernels/README.md from experiments/results/*.csv."""
import matplotlib.pyplot as plt
import numpy as np

from results import read, select
from style import COLOURS, label_ends, powers_of_two, save

A = "A = Σ|a·b|"


def error_against_k(rows):
    shown = {"f16x2_sequential": "fp16 pair, sequential", "f16x2_warp": "fp16 pair, 32 threads, fp16 butterfly",
             "f16x2_promoted_128": "fp16 pair, fp32 every 128", "f16_tree": "fp16 tree", "fused": "exact groups, fp32",
             "hopper_f16_f16": "Hopper tensor core, fp16 sum", "blackwell_nvfp4": "Blackwell NVFP4"}
    families = {"problem": "contest inputs", "gaussian": "Gaussian", "same_sign": "same sign", "heavy_tailed": "heavy-tailed"}
    figure, grid = plt.subplots(2, 2, figsize=(10, 6.6), sharex=True)
    for axes, (family, title) in zip(grid.flat, families.items()):
        ends = []
        for colour, (order, label) in zip(COLOURS, shown.items()):
            line = sorted(select(rows, family=family, order=order), key=lambda r: r["k"])
            ks = [r["k"] for r in line]
            axes.plot(ks, [max(r["ulp99"], 0.25) for r in line], color=colour)
            ends.append((ks[-1], max(line[-1]["ulp99"], 0.25), label, colour))
        axes.set_yscale("log")
        powers_of_two(axes, ks)
        axes.set_title(title)
        label_ends(axes, ends)
    for axes in grid[1]:
        axes.set_xlabel("k, elements of a dot product")
    for axes in grid[:, 0]:
        axes.set_ylabel("99 % of errors below, ULP of fp16")
    figure.subplots_adjust(wspace=0.75, hspace=0.22)
    save(figure, "error_against_k.png")


def bounds(rows):
    shown = {"f16_sequential": "fp16, one sum", "f16_tree": "fp16 tree", "f16x2_promoted_128": "fp16 pair, fp32 every 128",
             "f32_sequential": "fp32, one sum"}
    figure, grid = plt.subplots(2, 4, figsize=(12, 5.6), sharex=True, sharey=True)
    for line_of_axes, (family, title) in zip(grid, {"gaussian": "Gaussian", "same_sign": "same sign"}.items()):
        for axes, (order, label) in zip(line_of_axes, shown.items()):
            line = sorted(select(rows, family=family, order=order), key=lambda r: r["k"])
            ks = [r["k"] for r in line]
            axes.plot(ks, [r["bound_worst"] for r in line], color="#777777", linestyle="--")
            axes.plot(ks, [r["bound_probable"] for r in line], color="#777777", linestyle=":")
            axes.plot(ks, [r["max_relative"] for r in line], color=COLOURS[0])
            axes.plot(ks, [r["mean_relative"] for r in line], color=COLOURS[1])
            axes.set_yscale("log")
            axes.set_ylim(1e-6, 2)
            powers_of_two(axes, ks)
            axes.set_title(f"{label}\n{title}", fontsize=9)
    last = sorted(select(rows, family="gaussian", order="f32_sequential"), key=lambda r: r["k"])[-1]
    label_ends(grid[0, -1], [(last["k"], last["bound_worst"], "worst-case bound", "#777777"),
                             (last["k"], last["bound_probable"], "likely bound (dots)", "#777777"),
                             (last["k"], last["max_relative"], "largest error", COLOURS[0]),
                             (last["k"], last["mean_relative"], "mean error", COLOURS[1])])
    for axes in grid[1]:
        axes.set_xlabel("k")
        axes.tick_params(axis="x", rotation=40)
    for axes in grid[:, 0]:
        axes.set_ylabel(f"error / A,  {A}")
    figure.subplots_adjust(wspace=0.1, hspace=0.3)
    save(figure, "bounds.png")


def outside(rows):
    orders = ["contest_k16384", "contest_k7168", "contest_k2048", "f16x2_warp", "f16x2_warp_f32", "fp16_combine", "fp32_combine",
              "f16x2_sequential", "shared_b", "fused", "streamed", "blackwell_nvfp4"]
    figure, grid = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    for axes, (family, title) in zip(grid, {"problem": "contest inputs", "gaussian": "Gaussian"}.items()):
        ks = sorted({r["k"] for r in rows})
        share = np.array([[select(rows, family=family, order=o, k=k)[0] for k in ks] for o in orders])
        values = np.vectorize(lambda r: 100 * r["outside"] / r["dots"])(share)
        axes.imshow(np.sqrt(values), cmap="Reds", vmin=0, vmax=10, aspect="auto")
        for y in range(len(orders)):
            for x in range(len(ks)):
                v = values[y, x]
                text = "0" if v == 0 else "<0.1" if v < 0.1 else f"{v:.1f}" if v < 10 else f"{v:.0f}"
                axes.text(x, y, text, ha="center", va="center", fontsize=7, color="white" if v > 45 else "black")
        axes.set_xticks(range(len(ks)), [f"{int(k):,}" for k in ks], rotation=40)
        axes.set_yticks(range(len(orders)), orders)
        axes.grid(False)
        axes.set_title(f"{title}: % of outputs outside rtol = atol = 1e-3")
        axes.set_xlabel("k, elements of a dot product")
    figure.subplots_adjust(wspace=0.05)
    save(figure, "outside_tolerance.png")


def quantise(rows):
    inputs = {"gaussian": "Gaussian", "heavy_tailed": "heavy-tailed", "outlier_channels": "outlier channels"}
    recipes = [r["recipe"] for r in select(rows, input="gaussian")]
    order = sorted(recipes, key=lambda name: select(rows, input="gaussian", recipe=name)[0]["sqnr_db"])
    figure, axes = plt.subplots(figsize=(8, 5.2))
    for y, name in enumerate(order):
        values = [select(rows, input=i, recipe=name)[0]["sqnr_db"] for i in inputs]
        axes.plot([min(values), max(values)], [y, y], color="#cccccc", zorder=1)
        for value, colour in zip(values, COLOURS):
            axes.scatter(value, y, color=colour, s=28, zorder=2)
    for (name, label), colour, shift in zip(inputs.items(), COLOURS, (0.0, 0.0, 0.0)):
        value = select(rows, input=name, recipe=order[-1])[0]["sqnr_db"]
        axes.annotate(label, (value, len(order) - 1), xytext=(0, 9 + 11 * list(inputs).index(name)),
                      textcoords="offset points", color=colour, ha="center", fontsize=8)
    axes.set_yticks(range(len(order)), order)
    axes.set_xlabel("signal to quantisation noise, dB (2048 x 1024 elements in bf16)")
    save(figure, "quantise.png")


def gemm_error(rows):
    sums = {"blackwell_nvfp4": "Blackwell NVFP4", "hopper_f16": "Hopper fp16, fp32 sum", "hopper_f16_f16": "Hopper fp16, fp16 sum"}
    figure, grid = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True)
    for axes, (family, title) in zip(grid, {"gaussian": "Gaussian", "same_sign": "same sign",
                                            "outlier_channels": "outlier channels"}.items()):
        ends = []
        for colour, (name, label) in zip(COLOURS, sums.items()):
            line = sorted(select(rows, family=family, sum=name, split=1.0, output="f32"), key=lambda r: r["k"])
            ks = [r["k"] for r in line]
            axes.plot(ks, [max(r["rms_relative"], 1e-10) for r in line], color=colour)
            ends.append((ks[-1], max(line[-1]["rms_relative"], 1e-10), label, colour))
        for colour, handed in zip(COLOURS[3:], ("f16", "bf16")):
            line = sorted(select(rows, family=family, sum="blackwell_nvfp4", split=8.0, handed_over=handed),
                          key=lambda r: r["k"])
            axes.plot(ks, [max(r["rms_relative"], 1e-10) for r in line], color=colour, linestyle="--")
            ends.append((ks[-1], max(line[-1]["rms_relative"], 1e-10), f"NVFP4, 8 splits in {handed}", colour))
        axes.set_yscale("log")
        powers_of_two(axes, ks)
        axes.set_title(title)
        axes.set_xlabel("k, elements of a dot product")
        if family == "outlier_channels":
            label_ends(axes, ends)
    grid[0].set_ylabel("RMS error / A  (1e-10: exact)")
    save(figure, "gemm_error.png")


def gemm_map(rows):
    figure, grid = plt.subplots(2, 3, figsize=(11, 6.2))
    for line_of_axes, (name, label) in zip(grid, {"blackwell_nvfp4": "Blackwell NVFP4", "hopper_f16_f16": "Hopper, fp16 sum"}.items()):
        for axes, (family, title) in zip(line_of_axes, {"gaussian": "Gaussian", "same_sign": "same sign",
                                                        "outlier_channels": "outlier channels"}.items()):
            chosen = select(rows, family=family, sum=name)
            size = int(max(r["m"] for r in chosen)) + 1
            errors = np.zeros((size, size))
            for r in chosen:
                errors[int(r["m"]), int(r["n"])] = r["error_over_a"]
            largest = np.quantile(np.abs(errors), 0.995)
            exponent = int(np.floor(np.log10(largest))) if largest > 0 else 0
            limit = largest / 10.0**exponent if largest > 0 else 1
            picture = axes.imshow(errors / 10.0**exponent, cmap="RdBu", vmin=-limit, vmax=limit)
            axes.set_title(f"{label}\n{title}", fontsize=9)
            axes.grid(False)
            bar = figure.colorbar(picture, ax=axes, shrink=0.8)
            bar.set_label(f"error / A, in 1e{exponent}" if largest > 0 else "error / A: none", fontsize=7)
            bar.ax.tick_params(labelsize=7)
    for axes in grid[:, 0]:
        axes.set_ylabel("m")
    for axes in grid[1]:
        axes.set_xlabel("n")
    figure.subplots_adjust(wspace=0.45, hspace=0.35)
    save(figure, "gemm_map.png")


def bars(axes, places, values, texts, colour, height):
    """Horizontal bars from the top, each with its text at its end."""
    axes.barh(places, values, color=colour, height=height)
    axes.set_axisbelow(True)
    axes.grid(axis="y", visible=False)
    for y, value, text in zip(places, values, texts):
        axes.annotate(text, (value, y), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7)


def gemv_speed(rows):
    peers = {"cuBLAS on fp16": "#999999", "dequantise then cuBLAS": "#999999"}
    shapes = list(dict.fromkeys(r["m x k x l"] for r in rows))
    timed = [s for s in shapes if len(select(rows, **{"m x k x l": s})) > 1]
    contest = timed[:3]  # the other shapes with every kernel say the same
    figure, grid = plt.subplots(1, len(contest) + 1, figsize=(15, 4.4), layout="constrained")
    for axes, shape in zip(grid, [*contest, None]):
        chosen = [r for r in rows if (r["m x k x l"] if r["m x k x l"] in timed else None) == shape]
        bars(axes, range(len(chosen)), [100 * r["share of reading"] for r in chosen], [f"{r['us']:.1f} us" for r in chosen],
             [peers.get(r["kernel"], COLOURS[2] if r["kernel"].startswith("read") else COLOURS[0]) for r in chosen], 0.7)
        axes.set_yticks(range(len(chosen)), [r["kernel"] if shape else r["m x k x l"] for r in chosen])
        axes.invert_yaxis()
        axes.set_xlim(0, 125)
        axes.set_xticks(range(0, 101, 25))
        axes.set_title(f"m x k x l = {shape}" if shape else "streamed, other m x k x l")
        axes.set_xlabel("speed, % of reading A and its scales")
    save(figure, "gemv_speed.png")


def gemm_speed(rows):
    places = np.arange(len(rows))
    speed = [r["TFLOP/s"] for r in rows]
    figure, axes = plt.subplots(figsize=(8, 4.6))
    bars(axes, places - 0.2, speed, [f"{r['us']:.1f} us" for r in rows], COLOURS[0], 0.36)
    bars(axes, places + 0.2, [s / r["ratio"] for s, r in zip(speed, rows)],
         [f"{r['dequantise and cuBLAS us']:.1f} us" for r in rows], "#999999", 0.36)
    axes.set_yticks(places, [r["m x n x k"] for r in rows])
    axes.invert_yaxis()
    axes.set_ylabel("m x n x k")
    axes.set_xlabel("TFLOP/s: kernels/gemm (blue), dequantise to fp16, then cuBLAS (grey)")
    save(figure, "gemm_speed.png")


def stages(rows):
    shapes = list(dict.fromkeys((r["m"], r["n"], r["k"]) for r in rows))
    tiles = list(dict.fromkeys((r["tile_m"], r["tile_n"]) for r in rows))
    figure, grid = plt.subplots(1, len(shapes), figsize=(12, 4.4))
    for axes, (m, n, k) in zip(grid, shapes):
        here = select(rows, m=m, n=n, k=k)
        for colour, (tile_m, tile_n) in zip(COLOURS, tiles):
            line = sorted(select(here, tile_m=tile_m, tile_n=tile_n), key=lambda r: r["stages"])
            axes.plot([r["shared_bytes"] / 1024 for r in line], [r["modelled_us"] for r in line], color=colour,
                      marker=".", linewidth=1, label=f"{tile_m:.0f} x {tile_n:.0f}")
        front = sorted((r for r in here if r["front"] == 1), key=lambda r: r["shared_bytes"])
        axes.plot([r["shared_bytes"] / 1024 for r in front], [r["modelled_us"] for r in front], color="#777777",
                  linestyle="--", linewidth=3, alpha=0.5, zorder=0, label="no other beats it in both")
        best = max(here, key=lambda r: r["fastest_in_draws"])
        axes.annotate(f"{best['tile_m']:.0f} x {best['tile_n']:.0f}, {best['stages']:.0f} stages:\nfastest in "
                      f"{best['fastest_in_draws']:.0f} of {best['draws']:.0f} draws",
                      (best["shared_bytes"] / 1024, best["modelled_us"]), xytext=(0.5, 0.92), textcoords="axes fraction",
                      arrowprops={"arrowstyle": "->", "color": "#777777"}, fontsize=8)
        axes.set_yscale("log")
        times = [t for t in (12, 15, 20, 30, 40, 60, 80, 120, 150, 200, 300)
                 if min(r["modelled_us"] for r in here) < t < max(r["modelled_us"] for r in here)]
        axes.set_yticks(times, [f"{t}" for t in times])
        axes.set_yticks([], minor=True)
        axes.set_title(f"{m:.0f} x {n:.0f} x {k:.0f}")
        axes.set_xlabel("shared memory of a CTA, KiB; a dot a stage")
    grid[0].set_ylabel("modelled us on an H200")
    grid[-1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), title="tile")
    save(figure, "stages.png")


def main():
    accumulate = read("accumulate.csv")
    error_against_k(accumulate)
    bounds(accumulate)
    outside(accumulate)
    quantise(read("quantise.csv"))
    gemm_error(read("gemm_error.csv"))
    gemm_map(read("gemm_map.csv"))
    gemv_speed(read("gemv_speed.csv"))
    gemm_speed(read("gemm_speed.csv"))
    stages(read("stages.csv"))


if __name__ == "__main__":
    main()
