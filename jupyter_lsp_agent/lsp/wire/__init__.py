"""Tolerant decoding of what servers send: the only place of the package that looks into raw LSP objects.

Real servers leave out what the protocol demands and send what it forbids. One bad item is dropped and counted, never
the message around it; a message of which nothing is left is no answer, since an empty one would read as "clean".

Reading order: `values` (how a single JSON value is read), `diagnostics`, `server`, `navigation`.
"""
