"""Where the programs are that a run needs: in the folder of one build."""
from .child import Failed

PLACES = {"redlock": "src/cli/redlock", "chaos_proxy": "chaos/chaos_proxy", "chaos_worker": "chaos/worker/chaos_worker",
          "chaos_judge": "chaos/judge/chaos_judge", "clock_shim": "tests/integration/libclock_shim.so",
          "chaos_worker_no_drift": "chaos/worker/chaos_worker_no_drift",
          "chaos_worker_q_minus_1": "chaos/worker/chaos_worker_q_minus_1"}


def find_programs(root, build, series):
    wanted = {name: path for name, path in PLACES.items()
              if not name.startswith("chaos_worker_") or any(s.worker == name for s in series)}
    if build is None:
        builds = sorted((root / "build").glob("*/" + PLACES["chaos_proxy"]), key=lambda p: p.stat().st_mtime)
        if not builds:
            raise Failed("nothing was built; 'cmake --preset dev && cmake --build --preset dev' does it")
        build = builds[-1].parents[1]
    found = {name: build / path for name, path in wanted.items()}
    for name, path in found.items():
        if not path.exists():
            raise Failed(f"{name} is missing in {build}; 'cmake --build {build} --target {name}' builds it")
    return build, found
