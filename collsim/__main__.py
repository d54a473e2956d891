"""``python -m collsim`` is the same as the ``collsim`` program."""

from collsim.cli.main import main

main()
