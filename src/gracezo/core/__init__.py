"""The query engine: algorithms ask, drivers answer, one ledger counts.

Imports nothing of the package outside this folder.
"""
