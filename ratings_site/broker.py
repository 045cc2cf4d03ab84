"""
The task queue in a folder, for a machine without Redis.

kombu's own transport writes a message in the place where the worker looks for it. A worker that comes by at that moment takes
an empty file, fails to read it, and ends. Here a message is written aside and appears whole.
"""

import os
import time
import uuid
from pathlib import Path
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]
        # Served in the order of the names: so by the wall clock, which goes on across a restart of the machine.
        place = Path(self.data_folder_out) / f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        aside = place.with_suffix(".part")
        aside.write_text(dumps(payload), encoding="utf-8")
        os.replace(aside, place)


class Transport(filesystem.Transport):
    Channel = Channel
