"""Sphinx for the site; tools/docs.py lays out the pages and calls it."""
import os

project = "cloister"
author = "the cloister authors"
copyright = author
version = release = os.environ["CLOISTER_VERSION"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "breathe"]
exclude_patterns = ["site/conf.py"]
root_doc = "index"

myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 4
myst_dmath_allow_labels = False
suppress_warnings = ["myst.xref_ambiguous"]

breathe_projects = {"cloister": os.environ["DOXYGEN_XML"]}
breathe_default_project = "cloister"
breathe_domain_by_extension = {"h": "c"}

autodoc_default_options = {
    "members": True,
    "exclude-members": "set_fit_request, set_score_request, set_predict_request",  # scikit-learn's own
}
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "cloister"
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
}
html_sidebars = {"index": []}
html_show_sourcelink = False
html_static_path = []
