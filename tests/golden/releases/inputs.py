"""Small input files of the golden releases, the same on every machine and in every Python.

The numbers come from a generator that is written out here, and from sums, products and square roots
alone, which are rounded alike everywhere; what is written has six digits behind the point.
"""
import math
import struct

WORD = 1 << 64


class Draws:
    """Knuth's linear congruential generator; its upper 32 bits are used."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 % WORD
        for _ in range(4):
            self.uniform()

    def uniform(self):
        """In [0, 1)."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % WORD
        return (self.state >> 32) / 4294967296.0

    def below(self, count):
        return int(self.uniform() * count)

    def bell(self):
        """Mean 0, variance 1, between -3.5 and 3.5: four uniform numbers."""
        total = self.uniform() + self.uniform() + self.uniform() + self.uniform()
        return (total - 2.0) * math.sqrt(3.0)


def dot(one, other):
    total = 0.0
    for a, b in zip(one, other):
        total += a * b
    return total


def frame(draws, dim, cols):
    """Orthonormal vectors, by Gram and Schmidt."""
    found = []
    while len(found) < dim:
        vector = [draws.bell() for _ in range(cols)]
        for other in found:
            part = dot(vector, other)
            vector = [v - part * o for v, o in zip(vector, other)]
        length = math.sqrt(dot(vector, vector))
        if length > 0.1:
            found.append([v / length for v in vector])
    return found


def mixture(seed, rows, cols, clusters, noise, spread=1.0):
    """Rows about centres that lie in a cube; the first cluster is the largest."""
    draws = Draws(seed)
    side = spread / math.sqrt(cols)
    centers = [[(2.0 * draws.uniform() - 1.0) * side * 1.4 for _ in range(cols)]
               for _ in range(clusters)]
    table = []
    for _ in range(rows):
        center = centers[min(draws.below(clusters), draws.below(clusters + 1))]
        table.append([c + noise * draws.bell() for c in center])
    return table


def flats(seed, rows, cols, clusters, dim, noise, offset=0.0):
    """Rows near flats of one dimension; offset 0: through the origin."""
    draws = Draws(seed)
    bases = [frame(draws, dim, cols) for _ in range(clusters)]
    points = [[offset * x for x in frame(draws, 1, cols)[0]] for _ in range(clusters)]
    table = []
    for row in range(rows):
        basis, values = bases[row % clusters], list(points[row % clusters])
        for vector in basis:
            weight = 0.4 * draws.bell()
            values = [x + weight * v for x, v in zip(values, vector)]
        table.append([x + noise * draws.bell() for x in values])
    return table


def whole_numbers(seed, rows, cols, offset):
    """Integers; seven rows of eight lie in one plane, through `offset` (1, 1, ...)."""
    draws = Draws(seed)
    basis = [[draws.below(3) - 1 for _ in range(cols)] for _ in range(2)]
    basis[0][0], basis[1][0], basis[0][1], basis[1][1] = 1, 0, 0, 1
    table = []
    for row in range(rows):
        if row % 8 == 7:
            table.append([draws.below(9) - 4 for _ in range(cols)])
            continue
        a, b = draws.below(7) - 3, draws.below(7) - 3
        table.append([offset + a * x + b * y for x, y in zip(*basis)])
    return table


def csv(table, names=None, digits=6):
    lines = [",".join(names)] if names else []
    for row in table:
        lines.append(",".join(x if isinstance(x, str) else f"{x:.{digits}f}" for x in row))
    return ("\n".join(lines) + "\n").encode()


def npy(table):
    """NumPy's form, version 1: doubles, row after row."""
    shape = f"({len(table)}, {len(table[0])})"
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    cells = [float(f"{x:.6f}") for row in table for x in row]
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
            + struct.pack(f"<{len(cells)}d", *cells))


def libsvm(seed, rows, cols, clusters, entries):
    """Sparse rows: a label, then column:value for the entries of a centre and one stray."""
    draws = Draws(seed)
    centers = []
    for _ in range(clusters):
        where = set()
        while len(where) < entries:
            where.add(draws.below(cols) + 1)
        centers.append({j: 0.2 + 0.4 * draws.uniform() for j in sorted(where)})
    lines = []
    for row in range(rows):
        record = {j: x + 0.05 * draws.bell() for j, x in centers[row % clusters].items()}
        record[draws.below(cols) + 1] = 0.1
        cells = " ".join(f"{j}:{record[j]:.6f}" for j in sorted(record))
        lines.append(f"{row % clusters} {cells}")
    return ("\n".join(lines) + "\n").encode()


def visits():
    """Rows of persons, one to seven each, in no order; two columns."""
    draws = Draws(11)
    table = []
    for person, place in enumerate(mixture(12, 250, 2, 3, 0.05)):
        for _ in range(1 + draws.below(7)):
            table.append([f"p{person}"] + [x + 0.02 * draws.bell() for x in place])
    for i in range(len(table) - 1, 0, -1):
        j = draws.below(i + 1)
        table[i], table[j] = table[j], table[i]
    return csv(table, ["person", "x", "y"])


def people():
    """Columns of unlike units, and cells that are no numbers."""
    draws, table = Draws(13), []
    for x, y, z in mixture(14, 500, 3, 3, 0.1):
        table.append([50.0 + 40.0 * x, 4e4 + 3e4 * y, 170.0 + 20.0 * z])
        if draws.below(40) == 0:
            table[-1][draws.below(3)] = "?"
    return csv(table, ["age", "income", "height"], 3)


def away():
    """Far from the origin: a run that knows neither centre nor radius has to learn them."""
    return csv([[700.0 + x, y - 300.0] for x, y in mixture(15, 1500, 2, 3, 0.05)], ["x", "y"])


BOUNDS = b"name,lower,upper\nincome,0,100000\nage,0,120\nheight,100,220\n"

# Made when a case names it.
FILES = {
    "mix.csv": lambda: csv(mixture(1, 600, 3, 3, 0.05), ["a", "b", "c"]),
    "plane.csv": lambda: csv(mixture(2, 800, 2, 4, 0.04)),
    "blocks.npy": lambda: npy(mixture(3, 20000, 5, 4, 0.05)),
    "wide.csv": lambda: csv(mixture(4, 300, 40, 3, 0.02)),
    "wider.npy": lambda: npy(mixture(5, 450, 620, 4, 0.005)),
    "spectrum.npy": lambda: npy(flats(6, 1500, 95, 1, 4, 0.01)),
    "one.csv": lambda: b"x,y\n0.25,-0.5\n",
    "visits.csv": visits,
    "people.csv": people,
    "bounds.csv": lambda: BOUNDS,
    "away.csv": away,
    "lines.csv": lambda: csv(flats(7, 1200, 4, 2, 1, 0.02)),
    "planes.csv": lambda: csv(flats(8, 1500, 6, 3, 2, 0.02)),
    "apart.csv": lambda: csv(flats(9, 1500, 5, 3, 1, 0.02, 0.5)),
    "twenty.npy": lambda: npy(flats(10, 9000, 20, 3, 2, 0.02)),
    "thirty.npy": lambda: npy(mixture(25, 4000, 30, 5, 0.03)),
    "hundred.npy": lambda: npy(mixture(26, 6000, 100, 24, 0.02)),
    "near.csv": lambda: csv(flats(16, 8000, 5, 1, 2, 0.0001)),
    "whole.csv": lambda: csv(whole_numbers(17, 900, 4, 0), digits=0),
    "whole_apart.csv": lambda: csv(whole_numbers(18, 900, 4, 2), digits=0),
    "words.svm": lambda: libsvm(19, 1200, 3000, 3, 6),
    "persons.csv": lambda: csv([[f"u{i // 2}"] + row for i, row in
                                enumerate(flats(20, 1000, 4, 2, 1, 0.02))],
                               ["unit", "a", "b", "c", "d"]),
    "near_persons.csv": lambda: csv([[f"u{i // 2}"] + row for i, row in
                                     enumerate(flats(21, 6000, 4, 1, 1, 0.0001))],
                                    ["unit", "a", "b", "c", "d"]),
}
