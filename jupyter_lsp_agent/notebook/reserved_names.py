"""Names that virtual documents add to a notebook's own. They begin with `_jla_`, and no finding about them is shown."""

TYPING = "_jla_typing"
"""The module `typing`."""

CALL = "_jla_call"
"""A function that gives anything."""

FLAG = "_jla_flag"
"""A bool that nobody can know."""

ANYTHING = "_jla_anything"
"""A value, and a decorator, of which nothing is known."""

RAISED = "_jla_raised"
"""Declared as anything: what `raise` was to raise is assigned to it."""

CHECK = "_jla_check"
"""Beginning of the names that carry an annotation which the notebook's own name cannot keep."""

MISSING_MODULE = "_jla_missing"
"""A module that does not exist: what is imported from it is anything, as a type too."""

PREFIX = "_jla_"
"""How all of them begin."""
