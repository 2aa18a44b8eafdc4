"""The doors: command line, Python, Jupyter server. They parse, call the service and render; nothing is decided here."""
