"""What a person sees while a run goes on, and at its end: a line for each scenario, counts, and the verdicts in
words."""
import sys
import time


class Terminal:
    def __init__(self, quiet=False, out=sys.stderr):
        self._out, self._quiet = out, quiet
        self._live = out.isatty() and not quiet
        self._sizes, self._grants = {}, 0
        self._series = self._name = ""
        self._began = 0.0

    def say(self, text):
        if not self._quiet:
            if self._live:
                self._out.write("\r\033[K")
            print(text, file=self._out, flush=True)

    def count(self, folder):
        """Sections that were granted so far: only what is new in the files is read."""
        for path in folder.glob("events/w*.jsonl"):
            at = self._sizes.get(path, 0)
            with open(path, "rb") as file:
                file.seek(at)
                new = file.read()
            # A line that is not whole yet is counted the next time.
            end = new.rfind(b"\n") + 1
            self._grants += new[:end].count(b'"e":"grant"')
            self._sizes[path] = at + end
        return self._grants

    def series(self, series):
        self._sizes, self._grants = {}, 0
        self.say(f"{series.id}: {series.title}")

    def begin(self, series, name, folder):
        self._name, self._folder, self._began = name, folder, time.monotonic()
        self._before = self.count(folder)
        if self._live:
            self._out.write(f"\r\033[K  {name} ...")
            self._out.flush()

    def end(self, problems):
        now = self.count(self._folder)
        took = time.monotonic() - self._began
        self.say(f"  {self._name:<26} {took:5.1f} s  {now - self._before:6} sections  {'ok' if not problems else 'PROBLEM'}")
        for problem in problems:
            self.say(f"      {problem}")

    def verdict(self, series, verdict):
        found = [f"{verdict.get('sections', 0)} sections", f"{verdict['harness_faults']} faults"]
        for key, word in (("overlaps", "overlaps"), ("inversions", "inversions"), ("leftovers", "leftovers"),
                          ("validity", "broken validities"), ("stalls", "stalls")):
            found.append(f"{len(verdict.get(key, []))} {word}")
        wanted = {"clean": "nothing to be found", "overlaps": "overlaps to be found", "shown": "only shown"}[series.expect]
        word = "as expected" if verdict["ok"] else "NOT AS EXPECTED"
        self.say(f"  => {', '.join(found)}; {wanted}: {word}")
        for problem in verdict["problems"]:
            self.say(f"     {problem}")
        if series.expect == "clean":
            self.figures(verdict)

    def figures(self, verdict):
        """How well it went on, which is measured and not judged: a machine may be slow for other reasons."""
        two = [a for a in verdict.get("availability", []) if a["nodes_down"] == 2]
        tried = sum(a["tried"] for a in two)
        if tried:
            soon, median = sum(a["granted_within_3x_median"] for a in two), verdict["healthy_median_us"] / 1e3
            self.say(f"     two nodes out: {soon} of {tried} free locks ({100 * soon / tried:.2f} %) within 3 x the healthy "
                     f"median of {median:.1f} ms")
        firsts = [(p["first_grant_after_heal_us"], p["scenario"]) for p in verdict.get("phases", [])
                  if p["first_grant_after_heal_us"] is not None]
        if firsts:
            self.say(f"     first grant after a heal, once a quorum could vote: at most {max(firsts)[0] / 1e3:.0f} ms "
                     f"({max(firsts)[1]}), {sum(f[0] <= 1e6 for f in firsts)} of {len(firsts)} within 1 s")
        self.say(f"     longest time without a grant of a wanted free lock while a quorum was ready: "
                 f"{verdict.get('longest_stall_us', 0) / 1e3:.0f} ms")
