// Colours and hatchings, and the strokes that all lanes share. What matters is told apart by shape or hatching too, so
// that nobody needs to see the colours.

const COLOURS = ["text", "muted", "grid", "panel", "lane", "hold", "wait", "fail", "violation", "stall", "fence", "up",
                 "replica", "stopped", "down", "cut", "settling", "fault", "scenario", "quorum", "median", "high", "focus"];
const HATCHED = {stopped: "rising", down: "crossed", cut: "falling", settling: "dotted", stall: "rising"};

function readTheme(element) {
  const style = getComputedStyle(element), theme = {hatch: {}};
  for (const name of COLOURS) theme[name] = style.getPropertyValue(`--${name}`).trim();
  theme.font = `11px ${style.fontFamily}`;
  for (const [name, shape] of Object.entries(HATCHED)) theme.hatch[name] = hatching(theme[name], theme.panel, shape);
  return theme;
}

function hatching(colour, gap, shape) {
  const tile = document.createElement("canvas"), size = 8;
  tile.width = tile.height = size;
  const c = tile.getContext("2d");
  c.fillStyle = colour;
  c.fillRect(0, 0, size, size);
  c.strokeStyle = c.fillStyle = gap;
  c.globalAlpha = 0.6;
  c.lineWidth = 1.5;
  c.beginPath();
  for (const at of [-size, 0, size]) {
    if (shape === "rising" || shape === "crossed") { c.moveTo(at - 1, size + 1); c.lineTo(at + size + 1, -1); }
    if (shape === "falling" || shape === "crossed") { c.moveTo(at - 1, -1); c.lineTo(at + size + 1, size + 1); }
  }
  c.stroke();
  if (shape === "dotted") for (const [x, y] of [[1, 1], [5, 5]]) c.fillRect(x, y, 2, 2);
  return c.createPattern(tile, "repeat");
}

// What a lane is painted with: the canvas, the span of time in view, and its width in pixels.
class Brush {
  constructor(context, theme, width, from, to) {
    this.c = context;
    this.theme = theme;
    this.width = width;
    this.from = from;
    this.to = to;
    this.scale = width / (to - from);
    this.shares = [new Float32Array(width + 2), new Float32Array(width + 2)];
  }

  x(t) { return (t - this.from) * this.scale; }

  // A band from a to b, never thinner than `least` pixels, cut to what is in view; false when none of it is.
  band(a, b, y, h, style, least = 1) {
    let left = this.x(a), right = this.x(b);
    if (right - left < least) {
      const middle = (left + right) / 2;
      left = middle - least / 2;
      right = middle + least / 2;
    }
    if (right < 0 || left > this.width) return false;
    left = Math.max(-2, left);
    this.c.fillStyle = style;
    this.c.fillRect(left, y, Math.min(this.width + 2, right) - left, h);
    return true;
  }

  // Words inside a band, where they fit at all; cut with … where they do not fit whole.
  words(text, a, b, y, h, style = this.theme.text, least = 24) {
    const left = Math.max(2, this.x(a) + 4), room = Math.min(this.width - 2, this.x(b) - 3) - left;
    if (room < least) return 0;
    let shown = text;
    const whole = this.c.measureText(text).width;
    if (whole > room) {
      shown = text.slice(0, Math.floor(text.length * (room - 8) / whole));
      if (shown.length < 3) return 0;
      shown += "…";
    }
    this.c.fillStyle = style;
    this.c.fillText(shown, left, y + h / 2 + 0.5);
    return this.c.measureText(shown).width;
  }

  line(t, y, h, style, width = 1) {
    const x = this.x(t);
    if (x < -width || x > this.width + width) return;
    this.c.fillStyle = style;
    this.c.fillRect(x - width / 2, y, width, h);
  }

  diamond(t, y, size, style, hollow) {
    const x = this.x(t), c = this.c;
    if (x < -size || x > this.width + size) return;
    c.beginPath();
    c.moveTo(x, y - size);
    c.lineTo(x + size, y);
    c.lineTo(x, y + size);
    c.lineTo(x - size, y);
    c.closePath();
    c.fillStyle = hollow ? this.theme.panel : style;
    c.strokeStyle = style;
    c.lineWidth = 1.5;
    c.fill();
    c.stroke();
  }

  cross(t, y, size, style) {
    const x = this.x(t), c = this.c;
    if (x < -size || x > this.width + size) return;
    c.beginPath();
    c.moveTo(x - size, y - size);
    c.lineTo(x + size, y + size);
    c.moveTo(x + size, y - size);
    c.lineTo(x - size, y + size);
    c.strokeStyle = style;
    c.lineWidth = 2.5;
    c.stroke();
  }
}
