"""What a server knows of places, brought back into cells and shown: pure functions over frozen values.

Reading order: `answer` (what is answered), `targets` (from the asker's places to a server's), `placing` (and back),
`render_json`, `render_text`.
"""
