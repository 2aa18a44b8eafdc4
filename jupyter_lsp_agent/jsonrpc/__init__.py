"""JSON-RPC 2.0 over bytes, and the processes at the other end. Knows no LSP method.

Reading order: `messages`, `framing` (no I/O), `transport` (a child process, or memory), `connection` (requests matched
with answers), `supervision` (nothing outlives us).
"""
