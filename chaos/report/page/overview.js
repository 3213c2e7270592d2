// The whole series in a strip above the drawing: faults, grants over time, violations, and a frame around what is in
// view, which can be drawn, moved and stretched.

const OVERVIEW_HEIGHT = 34;

class Overview {
  constructor(parent, series, zoom, picked) {
    this.series = series;
    this.zoom = zoom;
    this.canvas = parent.append("canvas").attr("aria-hidden", "true").node();
    this.svg = parent.append("svg").attr("height", OVERVIEW_HEIGHT).attr("aria-hidden", "true");
    this.frame = d3.brushX().on("brush end", () => {
      if (!d3.event.sourceEvent || this.moving) return;  // we moved it ourselves
      if (d3.event.selection) picked(...d3.event.selection.map(x => this.scale.invert(x)));
      else if (d3.event.type === "end") this.centre(d3.event.sourceEvent, picked);
    });
    this.group = this.svg.append("g");
  }

  // A click without a drag takes the view there.
  centre(event, picked) {
    const touch = event.changedTouches ? event.changedTouches[0] : event;
    if (touch.clientX === undefined) return;
    const t = this.scale.invert(touch.clientX - this.svg.node().getBoundingClientRect().left);
    const half = (this.zoom.to - this.zoom.from) / 2;
    picked(t - half, t + half);
  }

  resize(width, theme) {
    this.width = width;
    this.scale = d3.scaleLinear().domain([-this.zoom.edge, this.zoom.span + this.zoom.edge]).range([0, width]);
    this.svg.attr("width", width);
    this.frame.extent([[0, 0], [width, OVERVIEW_HEIGHT]]);
    this.group.call(this.frame);
    this.paint(theme);
    this.follow();
  }

  follow() {
    let [left, right] = [this.scale(this.zoom.from), this.scale(this.zoom.to)];
    if (right - left < 3) [left, right] = [(left + right) / 2 - 1.5, (left + right) / 2 + 1.5];
    this.moving = true;
    this.group.call(this.frame.move, [Math.max(0, left), Math.min(this.width, right)]);
    this.moving = false;
  }

  paint(theme) {
    const {series, width, zoom} = this, h = OVERVIEW_HEIGHT, c = sized(this.canvas, width, h);
    const brush = new Brush(c, theme, width, -zoom.edge, zoom.span + zoom.edge);
    const counts = new Float32Array(width + 1);
    for (let i = 0; i < series.n; ++i) {
      if (series.fate[i] === GRANTED) ++counts[Math.max(0, Math.min(width, Math.floor(brush.x(series.got[i]))))];
    }
    const most = d3.max(counts) || 1;
    for (const fault of series.faults) {
      c.globalAlpha = 0.3;
      brush.band(fault.from, fault.to, 0, h, theme.fault, 2);
    }
    c.globalAlpha = 0.75;
    c.fillStyle = theme.hold;
    for (let x = 0; x < width; ++x) if (counts[x]) c.fillRect(x, h - Math.max(1, (h - 8) * counts[x] / most), 1, h);
    c.globalAlpha = 1;
    for (const violation of series.violationsByLength) {
      const style = violation.kind === "stall" ? theme.hatch.stall : theme.violation;
      brush.band(violation.from, violation.to, 0, h, style, 2);
    }
  }
}

// Fits a canvas to its place on screens of any density; gives its context, in CSS pixels.
function sized(canvas, width, height) {
  const density = Math.min(window.devicePixelRatio || 1, 16000 / Math.max(width, height, 1));
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const c = canvas.getContext("2d");
  c.setTransform(density, 0, 0, density, 0, 0);
  c.textBaseline = "middle";
  return c;
}
