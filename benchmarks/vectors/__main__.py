"""Run the tables of many outputs."""

from benchmarks.vectors.run import main

if __name__ == "__main__":
    main()
