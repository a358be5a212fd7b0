"""Benchmark functions, one file each."""
