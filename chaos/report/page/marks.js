// Paints faults, node states and everything that went wrong. These are never summed up or left out: however far out the
// view is, each is at least some pixels wide, and red is painted last.

function paintFaultShades(brush, series, height) {
  for (const fault of series.faults) {
    brush.c.globalAlpha = 0.13;
    brush.band(fault.from, fault.to, 0, height, brush.theme.fault, 1.5);
  }
  brush.c.globalAlpha = 1;
}

function paintBands(brush, bands, lane, style, wordsOf) {
  const row = lane.h / rowsOf(bands);
  for (const band of bands) brush.band(band.from, band.to, lane.y + band.row * row, row - 2, style, 3);
  for (const band of bands) {  // a name may reach beyond its own band as far as the next one of its row
    if (brush.x(band.to) < 0 || brush.x(band.from) > brush.width) continue;
    const room = band.next ? band.next.from : brush.to;
    const y = lane.y + band.row * row, fits = brush.x(band.to) - Math.max(0, brush.x(band.from)) > 40;
    if (fits) brush.words(wordsOf(band), band.from, band.to, y, row - 2, brush.theme.panel);
    else brush.words(wordsOf(band), band.to, room, y, row - 2, brush.theme.text);
  }
}

function paintNode(brush, series, lane) {
  const {theme} = brush, {spans} = lane.node;
  for (const loud of [false, true]) {  // short outages over the quiet state
    spans.forEach(([t, state, role], place) => {
      const end = place + 1 < spans.length ? spans[place + 1][0] : series.span;
      if ((state !== "up") !== loud) return;
      if (loud) brush.band(t, end, lane.y, lane.h, theme.hatch[state] || theme.muted, 3);
      else brush.band(t, end, lane.y + 5, lane.h - 10, role === "replica" ? theme.replica : theme.up, 1);
      if (loud) paintState(brush, state, t, end, lane);
      else if (role === "replica") brush.words("replica", t, end, lane.y, lane.h);
    });
  }
}

function paintState(brush, state, t, end, lane) {
  const {c, theme} = brush, named = state === "cut" ? "cut off" : state, wide = c.measureText(named).width + 8;
  const left = Math.max(0, brush.x(t)), room = Math.min(brush.width, brush.x(end)) - left;
  if (room < wide + 6) return;
  c.fillStyle = theme.panel;
  c.fillRect(left + 3, lane.y + 3, wide, lane.h - 6);
  c.fillStyle = theme.text;
  c.fillText(named, left + 7, lane.y + lane.h / 2 + 0.5);
}

function paintQuorum(brush, series, lane) {
  const {c, theme} = brush, steps = series.quorum;
  const most = Math.max(series.nodes.length, d3.max(steps, step => step[1]) || 1);
  // None is a low step too, not nothing: that is the worst of all.
  const needed = Math.floor(most / 2) + 1, y = ready => lane.y + lane.h - Math.max(4, lane.h * ready / most);
  steps.forEach(([t, ready], place) => {
    const end = place + 1 < steps.length ? steps[place + 1][0] : series.span;
    const lost = ready < needed;
    brush.band(t, end, y(ready), lane.y + lane.h - y(ready), lost ? theme.hatch.stall : theme.quorum, lost ? 2 : 1);
    const middle = Math.min(y(ready), lane.y + lane.h - 13);
    brush.words(String(ready), t, end, middle, Math.max(13, lane.y + lane.h - middle), theme.text, 14);
  });
  c.strokeStyle = theme.text;
  c.setLineDash([3, 3]);
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(0, Math.round(y(needed)) + 0.5);
  c.lineTo(brush.width, Math.round(y(needed)) + 0.5);
  c.stroke();
  c.setLineDash([]);
}

function paintStops(brush, series, lanes) {
  for (const lane of lanes.list) {
    if (lane.kind !== "group") continue;
    for (const stop of series.stops) {
      if (stop.process !== lane.group.name) continue;
      if (stop.what === "died") brush.cross(stop.from, lane.y + lane.h / 2, 5, brush.theme.text);
      else brush.band(stop.from, stop.to, lane.y, 6, brush.theme.hatch.stopped, 3);
    }
  }
}

// Lanes by section: its thread where the group is open, else the group; and the lock.
function lanesOf(series, lanes, section) {
  const thread = series.threads[series.thread[section]], name = series.columns.names[series.columns.name[section]];
  return lanes.list.filter(lane => (lane.kind === "thread" && lane.thread === thread) ||
    (lane.kind === "group" && !lane.open && lane.place === thread.group) ||
    (lane.kind === "lock" && lane.label === name));
}

function paintLate(brush, series, lanes) {
  const seen = new Set();
  for (const write of series.late) {
    const x = brush.x(write.t);
    if (x < 0 || x > brush.width) continue;
    for (const lane of lanesOf(series, lanes, write.section)) {
      if (lane.kind === "lock") continue;
      const place = `${lane.y} ${write.ok} ${Math.round(x / 4)}`;
      if (seen.has(place)) continue;
      seen.add(place);
      brush.diamond(write.t, lane.y + lane.h / 2, 4, brush.theme.fence, write.ok);
    }
  }
}

function paintViolations(brush, series, lanes, selected) {
  const {c, theme} = brush, lane = lanes.of("violations");
  const lines = new Set();
  // Long ones first: a stall of seconds must not hide an overlap within it.
  for (const violation of series.violationsByLength) {
    const style = violation.kind === "stall" ? theme.hatch.stall : theme.violation;
    const left = brush.x(violation.from), right = brush.x(violation.to);
    if (right < -3 || left > brush.width + 3) continue;
    if (violation.kind !== "stall" && !lines.has(Math.round(left))) {
      lines.add(Math.round(left));
      c.globalAlpha = violation === selected ? 0.8 : 0.3;
      brush.band(violation.from, violation.from, lane.y, lanes.height - lane.y, style, 1);
      c.globalAlpha = 1;
    }
    for (const section of violation.sections) {
      const from = Math.max(violation.from, series.start[section]), to = Math.min(violation.to, series.end[section]);
      for (const red of lanesOf(series, lanes, section)) {
        const [y, h] = partOf(series, red, section);
        if (!brush.band(from, Math.max(from, to), y, h, style, 3) || red.kind !== "lock") continue;
        c.save();  // the name again where red has covered it, and only there
        c.beginPath();
        c.rect(brush.x(from), y, (to - from) * brush.scale, h);
        c.clip();
        nameClaim(brush, series, section, y, h);
        c.restore();
      }
    }
    brush.band(violation.from, violation.to, lane.y + 2, lane.h - 4, style, 4);
    if (violation === selected) paintSelected(brush, violation, lane);
  }
}

function paintSelected(brush, violation, lane) {
  const left = Math.max(1, brush.x(violation.from) - 3), right = Math.min(brush.width - 1, brush.x(violation.to) + 3);
  brush.c.strokeStyle = brush.theme.focus;
  brush.c.lineWidth = 2;
  brush.c.strokeRect(left, lane.y, Math.max(6, right - left), lane.h);
  brush.words(violation.kind, violation.from, violation.to, lane.y, lane.h, brush.theme.panel);
}
