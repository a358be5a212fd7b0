"""The site: `make docs` builds it with Sphinx into out/site, with warnings as errors.

The pages are Markdown that GitHub shows as it is: what only the site needs
(the order of the pages, what is generated) is here and in tools/site_pages.py.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from tools import site_pages  # noqa: E402

import gracezo  # noqa: E402

project = "gracezo"
author = "The gracezo developers"
copyright = author
version = release = gracezo.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["README.md"]  # about this folder, for those who write
source_suffix = {".md": "markdown"}

myst_heading_anchors = 4
suppress_warnings = ["ref.python"]  # a word that is a field of two classes
default_role = "code"  # docstrings are read in a terminal first: one backtick for code
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_preprocess_types = False
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
maximum_signature_line_length = 70
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "gracezo"
html_baseurl = ""
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "icon_links": [{"name": "Source", "url": site_pages.ADDRESS, "icon": "fa-brands fa-github"}],
    "navigation_with_keys": False,
    "show_nav_level": 2,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "which-tool": [], "**": ["sidebar-nav-bs"]}


def setup(app: object) -> None:
    """Have pages prepared as they are read (called by Sphinx)."""
    site_pages.prepare(app)
