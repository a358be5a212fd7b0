"""Fault injection: what must hold when things break, tried at random. Run: make faults.

Each kind of fault is a function of a seed and a folder that does something cruel and then asserts what is
promised on docs/how-it-works/trust.md. One attempt depends on nothing but its seed, so a failure is repeated
by it: python -m faults KIND --seed N; and with --at-most, as small as it was found to fail.
"""
