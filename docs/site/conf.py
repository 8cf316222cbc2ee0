"""Settings of Sphinx for the documentation site (`make site`)."""

from macaw import __version__

project = "Macaw"
version = release = __version__
author = "the founders of Macaw"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns: list[str] = []

# Pages are Markdown as GitHub shows it: headings have its anchors.
myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"  # the committed notebook has its outputs
highlight_language = "text"

# Docstrings are plain text with names in single backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
_NAMES = ("ArrayLike", "DeviceLike", "FilePath", "api.DeviceLike", "api.FilePath", "Inputs")
autodoc_type_aliases = {name: name for name in _NAMES}  # not what they stand for
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "Macaw"
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0a6640", "color-brand-content": "#0a6640"},
    "dark_css_variables": {"color-brand-primary": "#4ec994", "color-brand-content": "#4ec994"},
}
