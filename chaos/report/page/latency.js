// Wait times over time: each request a dot, thick where there are many, with the median and what 99 % stay below. The
// axis is logarithmic, since a healthy wait is a thousandth of one through a fault, and both must be seen.

const CELL = 2, BIN = 6;  // pixels of a cell; cells of one bin of the lines
const FEW = 600;          // so many dots have room to be large

function latencyScale(series, height) {
  let least = Infinity, most = 1;
  for (let i = 0; i < series.n; ++i) {
    const wait = series.got[i] - series.start[i];
    if (wait > 0 && wait < least) least = wait;
    if (wait > most) most = wait;
  }
  const low = Math.max(1, Math.pow(10, Math.floor(Math.log10(Math.min(least, most)))));
  const high = Math.max(low * 10, Math.pow(10, Math.ceil(Math.log10(most * 1.05))));
  return d3.scaleLog().domain([low, high]).range([height - 7, 7]).clamp(true);
}

function countCells(brush, series, lane, y) {
  const columns = Math.ceil(brush.width / CELL) + 1, rows = Math.ceil(lane.h / CELL) + 1;
  const granted = new Uint16Array(columns * rows), refused = new Uint16Array(columns * rows);
  const {start, got, fate} = series;
  let count = 0;
  for (const thread of series.threads) {
    const [first, last] = inView(series, thread, brush.from, brush.to);
    for (let i = first; i < last; ++i) {
      const x = brush.x(start[i]);
      if (x < 0 || x >= brush.width || fate[i] === UNANSWERED) continue;
      const cell = Math.floor(x / CELL) * rows + Math.floor(y(Math.max(1, got[i] - start[i])) / CELL);
      const cells = fate[i] === GRANTED ? granted : refused;
      ++count;
      if (cells[cell] < 65535) ++cells[cell];
    }
  }
  return {columns, rows, granted, refused, count};
}

function paintCells(brush, lane, cells, {columns, rows, count: all}, style, least) {
  const size = all < FEW ? 5 : CELL, shift = (CELL - size) / 2;
  brush.c.fillStyle = style;
  for (let strength = 0; strength < 4; ++strength) {  // one pass per strength: changing the alpha costs more than a dot
    brush.c.globalAlpha = Math.min(1, least + strength * 0.2);
    for (let x = 0; x < columns; ++x) {
      for (let y = 0; y < rows; ++y) {
        const count = cells[x * rows + y];
        if (count && Math.min(3, 31 - Math.clz32(count)) === strength) {
          brush.c.fillRect(x * CELL + shift, lane.y + y * CELL + shift, size, size);
        }
      }
    }
  }
  brush.c.globalAlpha = 1;
}

// Quantiles of granted requests straight from the cells: as exact as the eye is.
function quantileLine(cells, {columns, rows}, share) {
  const points = [];
  for (let left = 0; left < columns; left += BIN) {
    const sums = new Uint32Array(rows);
    let total = 0;
    for (let x = left; x < Math.min(columns, left + BIN); ++x) {
      for (let y = 0; y < rows; ++y) { sums[y] += cells[x * rows + y]; total += cells[x * rows + y]; }
    }
    let y = rows - 1;
    for (let seen = 0; total && y >= 0; --y) { seen += sums[y]; if (seen >= share * total) break; }
    points.push(total ? [(left + BIN / 2) * CELL, y * CELL] : null);
  }
  return points;
}

function paintLatency(brush, series, lane, y) {
  const {c, theme} = brush;
  c.strokeStyle = theme.grid;
  c.lineWidth = 1;
  for (const tick of decades(y)) {
    c.beginPath();
    c.moveTo(0, lane.y + Math.round(y(tick)) + 0.5);
    c.lineTo(brush.width, lane.y + Math.round(y(tick)) + 0.5);
    c.stroke();
  }
  const cells = countCells(brush, series, lane, y);
  paintCells(brush, lane, cells.granted, cells, theme.hold, 0.35);
  paintCells(brush, lane, cells.refused, cells, theme.fail, 0.7);
  const line = d3.line().defined(point => point !== null).x(point => point[0]).y(point => lane.y + point[1]).context(c);
  for (const [share, style, dash] of [[0.5, theme.median, []], [0.99, theme.high, [5, 3]]]) {
    const points = quantileLine(cells.granted, cells, share);
    for (const [width, colour] of [[4, theme.lane], [2, style]]) {  // a rim keeps the line legible on its own dots
      c.beginPath();
      line(points);
      c.setLineDash(width === 2 ? dash : []);
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.stroke();
    }
  }
  c.setLineDash([]);
}

function decades(y) {
  const [low, high] = y.domain(), ticks = [];
  for (let tick = low; tick <= high * 1.0001; tick *= 10) ticks.push(tick);
  return ticks;
}
