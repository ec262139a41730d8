#!/usr/bin/env python3
"""Pages and charts say what the release says: numbers in tables, and marks where they belong.

Releases are made by the command, or from one of those with other arrays.  A page is read as a
browser would read it; a chart is measured against the ticks of its own axes, as a reader would.

usage: pages.py CLOISTER
"""
import json
import math
import random
import re
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

CLOISTER = sys.argv[1]
VOID = {"meta", "br", "link"}
TAGS = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "div",
        "section", "footer", "strong", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tr",
        "th", "td", "i", "bdi", "pre", "code", "svg", "desc", "g", "rect", "line", "path", "circle",
        "ellipse", "text"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children = []

    def __getitem__(self, name):
        return self.attributes[name]

    def all(self, tag, **wanted):
        """All below of this tag whose attributes (class_ for class, a_b for a-b) are these."""
        for child in self.children:
            if isinstance(child, Node):
                if child.tag == tag and all(
                        child.attributes.get(key.rstrip("_").replace("_", "-")) == value
                        for key, value in wanted.items()):
                    yield child
                yield from child.all(tag, **wanted)

    def one(self, tag, **wanted):
        found = list(self.all(tag, **wanted))
        assert len(found) == 1, f"{len(found)} of <{tag} {wanted}>"
        return found[0]

    def text(self, but=()):
        return "".join(child if isinstance(child, str) else
                       "" if child.tag in but else child.text(but) for child in self.children)


class Page(HTMLParser):
    """A tree, in which every tag is closed, known, and harmless."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("", {}, None)
        self.feed(text)
        self.close()
        assert self.at is self.root, f"<{self.at.tag}> is not closed"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert tag in TAGS, f"<{tag}> in a page"
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        for name, value in attributes:
            assert not name.startswith("on") and name not in ("href", "src", "style"), name
            assert "javascript:" not in (value or "")
        node = Node(tag, dict(attributes), self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.at = self.at.parent

    def handle_endtag(self, tag):
        assert self.at.tag == tag, f"</{tag}> where <{self.at.tag}> is open"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


def cloister(*words, cwd=None):
    done = subprocess.run([CLOISTER, *map(str, words)], cwd=cwd, capture_output=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr.decode()}"
    return done.stdout.decode()


def page_of(release, folder, *options):
    path = Path(folder) / "r.json"
    path.write_text(json.dumps(release), encoding="utf-8")
    return cloister("report", path, "--format", "html", *options)


def svg(root, name):
    found = [s for s in root.all("svg", role="img")
             if s["aria-labelledby"].startswith(name + "-title")]
    assert len(found) == 1, f"{len(found)} charts {name}"
    return found[0]


# ---- measuring -----------------------------------------------------------------------------------

def scale(chart, axis, where="x"):
    """From places to numbers, by the ticks of an axis as a reader sees them."""
    group = next(g for g in chart.all("g") if g.attributes.get("data-axis") == axis)
    below = 4 if where == "y" else 0  # a text stands a little below its tick
    ticks = [(float(t[where]) - below, float(t.text())) for t in group.all("text")]
    (a, va), (b, vb) = ticks[0], ticks[-1]
    assert a != b, f"one tick on the axis {axis}"
    for place, value in ticks:
        assert abs(va + (place - a) * (vb - va) / (b - a) - value) < 0.02 * abs(vb - va), "ticks"
    return lambda place: va + (place - a) * (vb - va) / (b - a)


def log_scale(chart, axis, where="x"):
    """The same of an axis with logarithms; the answer is one."""
    group = next(g for g in chart.all("g") if g.attributes.get("data-axis") == axis)
    below = 4 if where == "y" else 0
    ticks = [(float(t[where]) - below, math.log(float(t.text()))) for t in group.all("text")]
    (a, va), (b, vb) = ticks[0], ticks[-1]
    for place, value in ticks:
        assert abs(va + (place - a) * (vb - va) / (b - a) - value) < 0.02 * abs(vb - va), "ticks"
    return lambda place: va + (place - a) * (vb - va) / (b - a)


def middle(mark):
    """Where a mark is, and half of its width."""
    if mark.tag == "circle":
        return float(mark["cx"]), float(mark["cy"]), float(mark["r"])
    numbers = [float(n) for n in re.findall(r"-?[0-9.]+", mark["d"])]
    xs, ys = numbers[0::2], numbers[1::2]
    return (min(xs) + max(xs)) / 2, None if len(xs) in (3, 5) else (min(ys) + max(ys)) / 2, \
        (max(xs) - min(xs)) / 2


def the_mark(group):
    return next(n for tag in ("circle", "path") for n in group.all(tag)
                if n["class"].split()[0] in ("mark", "open"))


def near(measured, value, span, what):
    assert abs(measured - value) <= 0.004 * span + 1e-9, f"{what}: at {measured}, not {value}"


def span(numbers):
    return (max(numbers) - min(numbers)) or abs(numbers[0]) or 1


# ---- what is checked -----------------------------------------------------------------------------

def number(text):
    return math.inf if text == "∞" else float(text)


def rounded(value, digits):
    return float(f"{value:.{digits}g}")


def table_rows(root, caption):
    table = next(t for t in root.all("table") if next(t.all("caption")).text() == caption)
    return [[cell.text() for cell in row.children if isinstance(cell, Node)]
            for row in next(table.all("tbody")).all("tr")]


def check_center_table(root, release, noise):
    centers, names = release["values"]["centers"], release["domain"].get("columns")
    rows = {row[0]: row[1:] for row in table_rows(root, "Centers, in the units of each column")}
    names = names or [f"column {j + 1}" for j in range(len(centers[0]))]
    shown = [j for j, name in enumerate(names) if name in rows]
    assert shown, "no column is in the table"
    for j in shown:
        for c, cell in enumerate(rows[names[j]]):
            value, _, plus = cell.partition(" ± ")
            assert number(value) == rounded(centers[c][j], 4), (j, c, cell)
            if noise:
                assert number(plus) == rounded(noise[c][j], 2), (j, c, cell)
    if "sizes" in release["values"]:
        assert [float(n) for n in rows["records"]] == \
            [round(n) for n in release["values"]["sizes"][:len(rows["records"])]]
    return len(shown)


def check_lanes(root, release):
    chart, centers = svg(root, "centers"), release["values"]["centers"]
    for j in range(len(centers[0])):
        at = scale(chart, str(j))
        column = [center[j] for center in centers]
        for c, value in enumerate(column):
            mark = the_mark(next(g for g in chart.all("g", data_at=f"{j} {c}")))
            near(at(middle(mark)[0]), value, span(column), f"column {j}, center {c}")


def check_heat(root, release, columns):
    chart, centers = svg(root, "centers"), release["values"]["centers"]
    seen = set()
    for group in chart.all("g"):
        if "data-at" not in group.attributes:
            continue
        j, c = map(int, group["data-at"].split())
        column = [center[j] for center in centers]
        share = (centers[c][j] - min(column)) / span(column)
        shade = int(next(group.all("rect"))["class"][1:])
        assert abs(shade - min(share * 9, 8)) <= 1.0001, (j, c, shade, share)
        seen.add((j, c))
    assert len(seen) == columns * len(centers), len(seen)


def check_map(text, release, columns):
    chart = svg(Page(text).root, "map")
    across, up = scale(chart, "x"), scale(chart, "y", "y")
    weights, sizes = release["values"].get("sizes"), []
    points = [[center[j] for j in columns] for center in release["values"]["centers"]]
    for c, (x, y) in enumerate(points):
        mark = the_mark(chart.one("g", data_center=str(c)))
        at_x, at_y, half = middle(mark)
        near(across(at_x), x, span([p[0] for p in points]), f"x of {c}")
        if at_y is not None:
            near(up(at_y), y, span([p[1] for p in points]), f"y of {c}")
        if mark.tag == "circle":
            sizes.append((weights[c], half))
    return sizes


def scaled(release):
    """The centres on the scale of the run: in units of half the bounds of each column."""
    centers = release["values"]["centers"]
    lower, upper = release["domain"].get("lower"), release["domain"].get("upper")
    unit = [(u - l) / 2 for l, u in zip(lower, upper)] if lower else [1] * len(centers[0])
    return [[value / u for value, u in zip(center, unit)] for center in centers]


def check_directions(text, release):
    """The two directions hold the share of the squares that the names of the axes say, and the
    marks lie where the table says."""
    chart = svg(Page(text).root, "map")
    across, up = scale(chart, "x"), scale(chart, "y", "y")
    points = scaled(release)
    k, d = len(points), len(points[0])
    mean = [sum(p[j] for p in points) / k for j in range(d)]
    total = sum((p[j] - mean[j]) ** 2 for p in points for j in range(d))
    rows = {row[0]: row[1:] for row in table_rows(Page(text).root, "The same as numbers")}
    shares = [int(s) for s in re.findall(r"direction [12] \((\d+) % of spread\)", text)[:2]]
    for axis in (0, 1):
        told = sum(number(rows[str(c)][axis].split(" ± ")[0]) ** 2 for c in range(k))
        assert abs(100 * told / total - shares[axis]) < 1.5, (axis, told / total, shares)
    for c in range(k):
        at_x, at_y, _ = middle(the_mark(chart.one("g", data_center=str(c))))
        near(across(at_x), number(rows[str(c)][0].split(" ± ")[0]), 2, f"direction 1 of {c}")
        if at_y is not None:
            near(up(at_y), number(rows[str(c)][1].split(" ± ")[0]), 2, f"direction 2 of {c}")


def check_curve(root, release):
    chart, curve = svg(root, "curve"), release["values"]["curve"]
    across, up = scale(chart, "x"), scale(chart, "y", "y")
    for i, value in enumerate(curve):
        at_x, at_y, _ = middle(the_mark(chart.one("g", data_line="0", data_point=str(i))))
        near(across(at_x), i + 1, len(curve), f"x of point {i}")
        near(up(at_y), value, 1, f"loss of {i + 1}")
    assert [float(row[1]) for row in table_rows(root, "Loss for each number of clusters")] == \
        [rounded(value, 4) for value in curve]


def check_loadings(root, release):
    chart = svg(root, "loadings")
    bases = release["values"].get("bases") or [release["values"]["basis"]]
    dim = len(bases[0][0])
    unit = None
    for group in chart.all("g"):
        if "data-at" not in group.attributes:
            continue
        j, panel = map(int, group["data-at"].split())
        value = bases[panel // dim][j][panel % dim]
        bar = next(group.all("rect"))
        length = float(bar["width"])
        assert number(next(group.all("title")).text()) == rounded(value, 4)
        if abs(value) > 0.1:
            unit = unit or length / abs(value)
            assert abs(length / abs(value) - unit) < 0.02 * unit, (j, panel)


def check_angles(root, release):
    bases = release["values"]["bases"]
    for i, row in enumerate(table_rows(root, "Angles between subspaces, in degrees"), 1):
        for j in range(i):
            cosine = abs(sum(a[0] * b[0] for a, b in zip(bases[i], bases[j])))
            angle = math.degrees(math.acos(min(cosine, 1)))
            assert abs(float(row[1 + j]) - angle) < 0.06, (i, j, row, angle)


def check_ranges(root, release):
    chart = svg(root, "ranges")
    at = scale(chart, "x")
    lower, upper = release["values"]["lower"], release["values"]["upper"]
    wide = max(upper) - min(lower)
    for j, (low, high) in enumerate(zip(lower, upper)):
        bar = next(chart.one("g", data_at=str(j)).all("rect"))
        near(at(float(bar["x"])), low, wide, f"lower {j}")
        near(at(float(bar["x"]) + float(bar["width"])), high, wide, f"upper {j}")


def check_error_curve(root, name, rows):
    """Marks of a plan's chart lie where the numbers beside it say: those that noise hides on a line
    of their own, and the line goes through its marks."""
    chart = svg(root, name)
    across, up = log_scale(chart, "x"), log_scale(chart, "y", "y")
    paths = {word: [] for word in ("no", "yes")}
    for i, (x, y, hidden) in enumerate(rows):
        line = {"no": "0", "yes": "1"}[hidden]
        at_x, at_y, _ = middle(the_mark(chart.one("g", data_line=line, data_point=str(i))))
        near(across(at_x), math.log(x), math.log(rows[-1][0] / rows[0][0]), f"{name} {x}")
        near(up(at_y), math.log(y), math.log(rows[0][1] / rows[-1][1]), f"error at {name} {x}")
        paths[hidden] += [at_x, at_y]
    drawn = [path for path in chart.all("path") if path["class"].startswith("path c")]
    for path, wanted in zip(drawn[-2:], (paths["no"], paths["yes"])):  # before them: the legend's
        at = [float(n) for n in re.findall(r"-?[0-9.]+", path["d"])]
        assert len(at) == len(wanted), (name, at, wanted)
        assert all(abs(a - w) < 0.02 for a, w in zip(at, wanted)), (name, at, wanted)


def check_budget(root, charges):
    """A step of the budget over time for each charge: time, and share of the cap in percent."""
    chart = svg(root, "budget0")
    up = scale(chart, "y", "y")
    places = []
    for i, (seconds, used) in enumerate([(charges[0][0], 0), *charges]):
        at_x, at_y, _ = middle(the_mark(chart.one("g", data_line="0", data_point=str(i))))
        near(up(at_y), used, 100, f"charge {i}")
        places.append((seconds, at_x))
    assert len(list(chart.all("circle"))) == len(places)
    (first, left), (last, right) = places[0], places[-1]
    for seconds, at_x in places:
        share = (seconds - first) / (last - first)
        assert abs(left + share * (right - left) - at_x) < 0.05, (seconds, at_x)
    cap = next(g for g in chart.all("g") if g.attributes.get("data-limit") == "y")
    near(up(float(next(cap.all("line"))["y1"])), 100, 100, "cap")


# ---- releases ------------------------------------------------------------------------------------

def made(folder, family, *options, cols=4, clusters=3, kind="mixture", rows=3000):
    data = Path(folder) / "d.csv"
    more = ["--dim", "1"] if kind == "subspaces" else []
    cloister("generate", kind, "--rows", rows, "--cols", cols, "--clusters", clusters, *more,
             "--seed", 1, "-o", data)
    out = cloister("run", family, data, "--no-ledger", "--seed", 1, "-q", "--json", *options)
    return json.loads(out)


def spread(release, k, cols, names=None):
    """The same release with k centres of so many columns."""
    draw = random.Random(7)
    other = json.loads(json.dumps(release))
    other["domain"]["cols"] = cols
    other["domain"].pop("columns", None)
    if names:
        other["domain"]["columns"] = names
    other["values"] = {"centers": [[draw.gauss(0, 1) for _ in range(cols)] for _ in range(k)],
                       "sizes": [draw.uniform(1, 900) for _ in range(k)]}
    return other


def noise_of(release):
    """The noise of the last round, as the header of the release says how it follows."""
    sigma = release["queries"][-1]["noise"]
    return [[sigma / w if w > 0 else math.inf] * release["domain"]["cols"]
            for w in release["values"]["sizes"]]


LLOYD = ("--clusters", "3", "--epsilon", "8", "--norm", "2")


def test_few_columns(folder):
    release = made(folder, "kmeans/lloyd", *LLOYD)
    text = page_of(release, folder)
    root = Page(text).root
    assert check_center_table(root, release, noise_of(release)) == 4
    check_lanes(root, release)
    check_directions(text, release)
    check_map(page_of(release, folder, "--axes", "x2,4"), release, (1, 3))
    assert "Not private." in text and "release that is not private" in text.lower()


def test_areas_are_weights(folder):
    release = spread(made(folder, "kmeans/lloyd", *LLOYD), 9, 2)
    release["values"]["sizes"] = [100, 1, 1, 1, 1, 1, 1, 1, 400]  # 0 and 8 are circles
    sizes = check_map(page_of(release, folder), release, (0, 1))
    (light, small), (heavy, large) = sizes
    assert abs(large ** 2 / small ** 2 - heavy / light) < 0.02 * heavy / light


def test_one_centre_one_column(folder):
    for k, cols in ((1, 1), (1, 3), (2, 2), (2, 5), (5, 1)):
        release = spread(made(folder, "kmeans/lloyd", *LLOYD), k, cols)
        root = Page(page_of(release, folder)).root
        assert check_center_table(root, release, noise_of(release)) == cols
        check_lanes(root, release)


def test_many_columns(folder):
    release = made(folder, "kmeans/lloyd", *LLOYD)
    fifty = spread(release, 10, 50, [f"Größe {j}" for j in range(50)])
    text = page_of(fifty, folder)
    assert len(text.encode()) <= 150_000, len(text.encode())
    root = Page(text).root
    assert check_center_table(root, fifty, noise_of(fifty)) == 50
    check_heat(root, fifty, 50)
    wide = spread(release, 10, 10_000)
    text = page_of(wide, folder)
    assert len(text.encode()) <= 300_000, len(text.encode())
    assert "60 of 10000 columns in which the centers" in text
    root = Page(text).root
    assert check_center_table(root, wide, noise_of(wide)) == 60
    check_heat(root, wide, 60)
    many = spread(release, 64, 6)
    root = Page(page_of(many, folder)).root
    assert check_center_table(root, many, noise_of(many)) == 6
    check_heat(root, many, 6)


def test_hostile_names(folder):
    names = ["</svg><script>alert(1)</script>", "\" onload=\"x' & <b>",
             "\u202eevil\u200f \u0001\u0085", "N" * 10_000, "größe", "</title></text><!--",
             "]]>&#60;script&#62;", " "]
    for cols in (8, 64):
        release = spread(made(folder, "kmeans/lloyd", *LLOYD), 4, cols,
                         names * (cols // len(names)))
        text = page_of(release, folder)
        shown = Page(text).root.text(but=("style",))
        for said in (*names[:2], "\ufffdevil\ufffd \ufffd\ufffd", *names[4:7]):
            assert said in shown, said
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f]", text)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
        assert len(text.encode()) < 150_000
        for chart in ("map", "centers"):
            path = Path(folder) / "r.json"
            Page(cloister("report", path, "--format", "svg", "--chart", chart))
            json.loads(cloister("report", path, "--format", "vega-lite", "--chart", chart))


def test_curve(folder):
    release = made(folder, "kmeans", "--clusters", "auto", "--epsilon", "8", "--norm", "2")
    check_curve(Page(page_of(release, folder)).root, release)


def test_directions(folder):
    release = made(folder, "subspace/gaussian", "--dim", "2", "--epsilon", "8", "--norm", "2")
    root = Page(page_of(release, folder)).root
    check_loadings(root, release)
    rows = table_rows(root, "Energy along each direction")
    assert [float(row[1]) for row in rows] == [rounded(e, 4) for e in release["values"]["energy"]]
    assert [row[2] == "yes" for row in rows] == [s > 0 for s in release["values"]["stands_out"]]
    release = made(folder, "subspaces", "--clusters", "3", "--dim", "1", "--epsilon", "20",
                   "--norm", "2", kind="subspaces")
    root = Page(page_of(release, folder)).root
    check_loadings(root, release)
    check_angles(root, release)


def test_bounds(folder):
    made(folder, "kmeans/lloyd", *LLOYD)
    for of in ("columns", "norm"):
        release = json.loads(cloister("bounds", Path(folder) / "d.csv", "--epsilon", "4", "--norm",
                                      "9", "--of", of, "--no-ledger", "--seed", "3", "-q",
                                      "--json"))
        root = Page(page_of(release, folder)).root
        if of == "columns":
            check_ranges(root, release)
        else:
            found = root.text().split("What was found")[1].split("How sure")[0]
            assert f"{release['values']['radius'][0]:.6g}" in found, found


def test_other_families(folder):
    release = made(folder, "kmedian", "--clusters", "3", "--epsilon", "8", "--norm", "2")
    root = Page(page_of(release, folder)).root
    check_center_table(root, release, None)
    check_lanes(root, release)


PLAN = ("plan", "kmeans/lloyd", "--cols", "10", "--norm", "1", "--clusters", "4", "--delta",
        "1e-6")


def test_plans(folder):
    page = Path(folder) / "plan.html"
    cloister(*PLAN, "--rows", 5000, "--epsilon", 1, "-o", page)
    root = Page(page.read_text(encoding="utf-8")).root
    for name, caption in (("epsilon", "Error over epsilon"), ("rows", "Error over rows")):
        rows = [(float(row[0]), float(row[1]), row[2]) for row in table_rows(root, caption)]
        assert len(rows) > 5
        check_error_curve(root, name, rows)
        for at in (0, 3, -1):  # as a plan of its own says
            asked = {"rows": 5000, "epsilon": 1, name: f"{rows[at][0]:g}"}
            words = [word for key, value in asked.items() for word in (f"--{key}", value)]
            said = json.loads(cloister(*PLAN, *words, "--json"))["prediction"]
            assert rows[at][1] == rounded(said["error"], 3), (name, rows[at], said)
            assert (rows[at][2] == "yes") == said["hidden"], (name, rows[at])


def test_budgets(folder):
    """Pure epsilons only add up, so that the shares of the cap are known."""
    made(folder, "kmeans/lloyd", *LLOYD)
    ledger, page = Path(folder) / "books.db", Path(folder) / "books.html"
    cloister("ledger", "init", ledger, "--dataset", "people", "--epsilon", 8, "--delta", 0)
    spent, wanted = 0, []
    for epsilon in (1, 0.5, 3):
        cloister("run", "kmeans/lloyd", Path(folder) / "d.csv", "--ledger", ledger, "--dataset",
                 "people", "--noise", "laplace", "--clusters", 3, "--epsilon", epsilon, "--delta",
                 0, "--norm", 2, "-q", "-o", Path(folder) / "x.json", "--overwrite",
                 "--purpose", f"<b>{epsilon}")
        spent += epsilon
        wanted.append(100 * spent / 8)
        time.sleep(1)
    cloister("ledger", "lower", ledger, "--dataset", "people", "--epsilon", 6, "--delta", 0,
             "--note", "<i>minutes of May")
    cloister("ledger", "expire", ledger, "--dataset", "people", "--on", "2099-12-31", "--note",
             "end")
    cloister("ledger", "report", ledger, "-o", page)
    root = Page(page.read_text(encoding="utf-8")).root
    rows = table_rows(root, "Charges to people")
    assert [row[7] for row in rows] == ["<b>1", "<b>0.5", "<b>3"], rows
    acts = {row[2]: row[3:] for row in table_rows(root, "What the steward did")}
    assert acts["cap lowered"] == ["people", "6 0", "<i>minutes of May"], acts
    assert acts["end set"] == ["people", "2099-12-31 00:00:00", "end"], acts
    times = [datetime.fromisoformat(row[1] + "+00:00").timestamp() for row in rows]
    assert [number(row[5].split()[0]) for row in rows] == [rounded(w, 3) for w in wanted], rows
    check_budget(root, list(zip(times, wanted)))


def test_same_bytes(folder):
    release = made(folder, "kmeans/lloyd", *LLOYD)
    assert page_of(release, folder) == page_of(release, folder)


def test_faults_are_caught(folder):
    """A mark moved, a number changed, a tag let in: each check must say no."""
    release = made(folder, "kmeans/lloyd", *LLOYD)
    text = page_of(release, folder)
    moved = json.loads(json.dumps(release))
    moved["values"]["centers"][1][2] += 0.1
    for check in (lambda: check_lanes(Page(text).root, moved),
                  lambda: check_center_table(Page(text).root, moved, None),
                  lambda: check_map(page_of(release, folder, "--axes", "1,3"), moved, (0, 2)),
                  lambda: Page(text.replace("</h1>", "<script></script></h1>")),
                  lambda: Page(text.replace("</h1>", "")),
                  lambda: Page(text.replace("<h1>", "<h1 onclick='x'>"))):
        try:
            check()
        except AssertionError:
            continue
        raise AssertionError("a planted fault was not caught")


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    print(f"1..{len(tests)}")
    failed = 0
    for i, (name, test) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print(f"ok {i} - {name[5:].replace('_', ' ')}", flush=True)
            except AssertionError as fault:
                failed = 1
                print(f"not ok {i} - {name[5:].replace('_', ' ')}\n# {fault}", flush=True)
                line = fault.__traceback__
                while line.tb_next:
                    line = line.tb_next
                print(f"# line {line.tb_lineno}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
