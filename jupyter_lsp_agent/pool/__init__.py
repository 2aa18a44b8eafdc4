"""Language clients shared, replaced and bounded: one for each (server, root, environment), alive while it is wanted.

Knows nothing of notebooks. Reading order: `keys`, `pool` (leases), `fallback` (who answers when one does not), then
`broken`, `eviction`, `shared_work`, `changes`, `memory`.
"""
