#!/usr/bin/env python3
"""Workflows of GitHub are what their schema allows: they cannot be run here.

The checker and the schema are those of check-jsonschema, in build/python/lint.

usage: workflows.py [SOURCE_ROOT]
"""
import subprocess
import sys
from pathlib import Path

import common

sys.path.append(str(Path(__file__).resolve().parent.parent))
import wheel  # noqa: E402


def check(root):
    pages = common.files(root, [".github/workflows"], "*.yml", "*.yaml")
    if not pages:
        return []
    tool = wheel.environment("lint", "lint") / "bin" / "check-jsonschema"
    result = subprocess.run([tool, "--builtin-schema", "vendor.github-workflows", *pages],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    return [(".github/workflows", result.stdout.strip())] if result.returncode else []


if __name__ == "__main__":
    common.main(check)
