"""What a person sees while a run goes on: on a terminal a line that changes, otherwise a line for each thing done."""
import sys
import time


class Progress:
    def __init__(self, out=None):
        self._out = out or sys.stderr
        self._live = self._out.isatty()

    def say(self, text):
        if self._live:
            self._out.write("\r\033[K")
        print(text, file=self._out, flush=True)

    def of(self, title):
        """To be called with how many are done, of how many."""
        began = time.monotonic()

        def tell(done, of):
            took = time.monotonic() - began
            if done >= of:
                self.say(f"  {title:<40} {took:6.1f} s")
            elif self._live:
                self._out.write(f"\r\033[K  {title:<40} {done}/{of}, about {took / done * (of - done):.0f} s more")
                self._out.flush()
        return tell
