"""The files of results: a whole figure, or some curves of it that were run again."""
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import record  # noqa: E402


def write(path, title, run, panels):
    version = subprocess.run([run.cloister, "version"], capture_output=True, text=True, check=True)
    found = {"schema": "cloister.curves/1", "private": False, "title": title, "size": run.size,
             "data": dict(sorted(run.files.items())), "version": version.stdout.split()[1],
             "machine": record.machine(), "panels": panels}
    if run.seconds:  # of all runs of cloister, also those of an earlier call
        found["cpu_seconds"] = round(sum(run.seconds.values()))
    path.write_text(record.text(found), encoding="utf-8")


def renew(path, run, panels):
    """Puts the curves that were run again into a file of results."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["size"] != run.size or any(found["data"].get(key, told) != told
                                        for key, told in run.files.items()):
        raise SystemExit(f"{path} is of size {found['size']} and of {found['data']}: a curve of "
                         f"size {run.size} and of {run.files} does not belong there")
    known = {(panel["name"], curve["name"]): (panel["curves"], place)
             for panel in found["panels"] for place, curve in enumerate(panel["curves"])}
    made = [(panel["name"], curve) for panel in panels for curve in panel["curves"]]
    if not made or any((panel, curve["name"]) not in known for panel, curve in made):
        raise SystemExit(f"{path} has no curve '{'; '.join(run.only)}'; it has "
                         + ", ".join(f"'{panel}; {name}'" for panel, name in known))
    for panel in panels:  # what a panel tells beside its curves
        old = next(one for one in found["panels"] if one["name"] == panel["name"])
        old |= {key: told for key, told in panel.items() if key != "curves"}
    for panel, curve in made:
        curves, place = known[panel, curve["name"]]
        curves[place] = curve
        found.setdefault("again", {})[f"{panel}; {curve['name']}"] = time.strftime("%Y-%m-%d")
    path.write_text(record.text(found), encoding="utf-8")
    return [f"{panel}; {curve['name']}" for panel, curve in made]
