// What is under the pointer, in words. Only the lane under the pointer is searched, and the nearest thing within a few
// pixels is told; red things are preferred.

const REACH = 4;  // pixels

function near(brush, x, a, b) {
  const left = brush.x(a), right = brush.x(b);
  return x < left ? left - x : x > right ? x - right : 0;
}

// Of several at the same distance the shortest, which lies on top of the others.
function nearest(brush, x, things) {
  let best = null, least = REACH + 1;
  for (const thing of things) {
    const away = near(brush, x, thing.from, thing.to);
    const shorter = best && away === least && thing.to - thing.from < best.to - best.from;
    if (away < least || shorter) { least = away; best = thing; }
  }
  return best;
}

function sectionsNear(brush, series, x, lane) {
  const from = brush.from + (x - REACH) / brush.scale, to = brush.from + (x + REACH) / brush.scale, found = [];
  const threads = lane.kind === "thread" ? [lane.thread] : series.threads.slice(lane.group.first, lane.group.last);
  for (const thread of threads) {
    const [first, last] = inView(series, thread, from, to);
    for (let i = first; i < last; ++i) if (series.end[i] >= from && series.start[i] <= to) found.push(i);
  }
  return found;
}

function claimsNear(brush, series, x, y, lane) {
  const {sections, depth} = lane.claims, row = Math.min(depth - 1, Math.floor((y - lane.y) / (lane.h / depth)));
  const from = brush.from + (x - REACH) / brush.scale, to = brush.from + (x + REACH) / brush.scale, found = [];
  const last = lowerBound(place => series.got[sections[place]], 0, sections.length, to);
  for (let place = last - 1; place >= Math.max(0, last - 400); --place) {
    const i = sections[place];
    if (series.end[i] >= from && (series.row[i] === row || depth === 1)) found.push(i);
  }
  return found;
}

function bestSection(brush, series, x, found) {
  const away = i => near(brush, x, series.fate[i] === GRANTED ? series.got[i] : series.start[i], series.end[i]);
  return found.reduce((best, i) => {
    if (best === undefined || series.red[i] > series.red[best]) return i;
    return series.red[i] === series.red[best] && away(i) < away(best) ? i : best;
  }, undefined);
}

function tellSections(brush, series, x, found) {
  if (!found.length) return null;
  const best = bestSection(brush, series, x, found), told = tellSection(series, best);
  const crowd = found.length - 1;
  if (crowd > 0) {
    told.rows.push(["here too", `${times(crowd, "more section")} within ${2 * REACH} pixels; zoom in to tell them apart`]);
  }
  return told;
}

function tellSection(series, i) {
  const {columns, start, got, end, fate} = series;
  const rows = [["lock", columns.names[columns.name[i]]], ["asked at", moment(start[i], 10)]];
  const waited = duration(got[i] - start[i]);
  if (fate[i] === UNANSWERED) rows.push(["answer", `none for ${waited}`]);
  if (fate[i] === FAILED) rows.push(["refused", `${columns.errors[columns.error[i]]}, after ${waited}`]);
  if (fate[i] === GRANTED) {
    rows.push(["granted", `${moment(got[i], 10)}, after ${waited}`]);
    rows.push(["held for", `${duration(end[i] - got[i])}, until ${WHY_ENDED[columns.why[i]]}`]);
    if (columns.until[i]) rows.push(["valid for", `${duration(columns.until[i])} from the grant`]);
    if (columns.extends[i]) rows.push(["extended", times(columns.extends[i], "time")]);
    if (!Number.isNaN(series.fence[i])) rows.push(["fencing number", String(series.fence[i])]);
    if (columns.writes[i]) rows.push(["wrote", times(columns.writes[i], "time")]);
    if (series.tokens[i]) rows.push(["token", series.tokens[i]]);
    const result = columns.results[columns.result[i]];
    if (columns.done[i] >= 0) rows.push(["release", `${result}, ${duration(columns.done[i])} later`]);
  }
  const red = series.violations.filter(violation => violation.sections.includes(i)).slice(0, 3);
  for (const violation of red) rows.push(["violation", wordsOfViolation(violation)]);
  return {title: `${series.threads[series.thread[i]].name} #${series.id[i]}`, rows, red: red.length > 0};
}

function wordsOfViolation(violation) {
  const whose = violation.whose.map(([worker, id]) => `${worker} #${id}`).join(" and ");
  const lasted = duration(violation.to - violation.from);
  if (violation.kind === "overlap") return `${whose} both held ${violation.name} for ${lasted}`;
  if (violation.kind === "inversion") {
    const fences = violation.whose.map(one => one[2]).join(" then ");
    return `fencing numbers of ${violation.name} went the wrong way: ${fences} (${whose})`;
  }
  if (violation.kind === "stall") {
    return `${violation.name} was wanted but not granted for ${lasted} though a quorum could vote`;
  }
  return `${violation.what || violation.kind} (${whose})`;
}

function tellViolation(violation, place, count) {
  const rows = [["what", wordsOfViolation(violation)], ["from", moment(violation.from, 10)],
                ["lasted", duration(violation.to - violation.from)]];
  if (violation.fault) rows.push(["fault", violation.fault]);
  return {title: `${violation.kind}, ${place + 1} of ${count}`, rows, red: true};
}

function tellFault(fault, nodes) {
  const rows = [["what", fault.says || "–"], ["from", moment(fault.from)],
                ["lasted", fault.unended ? "never ended" : duration(fault.to - fault.from)]];
  const labelOf = id => (nodes.find(node => node.id === id) || {label: id}).label;
  if (fault.nodes.length) rows.push(["nodes", fault.nodes.map(labelOf).join(", ")]);
  if (fault.clients.length) rows.push(["clients", fault.clients.join(", ")]);
  rows.push(["proof", fault.proof || "none"]);
  return {title: `${fault.id}: ${inWords(fault.kind)}`, rows};
}

function tellSteps(steps, t, span, tell) {
  const place = lowerBound(at => steps[at][0], 0, steps.length, t + 1) - 1;
  return place < 0 ? null : tell(steps[place], place + 1 < steps.length ? steps[place + 1][0] : span);
}

function tellNode(brush, series, lane, x) {
  const {node} = lane, spans = node.spans.map(([from, state, role], place) =>
    ({from, to: place + 1 < node.spans.length ? node.spans[place + 1][0] : series.span, state, role}));
  const found = nearest(brush, x, spans.filter(span => span.state !== "up")) || nearest(brush, x, spans);
  return found && {title: `${node.label} ${node.address}`, rows: [
    ["state", found.state === "cut" ? "cut off" : found.state], ["role", found.role], ["from", moment(found.from)],
    ["for", duration(found.to - found.from)]]};
}

function tellLatency(brush, series, lane, x, y, scale) {
  const reach = 2 * REACH;
  let best, least = reach * reach;
  for (const thread of series.threads) {
    const [from, to] = [brush.from + (x - reach) / brush.scale, brush.from + (x + reach) / brush.scale];
    const [first, last] = inView(series, thread, from, to);
    for (let i = first; i < last; ++i) {
      const dx = brush.x(series.start[i]) - x, dy = lane.y + scale(Math.max(1, series.got[i] - series.start[i])) - y;
      if (dx * dx + dy * dy < least && series.fate[i] !== UNANSWERED) { least = dx * dx + dy * dy; best = i; }
    }
  }
  return best === undefined ? null : tellSection(series, best);
}

// A stop is a strip along the upper edge of its process, and a death a cross.
function tellStop(brush, series, lane, x, y) {
  const here = one => one.process === lane.group.name && (one.what === "died" || y < lane.y + 8);
  const stop = nearest(brush, x, series.stops.filter(here));
  if (!stop) return null;
  const died = stop.what === "died", rows = [["process", died ? "killed" : "stopped"], ["at", moment(stop.from)]];
  if (!died) rows.push(["for", duration(stop.to - stop.from)]);
  return {title: lane.group.name, rows};
}

function tellBand(brush, series, lane, x, y) {
  const row = Math.floor((y - lane.y) / (lane.h / rowsOf(series[lane.kind])));
  const found = nearest(brush, x, series[lane.kind].filter(band => band.row === row));
  if (!found) return null;
  if (lane.kind === "faults") return tellFault(found, series.nodes);
  return {title: inWords(found.scenario), rows: [["what", found.title || "–"], ["from", moment(found.from)],
                                                 ["lasted", duration(found.to - found.from)]]};
}

// {title, rows: [[name, words]], red} of what is at (x, y), or null.
function tellAt(brush, series, lanes, x, y, scale) {
  const lane = lanes.at(y), t = brush.from + x / brush.scale;
  if (!lane) return null;
  if (lane.kind === "thread" || lane.kind === "group") {
    const stop = lane.kind === "group" && tellStop(brush, series, lane, x, y);
    return stop || tellSections(brush, series, x, sectionsNear(brush, series, x, lane));
  }
  if (lane.kind === "lock") return tellSections(brush, series, x, claimsNear(brush, series, x, y, lane));
  if (lane.kind === "node") return tellNode(brush, series, lane, x);
  if (lane.kind === "latency") return tellLatency(brush, series, lane, x, y, scale);
  if (lane.kind === "quorum") {
    return tellSteps(series.quorum, t, series.span, (step, end) => ({
      title: `${step[1]} of ${series.nodes.length} nodes can vote`,
      rows: [["from", moment(step[0])], ["for", duration(end - step[0])]]}));
  }
  if (lane.kind === "violations") {
    const found = nearest(brush, x, series.violations);
    return found && tellViolation(found, series.violations.indexOf(found), series.violations.length);
  }
  return lane.kind === "faults" || lane.kind === "scenarios" ? tellBand(brush, series, lane, x, y) : null;
}
