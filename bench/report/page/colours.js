// One colour and one shape of dot for each client wherever it appears; bounds are grey and dashed.

const known = getComputedStyle(document.documentElement);

function colour(member) {
  const name = `--c-${member.name}`;
  return known.getPropertyValue(name).trim() ? `var(${name})` : "var(--text)";
}

// Nobody has to tell colours apart: no two clients of a drawing have the same dots. Those of the clients from npm are hollow.
const SHAPES = {callbacks: d3.symbolCircle, coroutine: d3.symbolSquare, blocking: d3.symbolTriangle, guarded: d3.symbolDiamond,
  fenced: d3.symbolStar, both: d3.symbolWye, bare: d3.symbolCross, floor: d3.symbolCross, "npm-redlock": d3.symbolCircle,
  "npm-redlock-5": d3.symbolSquare, "npm-universal": d3.symbolTriangle};

function dot(selection, member, size) {
  const own = member.bound ? "var(--bound)" : colour(member), hollow = member.name.startsWith("npm-");
  selection.attr("class", "dot").attr("d", d3.symbol().type(!member.bound && SHAPES[member.name] || d3.symbolCircle).size(size))
    .style("fill", hollow ? "var(--panel)" : own).style("stroke", own);
}

function frame(place, title, hint) {
  const figure = place.append("figure").attr("class", "chart");
  const caption = figure.append("figcaption").text(title);
  if (hint) caption.append("small").text(hint);
  return figure;
}

function legend(figure, members) {
  const items = figure.append("ul").attr("class", "legend").selectAll("li").data(members).enter().append("li");
  const signs = items.append("svg");
  signs.append("line").attr("x2", 22).attr("y1", 6).attr("y2", 6).attr("class", one => one.bound ? `line bound ${one.name}` : "line")
    .style("stroke", one => one.bound ? null : colour(one));
  signs.filter(one => !one.bound).append("path").attr("transform", "translate(11,6)").each(function (one) { d3.select(this).call(dot, one, 40); });
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
