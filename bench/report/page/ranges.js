// A row for each client: from the median over what 95 % stay below to what 99 % do, on a logarithmic axis, with the bounds of
// the same run as dashed lines through all rows.

// Names stand before their rows, or above them where there is no room.
function rowsIn(width, left) {
  return width < 480 ? {row: 36, left: 8, above: true} : {row: 24, left, above: false};
}

function named(svg, data, room, top) {
  const rows = svg.append("g").selectAll("g").data(data).enter().append("g").attr("class", "range")
    .attr("transform", (row, i) => `translate(0,${top + (i + (room.above ? 0.7 : 0.5)) * room.row})`);
  rows.append("text").attr("x", room.above ? room.left : room.left - 8).attr("y", room.above ? -16 : 0).attr("dy", "0.32em")
    .attr("text-anchor", room.above ? "start" : "end").text(row => row.member.title);
  return rows;
}

// chart: {title, hint, rows: [{member, of: {p50, p95, p99, n}, beside}], bounds: [{title, value}]}
function drawRanges(place, chart) {
  const figure = frame(place, chart.title, chart.hint), width = figure.node().clientWidth - 28;
  if (!chart.rows.length) return figure.append("p").text("Nothing was measured.");
  const room = rowsIn(width, 190), right = 62, top = 20, height = top + chart.rows.length * room.row + 30, left = room.left;
  const svg = figure.append("svg").attr("height", height).attr("viewBox", `0 0 ${width} ${height}`)
    .attr("role", "img").attr("aria-label", chart.title);
  const values = d3.merge([...chart.rows.map(row => [row.of.p50, row.of.p99]), chart.bounds.map(bound => bound.value)]);
  const x = d3.scaleLog().domain([d3.min(values) / 1.15, d3.max(values) * 1.15]).range([left, width - right]);
  const along = svg.append("g").attr("class", "axis").selectAll("g").data(decades(x.domain())).enter().append("g")
    .attr("transform", tick => `translate(${x(tick)},0)`);
  along.append("line").attr("class", "grid").attr("y1", top).attr("y2", height - 22);
  along.append("text").attr("y", height - 8).attr("text-anchor", "middle").text(duration);
  // The least one's word stands to its left, those of the others to their right: bounds may lie close together.
  const least = d3.min(chart.bounds, bound => bound.value);
  for (const bound of chart.bounds) {
    svg.append("line").attr("class", "line bound").attr("x1", x(bound.value)).attr("x2", x(bound.value)).attr("y1", top - 4).attr("y2", height - 22);
    svg.append("text").attr("class", "mild").attr("x", x(bound.value)).attr("y", top - 8)
      .attr("text-anchor", chart.bounds.length > 1 && bound.value === least ? "end" : "start").text(bound.title);
  }
  const rows = named(svg, chart.rows, room, top);
  rows.append("rect").attr("x", row => x(row.of.p50)).attr("width", row => Math.max(1, x(row.of.p99) - x(row.of.p50))).attr("y", -2)
    .attr("height", 4).style("fill", row => colour(row.member)).style("opacity", 0.35);
  rows.append("rect").attr("x", row => x(row.of.p50)).attr("width", row => Math.max(1, x(row.of.p95) - x(row.of.p50))).attr("y", -4)
    .attr("height", 8).style("fill", row => colour(row.member)).style("opacity", 0.55);
  rows.append("circle").attr("cx", row => x(row.of.p50)).attr("r", 5).style("fill", row => colour(row.member));
  rows.append("text").attr("class", "mild").attr("x", width).attr("dy", "0.32em").attr("text-anchor", "end").text(row => row.beside);
  tell(rows, row => `${row.member.title}\nmedian ${duration(row.of.p50)}, 95 % below ${duration(row.of.p95)}, 99 % below ` +
    `${duration(row.of.p99)}\n${grouped(row.of.n)} measured; ${row.beside} the floor`);
}

// A bar for each step, from the left edge of a logarithmic axis of nanoseconds.
function drawBars(place, chart) {
  const figure = frame(place, chart.title, chart.hint), width = figure.node().clientWidth - 28;
  if (!chart.rows.length) return figure.append("p").text("Nothing was measured.");
  const room = rowsIn(width, 150), right = 160, height = chart.rows.length * room.row + 24, left = room.left;
  const svg = figure.append("svg").attr("height", height).attr("viewBox", `0 0 ${width} ${height}`)
    .attr("role", "img").attr("aria-label", chart.title);
  const x = d3.scaleLog().domain([1, d3.max(chart.rows, row => row.of.p50)]).range([left, width - right]).clamp(true);
  const along = svg.append("g").attr("class", "axis").selectAll("g").data(decades(x.domain())).enter().append("g")
    .attr("transform", tick => `translate(${x(tick)},0)`);
  along.append("line").attr("class", "grid").attr("y2", height - 20);
  along.append("text").attr("y", height - 6).attr("text-anchor", "middle").text(tick => `${grouped(tick)}${NARROW}ns`);
  const rows = named(svg, chart.rows, room, 0);
  rows.append("rect").attr("x", left).attr("width", row => Math.max(1, x(row.of.p50) - left)).attr("y", -6).attr("height", 12)
    .style("fill", row => colour(row.member));
  rows.append("text").attr("class", "mild").attr("x", row => x(row.of.p50) + 6).attr("dy", "0.32em")
    .text(row => `${row.of.p50 < 10 ? row.of.p50.toFixed(1) : grouped(row.of.p50)}${NARROW}ns`);
  rows.append("text").attr("class", "mild").attr("x", width).attr("dy", "0.32em").attr("text-anchor", "end").text(row => row.beside);
}
