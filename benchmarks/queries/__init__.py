"""A profile of the field: how many queries each method needs, over functions of many kinds.

Run: python -m benchmarks.queries --help
"""
