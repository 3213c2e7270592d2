// Zoom and movement along time: wheel, drag, pinch, double click; shift and drag picks a span. D3 does the gestures; here
// is what they mean. Where zooming out is at its end D3 leaves the wheel to the page, so that nobody gets caught.

const NARROWEST = 100;  // microseconds across the whole width

class Zoom {
  constructor(stage, span, changed) {
    this.stage = d3.select(stage);
    this.edge = span * 0.01;
    this.span = span;
    this.width = 1;
    this.quiet = false;
    this.zoom = d3.zoom().filter(() => this.wanted(d3.event)).on("zoom", () => {
      const shown = d3.event.transform.rescaleX(this.base).domain();
      this.from = shown[0];
      this.to = shown[1];
      if (!this.quiet) changed();
    });
    this.stage.call(this.zoom).style("touch-action", "pan-y").style("-webkit-tap-highlight-color", null);
    stage.addEventListener("wheel", event => this.sideways(event), {passive: false});
    this.pick(stage);
    this.from = -this.edge;
    this.to = span + this.edge;
  }

  wanted(event) {
    if (event.type === "wheel") return Math.abs(event.deltaX) <= Math.abs(event.deltaY);
    if (event.type === "touchstart" && event.touches.length < 2 && this.whole()) return false;
    return !event.button && !event.shiftKey;
  }

  whole() {
    return d3.zoomTransform(this.stage.node()).k <= 1.0001;
  }

  resize(width) {
    const {from, to} = this;
    this.width = width;
    this.base = d3.scaleLinear().domain([-this.edge, this.span + this.edge]).range([0, width]);
    const most = Math.max(1, this.span * 1.02 / NARROWEST);
    this.zoom.extent([[0, 0], [width, 1]]).translateExtent([[0, 0], [width, 1]]).scaleExtent([1, most]);
    this.quiet = true;
    this.show(from, to);
    this.quiet = false;
  }

  show(from, to) {
    const whole = this.span + 2 * this.edge;
    const wide = Math.min(whole, Math.max(NARROWEST, to - from)), middle = (from + to) / 2;
    const begin = Math.max(-this.edge, Math.min(this.span + this.edge - wide, middle - wide / 2));
    const k = whole / wide;
    this.stage.call(this.zoom.transform, d3.zoomIdentity.scale(k).translate(-this.base(begin), 0));
  }

  by(factor) {
    const middle = (this.from + this.to) / 2, half = (this.to - this.from) / factor / 2;
    this.show(middle - half, middle + half);
  }

  move(share) {
    const away = (this.to - this.from) * share;
    this.show(this.from + away, this.to + away);
  }

  all() {
    this.show(-this.edge, this.span + this.edge);
  }

  sideways(event) {
    if (Math.abs(event.deltaX) <= Math.abs(event.deltaY) || this.whole()) return;
    event.preventDefault();
    this.move(event.deltaX / this.width);
  }

  pick(stage) {
    let begin = null, frame = null;
    const place = event => Math.max(0, Math.min(this.width, event.clientX - stage.getBoundingClientRect().left));
    stage.addEventListener("pointerdown", event => {
      if (!event.shiftKey || event.button) return;
      event.preventDefault();
      begin = place(event);
      frame = d3.select(stage).append("div").attr("class", "picked");
      stage.setPointerCapture(event.pointerId);
    });
    const drawn = event => [Math.min(begin, place(event)), Math.max(begin, place(event))];
    stage.addEventListener("pointermove", event => {
      if (begin === null) return;
      const [left, right] = drawn(event);
      frame.style("left", `${left}px`).style("width", `${right - left}px`);
    });
    const finish = event => {
      if (begin === null) return;
      const [left, right] = drawn(event), unit = (this.to - this.from) / this.width;
      frame.remove();
      begin = null;
      if (event.type === "pointerup" && right - left > 3) this.show(this.from + left * unit, this.from + right * unit);
    };
    stage.addEventListener("pointerup", finish);
    stage.addEventListener("pointercancel", finish);
  }
}
