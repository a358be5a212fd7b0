"""``python -m gracezo``: the command line."""

import sys

from gracezo.cli import main

if __name__ == "__main__":
    sys.exit(main())
