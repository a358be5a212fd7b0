"""Lets `python -m benchmarks.queries` run the profile."""

from benchmarks.queries.run import main

if __name__ == "__main__":
    main()
