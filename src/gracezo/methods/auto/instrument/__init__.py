"""The instruments: looks at f to one side (forward differences) and to both (central differences)."""
