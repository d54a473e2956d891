"""``python -m collsim.measure``: one rank, started by collsim itself."""

import os
import sys

from collsim.measure.worker import child

if __name__ == "__main__":
    folder, *numbers = sys.argv[1:]
    code = child(folder, *map(int, numbers))
    # Libraries' threads and their tidying up may hang, or abort, when a peer is gone.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)
