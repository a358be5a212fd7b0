"""Pages, pictures and words for people: how results and journals are shown.

Imported by `api` and `commands`, and by the methods of results that show something, when they are called.
"""
