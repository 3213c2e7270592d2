// Which drawings each set has.

const DRAWINGS = {latency: drawLatency, throughput: drawThroughput, handover: drawHandover, contention: drawContention, core: drawCore};

const plain = {write: grouped};

// The lines of every client that appears in some of the groups, by where `at` puts a group and what `value` reads of it.
function seriesOf(groups, at, value, choose = () => true) {
  const members = new Map();
  for (const group of groups) for (const member of group.members) if (choose(member)) members.set(member.name, member);
  return [...members.values()].map(member => ({member, points: groups.map(group => {
    const found = group.members.find(one => one.name === member.name), y = found ? value(found) : null;
    return [at(group), Number.isFinite(y) ? y : null];
  })}));
}

function byDelay(groups) {
  return d3.nest().key(group => group.delay_ms).entries(groups).map(one => one.values);
}

function drawLatency(place, {groups}) {
  const counts = [...new Set(groups.map(group => group.nodes))];
  for (const some of counts.length > 1 ? byDelay(groups) : []) {
    const narrow = some.find(group => group.nodes === 3) || some[0], shown = new Set(narrow.members.map(member => member.name));
    drawLines(place, {
      title: `Acquire over the number of nodes, ${some[0].delay_ms} ms each way`, hint: "median; thin: 99 %",
      x: {label: "nodes", ticks: counts, ...plain}, y: {log: true, write: duration},
      series: [...seriesOf(some, group => group.nodes, one => one.acquire_us && one.acquire_us.p50, one => shown.has(one.name)),
        ...seriesOf(some, group => group.nodes, one => one.acquire_us && one.acquire_us.p99, one => shown.has(one.name) && !one.bound)
          .map(one => ({...one, thin: true, what: "99 %"}))],
    });
  }
  for (const group of groups.filter(one => one.nodes === 5)) drawGroup(place, group);
}

function drawGroup(place, group) {
  const bounds = group.members.filter(one => one.bound && one.acquire_us)
    .map(one => ({value: one.acquire_us.p50, title: one.name === "floor" ? "floor" : "one node"}));
  drawRanges(place, {
    title: `Acquire, ${group.nodes} nodes, ${group.delay_ms} ms each way`,
    hint: group.noise ? `noise: the floor against itself ${times(group.noise.acquire)}` : "", bounds,
    rows: group.members.filter(one => !one.bound && one.acquire_us)
      .map(member => ({member, of: member.acquire_us, beside: times(member.ratio.acquire)})),
  });
}

function drawThroughput(place, {points}) {
  const workers = {label: "workers", log: true, ticks: points.map(point => point.workers), ...plain};
  drawLines(place, {title: "Locks per second", x: workers, y: {log: true, ...plain},
    series: seriesOf(points, point => point.workers, one => one.per_s)});
  drawLines(place, {title: "Against the floor", hint: "paired by batch; the floor against itself is the noise", x: workers,
    y: {zero: true, write: ratio => ratio.toFixed(2)},
    series: [...seriesOf(points, point => point.workers, one => one.ratio.per_s, one => !one.bound),
      {member: {name: "again", title: "the floor against itself", bound: true}, points: points.map(point =>
        [point.workers, point.noise ? point.noise.per_s : null])}]});
  drawLines(place, {title: "Acquire under that load", hint: "median; thin: 99 %", x: workers, y: {log: true, write: duration},
    series: [...seriesOf(points, point => point.workers, one => one.acquire_us && one.acquire_us.p50),
      ...seriesOf(points, point => point.workers, one => one.acquire_us && one.acquire_us.p99, one => one.name === "callbacks")
        .map(one => ({...one, thin: true, what: "99 %"}))]});
  drawLines(place, {title: "Processor time of the client for a lock and its release", x: workers, y: {log: true, write: duration},
    series: seriesOf(points, point => point.workers, one => one.cpu_us)});
}

function distributions(place, title, hint, members, bound) {
  const curves = members.filter(one => one.distribution && one.distribution.length)
    .map(member => ({member, points: member.distribution.map(([percent, us]) => [Math.max(1, us), percent])}));
  if (bound) curves.push({member: {name: "bound", title: "bound", bound: true}, points: [[bound, 0], [bound, 100]]});
  drawLines(place, {title, hint, x: {label: "", log: true, write: duration},
    y: {zero: true, within: [0, 100], write: percent => `${percent} %`}, series: curves});
}

function drawHandover(place, {points}) {
  const processes = {label: "processes", log: true, ticks: points.map(point => point.processes), ...plain};
  drawLines(place, {title: "From release to the next holder", hint: "median; thin: 99 %", x: processes, y: {log: true, write: duration},
    series: [...seriesOf(points, point => point.processes, one => one.handover_us && one.handover_us.p50),
      ...seriesOf(points, point => point.processes, one => one.handover_us && one.handover_us.p99)
        .map(one => ({...one, thin: true, what: "99 %"})),
      {member: {name: "bound", title: "bound: a release's round trip", bound: true},
        points: points.map(point => [point.processes, point.bound_us])}]});
  for (const point of points) {
    distributions(place, `${point.processes} processes`, "share of hand-overs that took no longer", point.members, point.bound_us);
  }
}

function drawContention(place, {cases}) {
  for (const one of cases) {
    distributions(place, `Waits, ${counted(one.processes, "process", "processes")} × ${counted(one.workers, "worker", "workers")}`, "share of waits that were over", one.members);
  }
}

function drawCore(place, {benchmarks}) {
  const rows = benchmarks.filter(one => one.ns > 0).map(one => ({
    member: {name: one.bytes_per_s ? "guarded" : "callbacks", title: one.name}, of: {p50: one.ns, name: one.name},
    beside: one.bytes_per_s ? `${grouped(one.bytes_per_s / 1e6)}${NARROW}MB/s` : ""}));
  drawBars(place, {title: "Processor time of a step", hint: "codec in orange", rows});
}
