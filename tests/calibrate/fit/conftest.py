"""Let the tests of this folder find `ring_rows`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))
