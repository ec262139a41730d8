"""tools/measured.py on a small tree: it fills what files say, and --check notices what is another.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURED = Path(__file__).resolve().parents[2] / "tools" / "measured.py"
RESULTS = {"loss": {"mean": 1.00234, "se": 0.0515, "runs": 3}, "time": 4.0, "rows": 20000,
           "machine": {"cpu": "Fast"}, "points": [{"at": 0.5, "y": 7.25}, {"at": 1.0, "y": 8.5}]}
FILLED = {"README.md": "On <!--measured: one; machine; cpu-->Fast<!--/measured-->,\n"
                       "of <!--measured: one; rows-->20,000<!--/measured--> rows,\n"
                       "and <!--measured: one; points; at=1.0; y as .1f-->8.5<!--/measured-->\n",
          "docs/page.md": "<!-- made by tools/measured.py of bench/pages/page.md -->\n\n# Page\n\n"
                          "| a | 1.00\u00a0±\u00a00.05 |\n|---|---|\n\n"
                          "It is 1.81 of it, from 4.0 to 8.5.\n"}
TEMPLATE = ("# Page\n\n| a | {{one; loss as ±}} |\n|---|---|\n\n{{holds one; loss < one; time}}\n\n"
            "It is {{one; points; 0; y over one; time as .2f}} of it, from\n"
            "{{least one; time and one; points; 1; y as .1f}} to\n"
            "{{most one; time and one; points; 1; y as .1f}}.\n")


def tree(folder, pages, results, template):
    root = Path(folder)
    for name, text in {**pages, "bench/pages/page.md": template,
                       "bench/results/one.json": json.dumps(results)}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def said(*words, pages=None, results=None, template=TEMPLATE):
    """Exit code, what was printed, and the pages afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder, pages or FILLED, results or RESULTS, template)
        done = subprocess.run([sys.executable, MEASURED, "--root", root, *words],
                              capture_output=True, text=True, check=False)
        return (done.returncode, done.stdout + done.stderr,
                {name: (root / name).read_text(encoding="utf-8") for name in FILLED})


def accepts_what_is_so():
    return said("--check")[0] == 0


def fills_what_is_another():
    typed = {name: text.replace("8.5", "9.9") for name, text in FILLED.items()}
    code, _, after = said(pages=typed)
    return code == 0 and after == FILLED


def notices_a_number_typed_between_marks():
    code, out, after = said("--check", pages={**FILLED, "README.md":
                                              FILLED["README.md"].replace(">8.5<", ">8.6<")})
    return code == 1 and "README.md is not what" in out and ">8.6<" in after["README.md"]


def notices_a_number_typed_into_a_made_page():
    code, out, _ = said("--check", pages={**FILLED, "docs/page.md":
                                          FILLED["docs/page.md"].replace("1.81", "1.82")})
    return code == 1 and "docs/page.md is not what" in out


def refuses_a_paragraph_that_begins_with_a_mark():
    code, out, _ = said("--check", pages={**FILLED, "README.md": "# A\n\n" +
                                          FILLED["README.md"].removeprefix("On ")})
    return code == 1 and "a paragraph begins with a mark" in out


def notices_that_a_file_changed():
    code, out, _ = said("--check", results={**RESULTS, "time": 5.0})
    return code == 1 and "docs/page.md is not what" in out


def notices_a_statement_that_is_not_so():
    code, out, _ = said("--check", results={**RESULTS, "time": 0.5})
    return code == 1 and "it is not so" in out


def notices_a_key_that_is_gone():
    code, out, _ = said("--check", template="{{one; gone}}\n")
    return code == 1 and "one.json has no 'gone'" in out


def notices_a_file_that_is_gone():
    code, out, _ = said("--check", template="{{other; loss}}\n")
    return code == 1 and "there is no other.json" in out


def main():
    tests = [accepts_what_is_so, fills_what_is_another, notices_a_number_typed_between_marks,
             notices_a_number_typed_into_a_made_page,
             refuses_a_paragraph_that_begins_with_a_mark, notices_that_a_file_changed,
             notices_a_statement_that_is_not_so, notices_a_key_that_is_gone,
             notices_a_file_that_is_gone]
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        right = test()
        failed += not right
        print(f"{'' if right else 'not '}ok {number} - {test.__name__.replace('_', ' ')}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
