// What the timeline shows: the cycles of the view, and when it is drawn.
const timeline = document.getElementById("timeline");
const charts = []; // {canvas, draw, height} of each row
const watchers = []; // called after the view or the range has changed
const least = Math.min(4, extent); // the view shows at least so many cycles
let view = [0, extent];
let range = null; // the cycles that the user has selected

function show(begin, end) {
  const size = Math.min(Math.max(end - begin, least), extent);
  const from = Math.min(Math.max(begin, 0), extent - size);
  view = [from, from + size];
  const shown = view.map((cycle) => number(Math.round(cycle)));
  document.getElementById("view").textContent = `cycles ${shown[0]} to ${shown[1]} of ${number(extent)}`;
  scheduleDrawing();
}
function zoom(factor, around = (view[0] + view[1]) / 2) {
  const size = view[1] - view[0], by = Math.min(Math.max(size * factor, least), extent) / size;
  show(around - (around - view[0]) * by, around + (view[1] - around) * by);
}
const move = (share) => {
  const by = (view[1] - view[0]) * share;
  show(view[0] + by, view[1] + by);
};
/** Show an interval with a little around it. */
const showAround = (begin, end) => show(begin - (end - begin) * 0.1 - 1, end + (end - begin) * 0.1 + 1);
/** Show an interval without zooming, if it is not in view and fits. */
function reveal(begin, end) {
  const size = view[1] - view[0];
  if (begin >= view[0] && end <= view[1]) return;
  if (end - begin > size) showAround(begin, end);
  else show((begin + end - size) / 2, (begin + end + size) / 2);
}

let isScheduled = false, settled = 0;
function scheduleFrame() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    timed("frame", () => {
      for (const chart of charts) if (chart.canvas.clientWidth) drawChart(chart);
      drawArrows();
    });
  });
}
/** Draw, and when the view has come to rest, call the watchers. */
function scheduleDrawing() {
  scheduleFrame();
  clearTimeout(settled);
  settled = setTimeout(() => { for (const watcher of watchers) watcher(); }, 120);
}

function drawChart(chart) {
  const canvas = chart.canvas, ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = chart.height;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const scale = width / (view[1] - view[0]);
  const at = (cycle) => (cycle - view[0]) * scale;
  chart.draw(pen, width, height, at);
  for (const overlay of overlays) overlay(pen, width, height, at, chart);
}
const overlays = []; // drawn on each row after it
