"""What holds for all tests."""

import os
import signal

from hypothesis import settings

# On Linux Ray replaces 127.0.0.1 by an address that others can reach, unless it is told to be for this
# machine only, by the switch that does so where clusters are not supported. It is read at Ray's import.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

# The machine may be busy, so no example of a property test has a deadline.
settings.register_profile("gracezo", deadline=None, derandomize=True)
settings.load_profile("gracezo")

# A job that was started in the background has SIGINT ignored, and so have its children. The tests of
# interrupts need it as a person at a terminal has it.
signal.signal(signal.SIGINT, signal.default_int_handler)
