"""The instruments: looks at f to one side (forward differences) and to both (central), and along a line."""
