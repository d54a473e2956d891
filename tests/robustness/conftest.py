"""Let the modules of this folder find each other; `benchmarks/fuzz.py` uses them, too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
