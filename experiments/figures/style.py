"""One style for all figures: white ground, so that they read the same in print and on dark screens; lines labelled where
they end; colours that survive colour blindness (Okabe and Ito)."""
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).resolve().parent
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933"]

plt.rcParams.update({
    "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white",
    "font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#dddddd",
    "grid.linewidth": 0.6, "lines.linewidth": 1.6, "svg.hashsalt": "bitwell", "savefig.dpi": 110,
})


def label_ends(axes, ends, least_gap=0.055):
    """Writes (x, y, text, colour) at the right of lines, moved apart so that none covers another."""
    axes.figure.canvas.draw()
    to_axes = axes.transAxes.inverted()
    places = []
    for x, y, text, colour in ends:
        at = to_axes.transform(axes.transData.transform((x, y)))
        places.append([min(max(at[1], 0.0), 1.0), at[0], text, colour])
    places.sort(key=lambda p: p[0])
    for i in range(1, len(places)):
        places[i][0] = max(places[i][0], places[i - 1][0] + least_gap)
    over = places[-1][0] - 1.02 if places else 0
    if over > 0:
        for p in places:
            p[0] -= over
    for y, x, text, colour in places:
        axes.annotate(text, (x, y), xytext=(1.02, y), xycoords=axes.transAxes, textcoords=axes.transAxes,
                      color=colour, fontsize=8, va="center", annotation_clip=False)


def powers_of_two(axes, ks):
    axes.set_xscale("log", base=2)
    axes.set_xticks([k for k in ks if int(k).bit_length() % 2 == 1])
    axes.set_xticklabels([f"{int(k):,}" for k in ks if int(k).bit_length() % 2 == 1])


def save(figure, name):
    # No date and no version inside: the same numbers give the same bytes.
    figure.savefig(HERE / name, metadata={"Software": None}, bbox_inches="tight")
    plt.close(figure)
    print("drew", (HERE / name).relative_to(HERE.parent.parent))
