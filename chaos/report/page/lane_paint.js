// Paints the lanes of locks and workers. Sections wider than a pixel are drawn as they are; narrower ones are summed up
// per pixel, and the height of the column says for which share of that time somebody held (below) or waited (above it).

// Sums a span into shares[pixel]; the loop runs over pixels only when the span is wider than one.
function addShare(shares, left, right, width) {
  if (right <= 0 || left >= width) return;
  left = Math.max(0, left);
  right = Math.min(width, right);
  const first = Math.floor(left), last = Math.floor(right);
  if (first === last) { shares[first] += right - left; return; }
  shares[first] += first + 1 - left;
  for (let x = first + 1; x < last; ++x) shares[x] += 1;
  shares[last] += right - last;
}

function paintShares(brush, y, h, full) {
  const {c, theme, width, shares: [held, waited]} = brush;
  const unit = h / full;
  c.fillStyle = theme.wait;
  for (let x = 0; x < width; ++x) {
    if (waited[x] > 0) {
      const below = Math.min(h, held[x] * unit), tall = Math.min(h - below, Math.max(0.75, waited[x] * unit));
      c.fillRect(x, y + h - below - tall, 1, tall);
    }
  }
  c.fillStyle = theme.hold;
  for (let x = 0; x < width; ++x) {
    if (held[x] > 0) {
      const tall = Math.min(h, Math.max(0.75, held[x] * unit));
      c.fillRect(x, y + h - tall, 1, tall);
    }
  }
  held.fill(0);
  waited.fill(0);
}

// [first, last) of a thread's sections that may be in view: they follow one another, so one search finds each end.
function inView(series, thread, from, to) {
  const first = lowerBound(i => series.start[i], thread.first, thread.last, from);
  return [Math.max(thread.first, first - 2), lowerBound(i => series.start[i], thread.first, thread.last, to)];
}

function paintThread(brush, series, lane) {
  const {theme, width} = brush, {start, got, end, fate} = series, {y, h} = lane;
  const [first, last] = inView(series, lane.thread, brush.from, brush.to);
  const [held, waited] = brush.shares;
  const refused = [];
  for (let i = first; i < last; ++i) {
    const a = brush.x(start[i]), b = brush.x(got[i]), e = brush.x(end[i]);
    addShare(waited, a, b, width);
    if (e - b < 1.5) addShare(held, b, e, width);
    if (fate[i] === FAILED) refused.push(b);
  }
  paintShares(brush, y, h, 1);
  for (let i = first; i < last; ++i) {
    if (fate[i] !== GRANTED || brush.x(end[i]) - brush.x(got[i]) < 1.5) continue;
    if (!brush.band(got[i], end[i], y, h, theme.hold)) continue;
    if (h >= 12) brush.words(series.columns.names[series.columns.name[i]], got[i], end[i], y, h, theme.panel);
  }
  paintTicks(brush, refused, y, h);
}

function paintTicks(brush, places, y, h) {
  let last = -9;
  brush.c.fillStyle = brush.theme.fail;
  for (const x of places) {
    if (x - last < 2) continue;
    brush.c.fillRect(x - 1, y, 2, h);
    last = x;
  }
}

function paintGroup(brush, series, lane) {
  const {width} = brush, {start, got, end, fate, threads} = series;
  const [held, waited] = brush.shares, refused = [];
  for (let thread = lane.group.first; thread < lane.group.last; ++thread) {
    const [first, last] = inView(series, threads[thread], brush.from, brush.to);
    for (let i = first; i < last; ++i) {
      addShare(waited, brush.x(start[i]), brush.x(got[i]), width);
      addShare(held, brush.x(got[i]), brush.x(end[i]), width);
      if (fate[i] === FAILED) refused.push(brush.x(got[i]));
    }
  }
  paintShares(brush, lane.y, lane.h, Math.max(1, lane.group.last - lane.group.first));
  paintTicks(brush, refused.sort((a, b) => a - b), lane.y + lane.h - 4, 4);
}

// [y, height] of a section in its lane: of a lock's lane its own row, else all of it.
function partOf(series, lane, section) {
  if (lane.kind !== "lock" || lane.claims.depth === 1) return [lane.y, lane.h];
  const row = lane.h / lane.claims.depth;
  return [lane.y + series.row[section] * row, row - 1];
}

function nameClaim(brush, series, i, y, h) {
  if (h < 9) return;
  const name = `${series.threads[series.thread[i]].name} #${series.id[i]}`;
  brush.words(name, series.got[i], series.end[i], y, h, brush.theme.panel, 34);
}

// Claims of one lock; alternating strength shows where one ends and the next begins.
function paintLock(brush, series, lane) {
  const {theme, width} = brush, {got, end} = series, {sections, depth} = lane.claims;
  const row = lane.h / depth, [held] = brush.shares;
  const first = Math.max(0, lowerBound(place => got[sections[place]], 0, sections.length, brush.from) - 4);
  const last = lowerBound(place => got[sections[place]], first, sections.length, brush.to);
  for (let place = first; place < last; ++place) {
    const i = sections[place];
    if (brush.x(end[i]) - brush.x(got[i]) < 1.5) addShare(held, brush.x(got[i]), brush.x(end[i]), width);
  }
  paintShares(brush, lane.y, row, 1);
  for (let place = first; place < last; ++place) {
    const i = sections[place], wide = brush.x(end[i]) - brush.x(got[i]);
    if (wide < 1.5) continue;
    const [y, h] = partOf(series, lane, i);
    if (!brush.band(got[i], wide > 4 ? end[i] - 1 / brush.scale : end[i], y, h, theme.hold)) continue;
    nameClaim(brush, series, i, y, h);
  }
}
