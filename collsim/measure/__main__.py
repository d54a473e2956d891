"""``python -m collsim.measure``: one rank, started by collsim itself."""

import sys

from collsim.measure.worker import child

if __name__ == "__main__":
    folder, *numbers = sys.argv[1:]
    sys.exit(child(folder, *map(int, numbers)))
