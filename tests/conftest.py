"""One profile for all property tests: the machine may be busy, so no example has a deadline."""

from hypothesis import settings

settings.register_profile("gracezo", deadline=None, derandomize=True)
settings.load_profile("gracezo")
