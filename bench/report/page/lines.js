// Lines over an axis: latency over nodes, locks per second over workers, waits as distributions. Points that are missing
// break a line; a single point is still a dot.

const HEIGHT = 260, MARGIN = {left: 62, right: 16, top: 10, bottom: 34};

// chart: {title, hint, x: {label, log, ticks, write}, y: {label, log, write, zero}, series: [{member, thin, points: [[x, y]]}]}
function drawLines(place, chart) {
  const figure = frame(place, chart.title, chart.hint), width = figure.node().clientWidth - 28;
  const there = ([x, y]) => onAxis(chart.x, x) && onAxis(chart.y, y);
  const all = d3.merge(chart.series.map(one => one.points)).filter(there);
  if (all.length === 0) return figure.append("p").text("Nothing was measured.");
  const svg = figure.append("svg").attr("height", HEIGHT).attr("viewBox", `0 0 ${width} ${HEIGHT}`)
    .attr("role", "img").attr("aria-label", chart.title);
  const x = scale(chart.x, all.map(point => point[0])).range([MARGIN.left, width - MARGIN.right]);
  const y = scale(chart.y, all.map(point => point[1])).range([HEIGHT - MARGIN.bottom, MARGIN.top]);
  axes(svg, chart, x, y, width);
  const line = d3.line().defined(there).x(point => x(point[0])).y(point => y(point[1]));
  for (const one of chart.series) {
    const stroke = one.member.bound ? null : colour(one.member);
    svg.append("path").attr("class", `line${one.member.bound ? ` bound ${one.member.name}` : ""}${one.thin ? " thin" : ""}`).style("stroke", stroke)
      .attr("d", line(one.points));
    const dots = svg.append("g").selectAll("path").data(one.points.filter(there)).enter().append("path")
      .attr("transform", point => `translate(${x(point[0])},${y(point[1])})`).call(dot, one.member, one.thin ? 14 : 40);
    tell(dots, point => `${one.member.title}${one.what ? `, ${one.what}` : ""}\n${chart.x.write(point[0])}: ${chart.y.write(point[1])}`);
  }
  legend(figure, d3.values(d3.nest().key(one => one.member.name).object(chart.series)).map(some => some[0].member));
}

// Nothing that failed throughout has a place on a logarithmic axis.
function onAxis({log}, value) {
  return value !== null && (!log || value > 0);
}

function scale({log, zero, within}, values) {
  const [least, most] = within || d3.extent(values);
  if (log) return d3.scaleLog().domain([least / 1.15, most * 1.15]).clamp(true);
  return d3.scaleLinear().domain([zero ? 0 : least, most * (within ? 1 : 1.05)]);
}

function axes(svg, chart, x, y, width) {
  const ticks = (axis, of) => of.ticks || (of.log ? decades(axis.domain()) : axis.ticks(6));
  const down = svg.append("g").attr("class", "axis").selectAll("g").data(ticks(y, chart.y)).enter().append("g")
    .attr("transform", tick => `translate(0,${y(tick)})`);
  down.append("line").attr("class", "grid").attr("x1", MARGIN.left).attr("x2", width - MARGIN.right);
  down.append("text").attr("x", MARGIN.left - 6).attr("dy", "0.32em").attr("text-anchor", "end").text(chart.y.write);
  const along = svg.append("g").attr("class", "axis").selectAll("g").data(ticks(x, chart.x)).enter().append("g")
    .attr("transform", tick => `translate(${x(tick)},${HEIGHT - MARGIN.bottom})`);
  along.append("line").attr("y2", 4);
  along.append("text").attr("y", 15).attr("text-anchor", "middle").text(chart.x.write);
  svg.append("text").attr("class", "mild").attr("x", width - MARGIN.right).attr("y", HEIGHT - 4).attr("text-anchor", "end")
    .text(chart.x.label);
}
