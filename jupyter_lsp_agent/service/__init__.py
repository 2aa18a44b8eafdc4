"""Where notebooks and servers meet: the use cases, and what they need of the machine.

Reading order: `service` (the recipes), `notebook_check`, `asking`; then `settings`, `places`, `documents`.
"""
