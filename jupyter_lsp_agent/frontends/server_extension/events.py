"""The server's event bus: our results go out on it, and saves by others come in.

Every subscriber gets every event, so ours say only that there is a new result and how it stands; source, messages and
users never. A contents event is heard after the save, unlike a hook, whose error would become the saver's.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_events import EventLogger

    from jupyter_lsp_agent.diagnostics.report import Report

SCHEMA_ID = "https://events.jupyter.org/jupyter_lsp_agent/diagnostics/v1"
CONTENTS_SCHEMA_ID = "https://events.jupyter.org/jupyter_server/contents_service/v1"

_SCHEMA = Path(__file__).parent / "event_schemas" / "diagnostics" / "v1.yaml"


class ResultEvents:
    """Tells subscribers of new results."""

    def __init__(self, event_logger: "EventLogger") -> None:
        self._event_logger = event_logger
        event_logger.register_event_schema(_SCHEMA)

    def emit(self, name: str, report: "Report") -> None:
        """Tell of a check that an edit, a save or a change of a shared document caused."""
        from jupyter_lsp_agent.diagnostics.render_json import counts_to_dict

        payload = {
            "path": name,
            "content_hash": report.content_hash,
            "verdict": report.verdict.value,
            "counts": counts_to_dict(report.counts),
        }
        self._event_logger.emit(schema_id=SCHEMA_ID, data=payload)


def listen_to_contents(
    event_logger: "EventLogger",
    on_saved: Callable[[str], None],
    on_moved: Callable[[str, str | None], None],
) -> None:
    """Hear of saves, renames (`old, new`) and deletions (`old, None`) by anybody.

    Only managers that tell of them are heard: the contents schema says itself that it is no complete record. Reading
    tells `get`, also when we read, and is ignored.
    """

    async def listener(logger: "EventLogger", schema_id: str, data: dict[str, Any]) -> None:
        action, path = data.get("action"), str(data.get("path", "")).strip("/")
        if action == "save":
            on_saved(path)
        elif action == "rename":
            on_moved(str(data.get("source_path", "")).strip("/"), path)
        elif action == "delete":
            on_moved(path, None)

    event_logger.add_listener(schema_id=CONTENTS_SCHEMA_ID, listener=listener)
