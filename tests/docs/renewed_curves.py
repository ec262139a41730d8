"""A curve that was run again comes in place of the old one, and one that does not belong to a
figure's file of results is refused (reproduce/run.py --curve).
"""
import copy
import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "reproduce"))

import kept  # noqa: E402


def curve(name, y):
    return {"name": name, "x": [1.0, 2.0], "y": y, "error": [0.1, 0.1], "runs": [3, 3]}


BEFORE = {"size": "normal", "data": {"mnist": "MNIST"}, "panels": [
    {"name": "a", "rhat": 1.5, "curves": [curve("ours", [5.0, 4.0]), curve("theirs", [9.0, 8.0])]},
    {"name": "b", "curves": [curve("ours", [50.0, 40.0])]}]}


def renewed(panels, size="normal", files=None):
    """The file after it, or what was said where it was refused."""
    run = SimpleNamespace(size=size, files=files or {"mnist": "MNIST"}, only=["a", "ours"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.json"
        path.write_text(json.dumps(BEFORE), encoding="utf-8")
        try:
            kept.renew(path, run, panels)
        except SystemExit as refused:
            assert json.loads(path.read_text(encoding="utf-8")) == BEFORE
            return str(refused)
        return json.loads(path.read_text(encoding="utf-8"))


def comes_in_place_of_the_old_one():
    found = renewed([{"name": "a", "rhat": 1.1, "curves": [curve("ours", [3.0, 2.0])]}])
    expected = copy.deepcopy(BEFORE["panels"])
    expected[0]["curves"][0]["y"], expected[0]["rhat"] = [3.0, 2.0], 1.1
    return found["panels"] == expected and list(found["again"]) == ["a; ours"]


def refuses_a_curve_that_is_not_there():
    return "has no curve" in renewed([{"name": "a", "curves": [curve("other", [1.0, 1.0])]}])


def refuses_nothing():
    return "has no curve" in renewed([{"name": "a", "curves": []}])


def refuses_another_size():
    panels = [{"name": "a", "curves": [curve("ours", [3.0, 2.0])]}]
    return "does not belong there" in renewed(panels, size="quick")


def refuses_other_data():
    panels = [{"name": "a", "curves": [curve("ours", [3.0, 2.0])]}]
    return "does not belong there" in renewed(panels, files={"mnist": "generated"})


def main():
    tests = [comes_in_place_of_the_old_one, refuses_a_curve_that_is_not_there, refuses_nothing,
             refuses_another_size, refuses_other_data]
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        right = test()
        failed += not right
        print(f"{'' if right else 'not '}ok {number} - {test.__name__.replace('_', ' ')}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
