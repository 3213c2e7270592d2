"""What the harness saw and did, one JSON object a line, by the clock that all processes share."""
import json
import time


def now_us():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


class Events:
    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "a", encoding="utf-8", buffering=1)  # a line is on file before the next deed
        self._faults = 0

    def write(self, e, **fields):
        self._file.write(json.dumps({"t": now_us(), "e": e, **fields}) + "\n")

    def next_fault(self):
        self._faults += 1
        return f"f{self._faults}"

    def close(self):
        self._file.close()
