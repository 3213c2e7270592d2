// How figures are written: the same everywhere on the page, and as the tables (words.py) write them.

const NARROW = "\u202f";  // a space at which no line breaks

function duration(us) {
  if (!Number.isFinite(us)) return "–";
  if (us >= 59999500) {
    const whole = Math.round(us / 1e6), hours = Math.floor(whole / 3600), minutes = Math.floor(whole % 3600 / 60);
    return hours ? `${hours}${NARROW}h ${minutes}${NARROW}min` : `${minutes}${NARROW}min ${whole % 60}${NARROW}s`;
  }
  if (us < 999.5) return `${Number(us.toPrecision(3))}${NARROW}µs`;
  if (us < 999500) return `${Number((us / 1e3).toPrecision(3))}${NARROW}ms`;
  return `${Number((us / 1e6).toPrecision(3))}${NARROW}s`;
}

// A moment, with as many digits as tell it from its neighbour `step` microseconds away.
function moment(us, step = 1000) {
  const digits = Math.max(0, Math.min(6, Math.ceil(6 - Math.log10(Math.max(1, step)))));
  return `${(us / 1e6).toFixed(digits)}${NARROW}s`;
}

function grouped(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, NARROW);
}

function times(n, one, many) {
  return `${grouped(n)} ${n === 1 ? one : many || one + "s"}`;
}

function howMany(violations) {
  const stalls = violations.filter(one => one.kind === "stall").length, broken = violations.length - stalls;
  return [broken && times(broken, "violation"), stalls && times(stalls, "stall")].filter(Boolean).join(" and ");
}

function inWords(kind) {
  return kind.replace(/[_-]/g, " ") || "unnamed";
}
