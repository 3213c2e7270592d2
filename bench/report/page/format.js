// How figures are written: as the tables (tables.py) write them.

const NARROW = "\u202f";  // a space at which no line breaks

function duration(us) {
  if (!Number.isFinite(us)) return "–";
  if (us < 999.5) return `${Number(us.toPrecision(3))}${NARROW}µs`;
  if (us < 999500) return `${Number((us / 1e3).toPrecision(3))}${NARROW}ms`;
  return `${Number((us / 1e6).toPrecision(3))}${NARROW}s`;
}

function grouped(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, NARROW);
}

function times(ratio) {
  return Number.isFinite(ratio) ? `${ratio.toFixed(2)}${NARROW}×` : "–";
}

// Of a logarithmic axis: every decade, and 2 and 5 between them where there are few.
function decades([low, high]) {
  const ticks = [], few = Math.log10(high / low) < 2.5;
  for (let tick = Math.pow(10, Math.floor(Math.log10(low))); tick <= high * 1.001; tick *= 10) {
    for (const part of few ? [1, 2, 5] : [1]) {
      if (tick * part >= low * 0.999 && tick * part <= high * 1.001) ticks.push(tick * part);
    }
  }
  return ticks;
}

function counted(n, one, many) {
  return `${n} ${n === 1 ? one : many}`;
}
