"""One language server: the protocol, and the verdict on exactly one text.

Knows nothing of notebooks, of which server is meant for what, or of how many run. Reading order: `client`, then as its
docstring says.
"""
