#!/usr/bin/env python3
"""Draws the pictures of the README, light and dark, and writes their caption, out of
bench/results/places.json.

Left, a release on real data beside the answer without privacy; right, how near releases come to it,
against the peers.  Every number is the file's, which bench/bench_places.py writes; the same file
gives the same bytes.  The library's own charts never draw records; these records are public, and
the colours are those of the library's charts.

usage: tools/pictures.py [--check]     --check: draws nothing, fails where a picture is another
"""
import json
import math
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER, README = ROOT / "docs" / "pictures", ROOT / "README.md"
NUMBERS = ROOT / "bench" / "results" / "places.json"
OPENING = "<!-- pictures: made by tools/pictures.py -->\n"
CLOSING = "<!-- /pictures -->\n"
WIDTH, HEIGHT = 860, 250
MAP = (8, 28, 372, 198)  # left, top, width, height
CURVES = (470, 34, 292, 168)
THEMES = {
    "light": {"paper": "#ffffff", "ink": "#1b1f24", "soft": "#525a64", "grid": "#e4e7eb",
              "line": "#7d8590", "dot": "#a9b1bb", "cloister": "#0072b2", "coreset": "#8f6400",
              "diffprivlib": "#c44e00"},
    "dark": {"paper": "#0d1117", "ink": "#e8eaed", "soft": "#aab2bc", "grid": "#2c3138",
             "line": "#7d8590", "dot": "#5b636e", "cloister": "#56b4e9", "coreset": "#f0e442",
             "diffprivlib": "#f08a3c"},
}
SHAPES = {"cloister": "circle", "coreset": "square", "diffprivlib": "triangle"}
NAMES = {"cloister": "cloister", "coreset": "tree coreset", "diffprivlib": "diffprivlib"}


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def text(x, y, words, colour, anchor="start", size=12, weight=400):
    return (f'<text x="{number(x)}" y="{number(y)}" fill="{colour}" font-size="{size}" '
            f'font-weight="{weight}" text-anchor="{anchor}">{escape(words)}</text>')


def mark(shape, x, y, size, colour, paper):
    common = f'fill="{colour}" stroke="{paper}" stroke-width="1"'
    if shape == "circle":
        return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(size)}" {common}/>'
    if shape == "square":
        return (f'<rect x="{number(x - size)}" y="{number(y - size)}" width="{number(2 * size)}" '
                f'height="{number(2 * size)}" {common}/>')
    low = y + 0.8 * size
    points = [(x, y - 1.2 * size), (x + 1.1 * size, low), (x - 1.1 * size, low)]
    return f'<path d="M{" L".join(f"{number(a)} {number(b)}" for a, b in points)}Z" {common}/>'


# ---- the map -------------------------------------------------------------------------------------

def on_map(data, place):
    left, top, width, height = MAP
    (west, south), (east, north) = data["lower"], data["upper"]
    return (left + width * (place[0] - west) / (east - west),
            top + height * (north - place[1]) / (north - south))


def cross(x, y, size, colour, width):
    return (f'<path d="M{number(x - size)} {number(y - size)}l{2 * size} {2 * size}m0 {-2 * size}'
            f'l{-2 * size} {2 * size}" stroke="{colour}" stroke-width="{width}" fill="none"/>')


def draw_map(found, theme):
    data, release = found["data"], found["release"]
    spots = sorted({tuple(map(number, on_map(data, place))) for place in data["drawn"]})
    dots = "".join(f"M{x} {y}h0" for x, y in spots)
    parts = [text(MAP[0], 18, f"k-means of {data['rows']:,} places, {data['clusters']} centers",
                  theme["ink"], weight=600, size=13),
             f'<path d="{dots}" stroke="{theme["dot"]}" stroke-width="1.5" '
             'stroke-linecap="round" fill="none"/>']
    for center in found["exact"]["centers"]:
        x, y = on_map(data, center)
        parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="7" fill="none" '
                     f'stroke="{theme["ink"]}" stroke-width="2"/>')
    for center in release["centers"]:
        x, y = on_map(data, center)
        parts += [cross(x, y, 5, theme["paper"], 5.5), cross(x, y, 5, theme["cloister"], 3)]
    y = HEIGHT - 9
    parts += [f'<circle cx="{MAP[0] + 7}" cy="{y - 4}" r="5.5" fill="none" stroke="{theme["ink"]}" '
              'stroke-width="2"/>', text(MAP[0] + 18, y, "without privacy", theme["ink"]),
              cross(MAP[0] + 128, y - 4, 4, theme["cloister"], 3),
              text(MAP[0] + 138, y, f"released by cloister, ε = {release['epsilon']:g}",
                   theme["ink"])]
    return parts


# ---- the curves ----------------------------------------------------------------------------------

def apart(places, least=15):
    """Heights of labels, upward from the lowest, each clear of the one below."""
    settled, below = {}, math.inf
    for name, y in sorted(places.items(), key=lambda item: -item[1]):
        settled[name] = below = min(y, below - least)
    return settled


def draw_curves(found, theme):
    left, top, width, height = CURVES
    curves = found["curves"]
    epsilons = [point["epsilon"] for point in curves["cloister"]]
    low, high = math.log(epsilons[0]), math.log(epsilons[-1])
    most = math.ceil(10 * max(p["mean"] + p["se"] for c in curves.values() for p in c)) / 10

    def at(epsilon, ratio):
        return (left + width * (math.log(epsilon) - low) / (high - low),
                top + height * (most - ratio) / (most - 1))

    parts = [text(left - 34, 18, "Loss, as a multiple of that without privacy", theme["ink"],
                  weight=600, size=13)]
    for tenth in range(10, round(10 * most) + 1):
        y = at(epsilons[0], tenth / 10)[1]
        parts += [f'<path d="M{left} {number(y)}h{width}" stroke="{theme["grid"]}"/>',
                  text(left - 8, y + 4, f"{tenth / 10:.1f}", theme["soft"], "end", 11)]
    for epsilon in epsilons:
        x = at(epsilon, 1)[0]
        parts.append(text(x, top + height + 16, f"{epsilon:g}", theme["soft"], "middle", 11))
    parts.append(text(left + width / 2, HEIGHT - 9, "ε (more private to the left)", theme["soft"],
                      "middle", 11))
    ends = {}
    for name, points in curves.items():
        spots = [at(point["epsilon"], point["mean"]) for point in points]
        colour = theme[name]
        path = " L".join(f"{number(x)} {number(y)}" for x, y in spots)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for point, (x, y) in zip(points, spots):
            reach = at(1, 1)[1] - at(1, 1 + point["se"])[1]
            parts += [f'<path d="M{number(x)} {number(y - reach)}v{number(2 * reach)}" '
                      f'stroke="{colour}" stroke-width="1.2"/>',
                      mark(SHAPES[name], x, y, 4, colour, theme["paper"])]
        ends[name] = spots[-1][1] + 4
    for name, y in apart(ends).items():
        parts.append(text(left + width + 9, y, NAMES[name], theme[name], size=12, weight=600))
    return parts


def describe(found):
    points = {name: {p["epsilon"]: p["mean"] for p in curve}
              for name, curve in found["curves"].items()}
    at = found["release"]["epsilon"]
    said = ", ".join(f"{NAMES[name]} {curve[at]:.3f}" for name, curve in points.items())
    k = found["data"]["clusters"]
    rows = f"{found['data']['rows']:,}"
    return (f"Left: a map of {rows} places in the United States with {k} k-means centers without "
            f"privacy and {k} released ones at epsilon {at:g}, close together. Right: the loss as "
            f"a multiple of that without privacy, against epsilon; at epsilon {at:g}: {said}.")


def worse(ratio):
    """1.007 as 0.7 %."""
    percent = 100 * (ratio - 1)
    return f"{percent:.1f}\u00a0%" if percent < 10 else f"{percent:.0f}\u00a0%"


def caption(found):
    """What the README shows between its marks."""
    release, versions = found["release"], found["versions"]
    at = {name: next(p["mean"] for p in curve if p["epsilon"] == release["epsilon"])
          for name, curve in found["curves"].items()}
    return f"""<picture>
  <source media="(prefers-color-scheme: dark)" srcset="docs/pictures/places-dark.svg">
  <img src="docs/pictures/places-light.svg" width="{WIDTH}" alt="{escape(describe(found))}">
</picture>

The map shows {found['data']['clusters']} cluster centers of {found['data']['rows']:,} US post
codes, with privacy and without. At ε = {release['epsilon']:g} the loss of cloister is
{worse(at['cloister'])} above that of scikit-learn without privacy. The loss of diffprivlib,
another private program, is {worse(at['diffprivlib'])} above it.

<sub>The loss is the mean squared distance of a post code to its center. The picture also shows the
"tree coreset", a private method that several other programs use. Means of
{found['seeds']} runs, scikit-learn {versions['scikit-learn']},
diffprivlib {versions['diffprivlib']}:
[bench_places.py](bench/bench_places.py).</sub>
"""


def with_caption(readme, found):
    head, rest = readme.split(OPENING)
    return head + OPENING + caption(found) + CLOSING + rest.split(CLOSING)[1]


def draw(found, theme):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="system-ui, -apple-system, '
             '\'Segoe UI\', Roboto, \'Helvetica Neue\', Arial, sans-serif">',
             "<title>k-means with privacy and without</title>",
             f"<desc>{escape(describe(found))}</desc>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{theme["paper"]}"/>',
             *draw_map(found, theme), *draw_curves(found, theme), "</svg>"]
    return "\n".join(parts) + "\n"


def main():
    found = json.loads(NUMBERS.read_text(encoding="utf-8"))
    wrong = []
    made = {FOLDER / f"places-{name}.svg": draw(found, theme) for name, theme in THEMES.items()}
    made[README] = with_caption(README.read_text(encoding="utf-8"), found)
    for path, drawn in made.items():
        if "--check" not in sys.argv[1:]:
            path.write_text(drawn, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != drawn:
            wrong.append(path.name)
    if wrong:
        print("make pictures makes another", ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
