// Draws each set into its place, and again when the window has another width.

const results = JSON.parse(document.getElementById("results").textContent);

function drawAll() {
  for (const place of document.querySelectorAll(".charts")) {
    const name = place.dataset.set, selected = d3.select(place);
    selected.selectAll("*").remove();
    if (DRAWINGS[name]) DRAWINGS[name](selected, results.sets[name]);
  }
  document.documentElement.dataset.ready = "yes";
}

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  drawAll();
});
drawAll();
