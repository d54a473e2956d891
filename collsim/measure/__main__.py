"""``python -m collsim.measure``: one rank, started by collsim itself."""

import os
import sys

from collsim.measure.worker import child

if __name__ == "__main__":
    folder, *numbers = sys.argv[1:]
    code = child(folder, *map(int, numbers))
    # Libraries' threads and their tidying up may hang, or abort, when a peer is gone.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
