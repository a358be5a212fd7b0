"""Lets `python -m benchmarks.speed` run it."""

from benchmarks.speed.run import main

if __name__ == "__main__":
    main()
