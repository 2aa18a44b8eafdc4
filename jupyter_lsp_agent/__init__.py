"""The verdict of a real language server on a Jupyter notebook: per cell, and only what is new."""

from jupyter_lsp_agent._version import __version__

__all__ = ["__version__"]
