"""Which digits of a result are held here.

What is exact (plans, prices, integers, draws, the ledger) is the same on every machine, byte for
byte.  What is computed from noised answers is ordinary floating point, whose last digits are those
of one compiler, C library and BLAS: they are held on the machines of golden/reference.txt, and
elsewhere to within TOLERANCE of the largest number of their line.
"""
import re
import subprocess
from pathlib import Path

REFERENCE = Path(__file__).resolve().parents[1] / "golden" / "reference.txt"
TOLERANCE = 1e-7
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def machine(build, environment):
    """What the digits of this build come from; made_with.c says it of itself."""
    return subprocess.run([build / "tests" / "made_with"], env=environment, check=True,
                          capture_output=True, text=True).stdout.strip()


def references():
    lines = REFERENCE.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def is_whole(text):
    return "." not in text and "e" not in text


def near(expected, actual, tolerance=TOLERANCE):
    """Whether a line differs from another in last digits alone; whole numbers are exact."""
    if expected == actual:
        return True
    if NUMBER.sub("#", expected) != NUMBER.sub("#", actual):
        return False
    pairs = list(zip(NUMBER.findall(expected), NUMBER.findall(actual)))
    room = tolerance * max(1, *(abs(float(number)) for pair in pairs for number in pair))
    return all(float(one) == float(other) if is_whole(one) and is_whole(other)
               else abs(float(one) - float(other)) <= room for one, other in pairs)
