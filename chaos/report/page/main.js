// Starts the drawings one after the other, and follows links into them: #v-SERIES-VIOLATION and #f-SERIES-FAULT.

const timelines = [];
const tip = d3.select("#tip");

function showTip(told, x, y) {
  tip.attr("hidden", null).classed("red", Boolean(told.red)).text(null);
  tip.append("b").text(told.title);
  const rows = tip.append("dl").selectAll("div").data(told.rows).enter().append("div");
  rows.append("dt").text(row => row[0]);
  rows.append("dd").text(row => row[1]);
  const box = tip.node().getBoundingClientRect(), room = document.documentElement.clientWidth;
  const left = x + 16 + box.width > room ? x - 16 - box.width : x + 16;
  const top = y + 16 + box.height > window.innerHeight ? y - 16 - box.height : y + 16;
  tip.style("left", `${Math.max(4, Math.min(left, room - box.width - 4))}px`).style("top", `${Math.max(4, top)}px`);
}

function hideTip() {
  tip.attr("hidden", "");
}

function follow(hash) {
  const [, kind, series, place] = /^#([vf])-(\d+)-(\d+)$/.exec(hash) || [];
  const timeline = timelines[series];
  if (!timeline) return false;
  if (kind === "v") timeline.select(Number(place)); else timeline.showFault(Number(place));
  timeline.element.scrollIntoView({block: "start"});
  timeline.stage.node().focus({preventScroll: true});
  return true;
}

function listenToLinks() {
  window.addEventListener("hashchange", () => follow(location.hash));
  document.addEventListener("click", event => {  // the same link twice changes no hash
    const link = event.target.closest && event.target.closest("a.jump");
    if (link && link.getAttribute("href") === location.hash) follow(location.hash);
  });
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => timelines.forEach(timeline => timeline.restyle()));
}

async function start() {
  listenToLinks();
  for (const element of document.querySelectorAll(".timeline")) {
    const place = Number(element.dataset.series);
    element.firstChild.textContent = "Unpacking …";
    await new Promise(resolve => setTimeout(resolve));  // the page is shown and can be scrolled meanwhile
    try {
      timelines[place] = new Timeline(element, await unpack(place));
    } catch (error) {
      element.textContent = typeof DecompressionStream === "undefined"
        ? "The drawing needs a browser of 2023 or later (DecompressionStream)."
        : `The drawing failed: ${error.message}`;
      console.error(error);
    }
    if (location.hash.split("-")[1] === String(place)) follow(location.hash);
  }
  document.documentElement.dataset.ready = "yes";
}

start();
