"""A Jupyter server's door to the service: check and edit over REST, results on the event bus."""
