"""What this processor can do."""
import re
from pathlib import Path


def has_avx2():
    """Whether OpenBLAS can take the kernels that transcripts and golden releases are made with."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        return False
    return bool(flags) and {"avx2", "fma"} <= set(flags.group(1).split())
