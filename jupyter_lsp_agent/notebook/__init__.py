"""Notebooks as values, and the texts that servers are shown: pure functions, no processes, no event loop.

Reading order: `model`, `reader`, `virtual_document`, `line_map`; then `magics` (IPython's syntax) and `python_document`
(cells made independent of each other). `edits` and `identity` are apart: changing a file's text, matching two states.
"""
