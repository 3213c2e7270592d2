// Unpacks a series (packing.py wrote it) into columns of numbers that a loop can run over in a millisecond.

const UNANSWERED = 0, FAILED = 1, GRANTED = 2;
const WHY_ENDED = ["released", "its validity ended", "lost", "the process was killed"];

function bytesOf(base64) {
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function unpack(index) {
  const element = document.getElementById(`data-${index}`);
  const zipped = new Blob([bytesOf(element.textContent)]).stream();
  const text = await new Response(zipped.pipeThrough(new DecompressionStream("gzip"))).text();
  element.remove();  // the text is not needed twice
  return prepare(JSON.parse(text));
}

// Undoes the differences. A section's times: start (asked), got (answered), end (of the claim; got when there is none).
function prepare(series) {
  const columns = series.columns, n = columns.wait.length;
  series.n = n;
  for (const name of ["start", "got", "end"]) series[name] = new Float64Array(n);
  series.id = new Float64Array(n);
  series.fence = new Float64Array(n).fill(NaN);
  series.thread = new Uint32Array(n);
  series.threads = [];
  series.red = new Uint8Array(n);
  series.tokens = columns.token.split(" ");
  let i = 0, fence = 0;
  series.groups.forEach((group, place) => {
    group.first = series.threads.length;
    for (const thread of group.threads) {
      const lane = {name: thread.name, group: place, first: i, last: i + thread.count};
      let id = 0, start = 0;
      for (; i < lane.last; ++i) {
        series.id[i] = id += columns.id[i];
        series.start[i] = start += columns.wait[i];
        series.got[i] = start + columns.took[i];
        series.end[i] = series.got[i] + columns.held[i];
        if (columns.fence[i] !== null) series.fence[i] = fence += columns.fence[i];
        series.thread[i] = series.threads.length;
      }
      series.threads.push(lane);
    }
    group.last = series.threads.length;
  });
  series.fate = Uint8Array.from(columns.fate);
  series.row = new Uint8Array(n);
  series.claims = claimsByName(series);
  series.late = columns.late.map(([section, t, to, ok]) => ({section, t, to, ok: ok === 1})).sort((a, b) => a.t - b.t);
  series.violationsByLength = [...series.violations].sort((a, b) => b.to - b.from - (a.to - a.from));
  for (const bands of [series.faults, series.scenarios]) {
    bands.forEach((band, place) => { band.next = bands.slice(place + 1).find(other => other.row === band.row); });
  }
  for (const violation of series.violations) for (const section of violation.sections) series.red[section] = 1;
  return series;
}

// Per lock its claims in order of time, each with a row: a second row is used only where two claims overlap.
function claimsByName(series) {
  const byName = series.columns.names.map(() => []);
  for (let i = 0; i < series.n; ++i) if (series.fate[i] === GRANTED) byName[series.columns.name[i]].push(i);
  return byName.map((sections, name) => {
    sections.sort((a, b) => series.got[a] - series.got[b]);
    const ends = [];
    sections.forEach(section => {
      let row = ends.findIndex(end => end <= series.got[section]);
      if (row < 0) row = ends.length < 3 ? ends.length : 2;
      ends[row] = series.end[section];
      series.row[section] = row;
    });
    const shared = sections.some(section => series.thread[section] !== series.thread[sections[0]]);
    return {name: series.columns.names[name], sections, shared, depth: Math.max(1, ends.length)};
  }).filter(claims => claims.sections.length);
}

// The first place in order[first, last) whose value is not below `wanted`.
function lowerBound(valueAt, first, last, wanted) {
  while (first < last) {
    const middle = (first + last) >> 1;
    if (valueAt(middle) < wanted) first = middle + 1; else last = middle;
  }
  return first;
}
