"""Lets `python -m benchmarks.others` run the tables."""

from benchmarks.others.run import main

if __name__ == "__main__":
    main()
