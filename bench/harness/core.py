"""Set `core`: what the machines and the codec take without any node, by Google Benchmark (bench_core)."""
import json

from .processes import output


def core(run):
    program, repetitions = run.programs["bench_core"], max(1, min(9, run.rounds))
    progress = run.progress("machines and codec")
    text = output([program, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
                   f"--benchmark_min_time={max(0.01, 0.1 * run.scale):g}",
                   "--benchmark_enable_random_interleaving=true"], timeout=600)
    progress(1, 1)
    said = json.loads(text)["benchmarks"]
    rows = []
    for median in (one for one in said if one.get("aggregate_name") == "median" or one["repetitions"] == 1):
        variation = next((one["cpu_time"] for one in said
                          if one["run_name"] == median["run_name"] and one.get("aggregate_name") == "cv"), None)
        rows.append({"name": median["run_name"], "ns": median["cpu_time"], "variation": variation,
                     "allocations": median.get("allocations"), "bytes_per_s": median.get("bytes_per_second")})
    return {"repetitions": repetitions, "benchmarks": sorted(rows, key=lambda row: row["name"])}
