"""The look of the page, and the little program that draws its figures."""

from typing import Final

__all__ = ["CSS", "SCRIPT"]

CSS: Final = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  color: #222; background: #fff; margin: 0 auto; padding: 1.2rem; max-width: 70rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid #999; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
h1, h2, h3, p, li { overflow-wrap: anywhere; }
.answer { font-size: 1.15rem; border-left: .3rem solid #222; padding: .2rem .8rem; }
.note { color: #444; font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; min-width: 60%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0;
  border-bottom: 1px solid #ccc; }
thead th, thead td { border-bottom: 2px solid #222; font-weight: 600; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; }
.n, .s { white-space: nowrap; }
.plot { width: 100%; min-height: 12rem; }
.legend { list-style: none; padding: 0; margin: .3rem 0; display: flex; flex-wrap: wrap;
  gap: .1rem 1.2rem; font-size: .9rem; }
.legend label { display: inline-flex; align-items: center; gap: .35rem; cursor: pointer; }
.legend svg { flex: none; }
select, button { font: inherit; padding: .15rem .4rem; max-width: 100%; }
[hidden] { display: none; }
@media print {
  body { max-width: none; padding: 0; font-size: 11pt; }
  .controls, .modebar, .legend input { display: none !important; }
  .plot, table, .answer { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .wide { overflow: visible; }
  table { font-size: 8.5pt; }
  .n, .s { white-space: normal; }
}
"""

SCRIPT: Final = """
"use strict";
const quiet = {responsive: true, displaylogo: false, modeBarButtons: [
  ["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]]};
function draw(plot) {
  const figure = JSON.parse(document.getElementById(plot.id + "-figure").textContent);
  return Plotly.newPlot(plot, figure.data, figure.layout, quiet);
}
// A figure that is not seen has no width yet, so it is drawn when it is.
function show(root) {
  const todo = [...root.querySelectorAll(".plot")].filter(
    (plot) => !plot.dataset.drawn && plot.offsetParent !== null);
  for (const plot of todo) plot.dataset.drawn = "yes";
  return Promise.all(todo.map(draw));
}
const choice = document.getElementById("size");
function choose() {
  for (const run of document.querySelectorAll(".run")) run.hidden = run.id !== choice.value;
  return show(document);
}
if (choice) choice.addEventListener("change", choose);
for (const box of document.querySelectorAll(".legend input"))
  box.addEventListener("change", () => Plotly.restyle(
    box.closest("ul").dataset.for, {visible: box.checked}, [Number(box.dataset.trace)]));
// Paper is narrower than the window, and figures do not notice by themselves.
function fit(look) {
  for (const plot of document.querySelectorAll(".plot[data-drawn]"))
    if (plot.offsetParent !== null) Plotly.relayout(plot, look);
}
window.addEventListener("beforeprint", () => fit({autosize: false, width: 670}));
window.addEventListener("afterprint", () => fit({autosize: true, width: null}));
(choice ? choose() : show(document)).then(() => { document.body.dataset.ready = "yes"; });
"""
