"""The paper's tables and figures as data, and one runner for them.

The rooms of this folder, each importing only those above it:

- `paper`: the settings and results that the paper prints, nothing else;
- `runs`: one run, what names it, what it leaves behind;
- `store`: finished runs on disk;
- `pool`: runs in many processes, with progress;
- `settings`: what a method is run with on a function, from the paper, the user or a trial;
- `tables`: what a table asks for and how its cells are computed;
- `render`, `figures`: CSV, Markdown, LaTeX and plots;
- `reproduce`: the command, without a terminal.
"""
