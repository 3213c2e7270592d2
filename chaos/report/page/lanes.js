// Which lanes a series has, in what order and how high: faults and what went wrong, nodes, wait times, locks, workers.

const HEADING = 24, GAP = 3;

class Lanes {
  constructor(series, opened) {
    this.series = series;
    this.list = [];
    this.height = 0;
    if (series.scenarios.length) this.add({kind: "scenarios", label: "scenario", height: rowsOf(series.scenarios) * 19});
    if (series.faults.length) this.add({kind: "faults", label: "faults", height: rowsOf(series.faults) * 21});
    this.add({kind: "violations", label: "violations", height: 20});
    this.nodes(opened);
    this.heading("wait times");
    this.add({kind: "latency", label: "per request", height: 150});
    this.locks(opened);
    this.workers(opened);
    this.height += 6;
  }

  add(lane) {
    this.list.push({...lane, y: this.height, h: lane.height});
    this.height += lane.height + GAP;
  }

  heading(label) {
    this.height += 4;
    this.add({kind: "heading", label, height: HEADING});
  }

  nodes(opened) {
    const {nodes, quorum} = this.series;
    if (!nodes.length && !quorum.length) return;
    this.heading("nodes");
    for (const node of nodes) this.add({kind: "node", label: node.label, title: node.address, node, height: 18});
    if (quorum.length) this.add({kind: "quorum", label: "can vote", title: "how many nodes could vote", height: 30});
  }

  locks(opened) {
    const {claims} = this.series;
    if (!claims.length) return;
    this.heading("locks");
    const fought = claims.filter(one => one.shared || one.depth > 1), own = claims.filter(one => !fought.includes(one));
    const open = opened.has("own") || !fought.length, shown = open ? [...fought, ...own] : fought;
    const height = shown.length > 12 ? 12 : 18;
    if (own.length && fought.length) {
      // Nobody else ever wanted them, so there is little to see.
      const title = `${times(own.length, "lock")} that only one thread took`;
      this.add({kind: "more", label: `${own.length} more`, title, place: "own", open, toggles: true, height: 24});
    }
    for (const one of shown) {
      const row = one.depth > 1 ? Math.max(11, height - 5) : height;
      this.add({kind: "lock", label: one.name, claims: one, height: one.depth * row});
    }
  }

  workers(opened) {
    const {groups, threads} = this.series;
    if (!groups.length) return;
    this.heading("workers");
    const total = d3.sum(groups, (group, place) => opened.has(place) ? group.last - group.first : 0);
    const height = Math.max(5, Math.min(16, Math.floor(4000 / Math.max(1, total))));
    groups.forEach((group, place) => {
      const count = group.last - group.first, open = opened.has(place);
      const title = `${group.client}, ${times(count, "thread")}, ${group.guard ? "guarded" : "not guarded"}, ` +
        `${group.fencing ? "fenced" : "not fenced"}`;
      const tall = groups.length > 12 ? 22 : 28;
      this.add({kind: "group", label: group.name, title, group, place, open, toggles: count > 0, height: tall});
      if (!open) return;
      for (let thread = group.first; thread < group.last; ++thread) {
        const label = height >= 10 ? threads[thread].name : "";
        this.add({kind: "thread", label, thread: threads[thread], place, inner: true, height});
      }
    });
  }

  at(y) {
    return this.list.find(lane => y >= lane.y - GAP / 2 && y < lane.y + lane.h + GAP / 2);
  }

  of(kind) {
    return this.list.find(lane => lane.kind === kind);
  }
}

function rowsOf(bands) {
  return 1 + d3.max(bands, band => band.row);
}
