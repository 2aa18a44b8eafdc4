"""JSON-RPC 2.0 over bytes, and the processes that it is spoken with. Knows no LSP method.

Reading order: `messages`, `framing` (no I/O), `transport` (a process, or memory), `connection` (who asked what).
Below the transport: `pipes`, `stderr`, `supervision` and the program `supervisor`; below the connection: `pending` and
`incoming`.
"""
