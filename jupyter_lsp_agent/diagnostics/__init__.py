"""From findings to a report: pure functions over frozen values.

Reading order: `relocate` (virtual document → cells), `merge`, `facts` (what a report is made of), `build`, `report`,
`render`; for comparisons of two states `delta` and what it uses.
"""
