#!/usr/bin/env python3
"""What is held where digits may differ: last digits of computed numbers pass, and nothing else.

A release as a golden case keeps it is changed in one place; elsewhere than on a machine of
reference.txt the change must be noticed, or not, as said beside it.
"""
import sys

sys.dont_write_bytecode = True
import releases  # noqa: E402  (it lies beside)

LONG = [0.25 + place / 7 for place in range(60)]
LABELS = [place % 3 for place in range(400)]


def release(epsilon=2, noise=1.4142135623730951, centre=0.1234567890123456, size=99.5, rounds=5,
            long=tuple(LONG), labels=tuple(LABELS), name="centers", digest="a", tail=0, extra=()):
    """The text of a release, cut as one is where it is long."""
    listed = "\n".join(f'    "q{place}": {place},' for place in range(400 if tail else 0))
    text = f'''{{
  "projection": {{
      "release": "{64 * digest}",
  }},
  "privacy": {{
    "epsilon": {epsilon},
{listed}
    "late": {tail}
  }},
  "noise": {noise},
  "values": {{
    "{name}": [
      [{centre}, -0.5],
      [{", ".join(map(repr, [*long, *extra]))}]
    ],
    "labels": [{", ".join(map(str, labels))}],
    "sizes": [{size}, 3],
    "rounds": {rounds}
  }}
}}'''
    return releases.shown(text)


def changed(numbers, place, by):
    return tuple(number + by * (spot == place) for spot, number in enumerate(numbers))


SWAPPED = tuple(LONG[:40] + [LONG[41], LONG[40]] + LONG[42:])
# What is changed; whether it is noticed; and in a case whose values hang on last digits.
CHANGES = [
    ("nothing", {}, False, False),
    ("a last digit", {"centre": 0.12345678901234563}, False, False),
    ("a last digit far along a line", {"long": changed(LONG, 55, 1e-14)}, False, False),
    ("a fraction that becomes whole", {"size": 99.50000001}, False, False),
    ("a digit that is not the last", {"centre": 0.1234569}, True, False),
    ("a digit far along a line", {"long": changed(LONG, 55, 1e-3)}, True, False),
    ("two numbers that change places", {"long": SWAPPED}, True, False),
    ("a whole number", {"rounds": 6}, True, False),
    ("a label far along a line", {"labels": changed(LABELS, 300, 1)}, True, False),
    ("a number more", {"extra": (0.5,)}, True, True),
    ("the name of an array", {"name": "centres"}, True, True),
    ("a price", {"epsilon": 2.0000000000000004}, True, True),
    ("the scale of a noise", {"noise": 1.4142135623730954}, True, True),
    ("the digest of a release that no case saved", {"digest": "b"}, True, True),
    ("a price below many lines", {"tail": 2}, True, True),
]


def noticed(change, comment, saved=()):
    base = {"tail": 1} if "tail" in change else {}
    case = releases.Case("run kmeans x.csv --project three.json")
    case.comments, case.expected = [comment], release(**base)
    return releases.settled(case, release(**{**base, **change}), set(saved)) != case.expected


def main():
    results = [(name + way, noticed(change, comment) == expected)
               for name, change, *both in CHANGES
               for way, comment, expected in zip(("", ", where values hang on last digits"),
                                                 ("", releases.BY_LAST_DIGITS), both)]
    results.append(("the digest of a release that a case saved",
                    not noticed({"digest": "b"}, "", ["three.json"])))
    print(f"1..{len(results)}")
    for number, (name, right) in enumerate(results, 1):
        print("ok" if right else "not ok", number, "-", name)
    return 0 if all(right for _, right in results) else 1


if __name__ == "__main__":
    sys.exit(main())
