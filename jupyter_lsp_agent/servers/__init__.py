"""What a server is, where its program lies, and what it is told: data and look-ups; nothing is started here.

Reading order: `spec` (the schema of `catalogue.toml`), `registry`, `roots`, `interpreters`, `commands`, `launch`.
"""
