"""Every mechanism with options that make a short run of it: the rows of src/mechanism/table.def."""
import re
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "src" / "mechanism" / "table.def"
ROW = re.compile(r'^MECHANISM\((\w+), (\w+), "([^"]*)"\)', re.M)


def small_runs():
    """{"kmeans/lloyd": ["--clusters", "2", ...]}, whatever guarantee it gives."""
    runs = {}
    for family, method, settings in ROW.findall(TABLE.read_text(encoding="utf-8")):
        words = [word for pair in settings.split()
                 for word in ("--" + pair.split("=")[0], pair.split("=")[1])]
        runs[f"{family}/{method}"] = [*words, "--accept", "asymptotic"]
    return runs
