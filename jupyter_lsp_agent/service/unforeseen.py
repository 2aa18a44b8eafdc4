"""How a mistake of ours is told to a user: in one sentence, with the place where it happened, and no traceback."""

import traceback
from pathlib import Path


def describe_unforeseen(error: BaseException) -> str:
    """The sentence on an error that nobody expected: its kind, its text, its place, and what to do."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f", {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    text = f": {error}" if str(error) else ""
    return f"This failed in a way that was not foreseen ({type(error).__name__}{text}{place}); please report it."
