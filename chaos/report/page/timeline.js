// One series as a drawing: the labels, the canvas, its axis, the buttons, and what keys and pointers do.

// What the swatches and signs mean; the third is a sign in place of a swatch.
const LEGEND = [
  ["hold", "holding"], ["wait", "waiting"], ["fail", "refused"], ["violation", "violation"],
  ["stall", "stall, or no quorum"],
  ["up", "node up"], ["down", "down"], ["stopped", "stopped"], ["cut", "cut off"], ["settling", "settling"],
  ["fault", "fault"], ["median", "median wait"], ["high", "99 % below"],
  ["fence", "late write, refused by its fencing number", "◆"], ["fence", "late write, taken", "◇"],
  ["text", "process killed", "✕"]];
const HINT = "Wheel, pinch or double click zooms; drag moves; shift and drag picks a span; keys: + − ← → 0, n and p for " +
  "violations. Where sections are narrower than a pixel, the height of a column is their share of the time.";

class Timeline {
  constructor(element, series) {
    this.element = element;
    this.series = series;
    this.opened = new Set();
    this.selected = -1;
    this.root = d3.select(element);
    this.root.selectAll("*").remove();
    const head = this.root.append("div").attr("class", "head");
    this.bar(head.append("div").attr("class", "bar"));
    const strip = head.append("div").attr("class", "strip");
    strip.append("div").attr("class", "corner").text("whole series");
    this.overviewPlace = strip.append("div").attr("class", "overview");
    const ruler = head.append("div").attr("class", "strip");
    ruler.append("div").attr("class", "corner").text("seconds");
    this.axis = ruler.append("svg").attr("class", "axis").attr("height", 22).attr("aria-hidden", "true");
    const body = this.root.append("div").attr("class", "body");
    this.labels = body.append("div").attr("class", "labels");
    this.stage = body.append("div").attr("class", "stage").attr("tabindex", 0).attr("role", "application")
      .attr("aria-label", `Timeline of ${series.title}. Plus and minus zoom, arrow keys move, 0 shows all, ` +
        "n and p go to the next and previous violation.");
    this.canvas = this.stage.append("canvas").node();
    this.legend();
    this.zoom = new Zoom(this.stage.node(), series.span, () => this.redraw());
    this.overview = new Overview(this.overviewPlace, series, this.zoom, (from, to) => this.zoom.show(from, to));
    this.listen();
    this.resize();
    new ResizeObserver(() => this.resize()).observe(this.stage.node());
  }

  bar(bar) {
    const button = (place, label, text, does) => place.append("button").attr("type", "button").attr("title", label)
      .attr("aria-label", label).attr("class", label.replace(/[^a-z]+/g, "-")).text(text).on("click", does);
    const zooms = bar.append("span").attr("class", "buttons");
    button(zooms, "zoom in", "+", () => this.zoom.by(2));
    button(zooms, "zoom out", "−", () => this.zoom.by(0.5));
    button(zooms, "move back", "◀", () => this.zoom.move(-0.5));
    button(zooms, "move on", "▶", () => this.zoom.move(0.5));
    button(zooms, "show all", "all", () => this.zoom.all());
    if (this.series.violations.length) {
      const steps = bar.append("span").attr("class", "buttons steps");
      button(steps, "previous violation", "‹", () => this.step(-1));
      this.counter = steps.append("span").attr("class", "counter")
        .classed("mild", this.series.violations.every(one => one.kind === "stall"));
      button(steps, "next violation", "›", () => this.step(1));
    }
    this.range = bar.append("span").attr("class", "range").attr("role", "status");
    this.detail = bar.append("p").attr("class", "detail").attr("hidden", "");
  }

  legend() {
    const items = this.root.append("ul").attr("class", "legend").selectAll("li").data(LEGEND).enter().append("li");
    items.append("i").attr("class", entry => `swatch ${entry[0]}`).text(entry => entry[2] || "");
    items.append("span").text(entry => entry[1]);
    this.root.append("p").attr("class", "hint").text(HINT);
  }

  listen() {
    const stage = this.stage.node();
    stage.addEventListener("pointermove", event => this.hover(event));
    stage.addEventListener("pointerdown", event => { if (event.pointerType !== "mouse") this.hover(event); });
    stage.addEventListener("pointerleave", hideTip);
    stage.addEventListener("click", event => this.click(event));
    this.element.addEventListener("keydown", event => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const {zoom} = this;
    const keys = {"+": () => zoom.by(2), "=": () => zoom.by(2), "-": () => zoom.by(0.5), "0": () => zoom.all(),
                  Home: () => zoom.all(), ArrowLeft: () => zoom.move(-0.2), ArrowRight: () => zoom.move(0.2),
                  n: () => this.step(1), p: () => this.step(-1), Escape: hideTip};
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }

  place(event) {
    const box = this.stage.node().getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  hover(event) {
    const [x, y] = this.place(event);
    const told = event.buttons && event.pointerType === "mouse" ? null
      : tellAt(this.brush, this.series, this.lanes, x, y, this.waits);
    if (told) showTip(told, event.clientX, event.clientY); else hideTip();
  }

  click(event) {
    if (event.defaultPrevented) return;  // the end of a drag
    const [x, y] = this.place(event), lane = this.lanes.at(y);
    if (!lane || lane.kind !== "violations") return;
    const found = nearest(this.brush, x, this.series.violations);
    if (found) this.select(this.series.violations.indexOf(found));
  }

  step(way) {
    const {violations} = this.series;
    if (!violations.length) return;
    const from = this.selected < 0 && way < 0 ? 0 : this.selected;
    this.select((from + way + violations.length) % violations.length);
  }

  select(place) {
    const violation = this.series.violations[place];
    if (!violation) return;
    this.selected = place;
    const around = Math.max(2000, (violation.to - violation.from) * 1.5);
    const during = violation.fault ? `, fault ${violation.fault}` : "";
    this.detail.attr("hidden", null).classed("mild", violation.kind === "stall")
      .text(`${violation.kind} at ${moment(violation.from, 10)}: ${wordsOfViolation(violation)}${during}`);
    this.zoom.show(violation.from - around, violation.to + around);
    this.redraw();
  }

  showFault(place) {
    const fault = this.series.faults[place];
    if (!fault) return;
    const around = Math.max(500000, (fault.to - fault.from) * 0.5);
    this.zoom.show(fault.from - around, fault.to + around);
  }

  resize() {
    const width = Math.max(120, Math.floor(this.stage.node().clientWidth));
    if (width === this.width) return;
    this.width = width;
    this.zoom.resize(width);
    this.restyle();
  }

  restyle() {
    this.theme = readTheme(this.element);
    this.layout();
    this.overview.resize(this.width, this.theme);
  }

  layout() {
    this.lanes = new Lanes(this.series, this.opened);
    const latency = this.lanes.of("latency");
    this.waits = latencyScale(this.series, latency.h);
    const rows = this.labels.style("height", `${this.lanes.height}px`).selectAll(".lane").data(this.lanes.list);
    rows.exit().remove();
    const all = rows.enter().append("div").merge(rows);
    all.attr("class", lane => `lane ${lane.kind}${lane.inner ? " inner" : ""}`)
      .attr("title", lane => lane.title || null)
      .style("top", lane => `${lane.y}px`).style("height", lane => `${lane.h}px`).text(null);
    all.filter(lane => !lane.toggles).append("span").text(lane => lane.label);
    all.filter(lane => lane.toggles).append("button").attr("type", "button").attr("aria-expanded", lane => lane.open)
      .text(lane => `${lane.open ? "▾" : "▸"} ${lane.label}`).on("click", lane => {
        if (lane.open) this.opened.delete(lane.place); else this.opened.add(lane.place);
        this.layout();
        // The button was made anew; who opened it by key goes on from there.
        this.labels.selectAll(".lane").filter(one => one.toggles && one.place === lane.place).select("button").node()
          .focus();
      });
    all.filter(lane => lane.kind === "latency").append("svg").attr("aria-hidden", "true").attr("height", latency.h)
      .append("g").call(g => this.latencyAxis(g));
    this.draw();
  }

  latencyAxis(g) {
    const axis = d3.axisLeft(this.waits).tickValues(decades(this.waits)).tickFormat(duration).tickSize(4);
    g.attr("transform", `translate(${this.labels.node().clientWidth - 1},0)`).call(axis);
  }

  redraw() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => { this.asked = 0; this.draw(); });
  }

  draw() {
    const {series, lanes, theme, width, zoom} = this;
    const c = sized(this.canvas, width, lanes.height);
    c.font = theme.font;
    const brush = this.brush = new Brush(c, theme, width, zoom.from, zoom.to);
    this.drawAxis(c);
    for (const lane of lanes.list) {
      if (lane.kind === "heading" || lane.kind === "more") continue;
      const life = lane.group || (lane.thread && series.groups[lane.thread.group]);
      if (life) brush.band(life.from, life.to, lane.y, lane.h, theme.lane, 2);  // only while the process ran
      else brush.band(brush.from, brush.to, lane.y, lane.h, theme.lane);
    }
    paintFaultShades(brush, series, lanes.height);
    for (const lane of lanes.list) this.drawLane(brush, lane);
    paintStops(brush, series, lanes);
    paintLate(brush, series, lanes);
    paintViolations(brush, series, lanes, series.violations[this.selected]);
    this.overview.scale && this.overview.follow();
    this.tell();
  }

  drawLane(brush, lane) {
    const {series, theme} = this;
    const nameOf = {scenarios: one => one.title || inWords(one.scenario), faults: one => `${one.id} ${inWords(one.kind)}`};
    if (lane.kind === "scenarios") paintBands(brush, series.scenarios, lane, theme.scenario, nameOf.scenarios);
    if (lane.kind === "faults") paintBands(brush, series.faults, lane, theme.fault, nameOf.faults);
    if (lane.kind === "node") paintNode(brush, series, lane);
    if (lane.kind === "quorum") paintQuorum(brush, series, lane);
    if (lane.kind === "latency") paintLatency(brush, series, lane, this.waits);
    if (lane.kind === "lock") paintLock(brush, series, lane);
    if (lane.kind === "group") paintGroup(brush, series, lane);
    if (lane.kind === "thread") paintThread(brush, series, lane);
  }

  drawAxis(c) {
    const scale = d3.scaleLinear().domain([this.zoom.from / 1e6, this.zoom.to / 1e6]).range([0, this.width]);
    const fine = Math.max(0, Math.ceil(-Math.log10((this.zoom.to - this.zoom.from) / 8e6)));  // digits of a label, about
    const ticks = scale.ticks(Math.max(2, Math.floor(this.width / (65 + 9 * fine))));
    const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(ticks.length > 1 ? ticks[1] - ticks[0] : 1))));
    // A label that would be cut, or run into its neighbour on the left, is left out.
    const cut = (x, label) => x < label.length * 3.5 - 5 || x > this.width - label.length * 2.5 ? "" : label;
    const axis = d3.axisTop(scale).tickValues(ticks).tickSize(5).tickFormat(t => cut(scale(t), t.toFixed(digits)));
    this.axis.attr("width", this.width).call(axis)
      .selectAll("g.tick, path.domain").attr("transform", function (t) {
        return this.nodeName === "path" ? "translate(0,21)" : `translate(${scale(t)},21)`;
      });
    c.fillStyle = this.theme.grid;
    for (const tick of ticks) c.fillRect(Math.round(scale(tick)), 0, 1, this.lanes.height);
  }

  tell() {
    const {from, to} = this.zoom, {violations} = this.series, step = (to - from) / 1000;
    const begin = Math.max(0, from), end = Math.min(this.series.span, to);
    this.range.text(`${moment(begin, step)} to ${moment(end, step)} (${duration(end - begin)} shown)`);
    if (this.counter) {
      const shown = violations.filter(one => one.to >= from && one.from <= to).length;
      this.counter.text(this.selected < 0 ? `${howMany(violations)}, ${grouped(shown)} in view`
        : `${violations[this.selected].kind}, ${this.selected + 1} of ${grouped(violations.length)}`);
    }
    Object.assign(this.element.dataset, {from: Math.round(from), to: Math.round(to), selected: this.selected});
  }
}
