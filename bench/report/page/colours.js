// One colour for each client wherever it appears; bounds are grey and dashed.

const known = getComputedStyle(document.documentElement);

function colour(member) {
  const name = `--c-${member.name}`;
  return known.getPropertyValue(name).trim() ? `var(${name})` : "var(--text)";
}

function frame(place, title, hint) {
  const figure = place.append("figure").attr("class", "chart");
  const caption = figure.append("figcaption").text(title);
  if (hint) caption.append("small").text(hint);
  return figure;
}

function legend(figure, members) {
  const items = figure.append("ul").attr("class", "legend").selectAll("li").data(members).enter().append("li");
  items.append("svg").append("line").attr("x2", 22).attr("y1", 4).attr("y2", 4).attr("class", one => one.bound ? `line bound ${one.name}` : "line")
    .style("stroke", one => one.bound ? null : colour(one));
  items.append("span").text(one => one.title);
}

const tip = d3.select("#tip");

// What is told when the pointer is over a mark.
function tell(selection, text) {
  selection.on("mousemove", datum => {
    tip.attr("hidden", null).text(text(datum));
    const box = tip.node().getBoundingClientRect(), x = d3.event.clientX, y = d3.event.clientY;
    const room = document.documentElement.clientWidth;
    tip.style("left", `${Math.max(4, x + 14 + box.width > room ? x - 14 - box.width : x + 14)}px`)
      .style("top", `${Math.max(4, y + 14 + box.height > window.innerHeight ? y - 14 - box.height : y + 14)}px`);
  }).on("mouseleave", () => tip.attr("hidden", ""));
}
