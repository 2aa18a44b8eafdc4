"""Values only: ids, URIs, positions, diagnostics, errors, time. Knows nothing of the rest of the package.

Reading order: `positions`, `diagnostic`, `errors`, then the small ones.
"""
