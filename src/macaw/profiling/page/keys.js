// The keys of the page: one list, from which the handler and the dialog with all keys follow.
const isIn = (node) => node.contains(document.activeElement);
const isTyping = () => document.activeElement?.matches("input:not([type=checkbox]), select");
const focusedTrack = () => charts.find((chart) => chart.canvas === document.activeElement)?.track;
const keysOfPage = [
  ["← →", "move the view", { ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15) }],
  ["+ −", "zoom in and out", { "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6) }],
  ["0", "the whole run", { 0: () => show(0, extent), Home: () => show(0, extent) }],
  ["s", "select what is in view", { s: () => setRange(...view) }],
  ["r", "select the cycles of the chosen record", { r: () => { if (chosen >= 0) setRange(records.begin[chosen], records.end[chosen]); } }],
  ["Shift ← →", "move the end of the selected range", { "Shift ArrowLeft": () => growRange(-0.02), "Shift ArrowRight": () => growRange(0.02) }],
  ["< >", "move the selected range", { "<": () => moveRange(-0.02), ">": () => moveRange(0.02) }],
  ["z", "zoom to the selected range", { z: () => { if (range) show(...range); } }],
  ["w", "show or hide the arrows from the cores that others waited for", { w: toggleArrows }],
  ["/", "search records", { "/": () => { search.words.focus(); search.words.select(); } }],
  ["l", "the table of records", { l: () => recordGrid.container.focus() }],
  ["t", "the timeline", { t: () => timeline.querySelector("canvas[tabindex]").focus() }],
  ["c", "the source", { c: () => sourceGrid.container.focus() }],
  ["v", "the line of the chosen record in the source", { v: goToSource }],
  ["Esc", "close the tooltip, select no range", { Escape: () => { if (tip.hidden) clearRange(); else hideTip(); } }],
  ["?", "these keys", { "?": () => showKeys() }],
];
const keysOfTimeline = [
  ["↑ ↓", "row above, row below", { ArrowUp: () => focusRow(-1), ArrowDown: () => focusRow(1) }],
  ["n p", "next and previous record of the row", { n: () => stepRecord(1), p: () => stepRecord(-1) }],
  ["g b", "next and previous wait of the row", { g: () => stepWait(focusedTrack(), 1), b: () => stepWait(focusedTrack(), -1) }],
];
const keysOfGrid = (grid, what) => [
  ["↑ ↓", "the row above, the row below", { ArrowUp: () => grid.activate(grid.active - 1), ArrowDown: () => grid.activate(grid.active + 1) }],
  ["PageUp PageDown", "a page up, a page down", { PageUp: () => grid.activate(grid.active - grid.rows), PageDown: () => grid.activate(grid.active + grid.rows) }],
  ["Home End", "the first and the last row", { Home: () => grid.activate(0), End: () => grid.activate(grid.count - 1) }],
  ["Enter", what, { Enter: () => grid.open() }],
];
const keysOfSearch = [
  ["Enter", "next record found", { Enter: () => goToMatch(1) }],
  ["Shift Enter", "previous record found", { "Shift Enter": () => goToMatch(-1) }],
  ["Esc", "leave the search", { Escape: () => recordGrid.container.focus() }],
];
const keyGroups = [
  ["Everywhere", keysOfPage, () => !isTyping()],
  ["In the timeline", keysOfTimeline, () => isIn(timeline)],
  ["In the table of records", keysOfGrid(recordGrid, "show the record in the timeline"), () => document.activeElement === recordGrid.container],
  ["In the source", keysOfGrid(sourceGrid, "search for the records of the line"), () => document.activeElement === sourceGrid.container],
  ["In the search", keysOfSearch, () => document.activeElement === search.words],
];

function focusRow(step) {
  const rows = [...timeline.querySelectorAll("canvas[tabindex]")].filter((canvas) => canvas.clientWidth);
  rows[rows.indexOf(document.activeElement) + step]?.focus();
}
function stepRecord(step) {
  const track = focusedTrack(), record = track ? neighbour(track, step) : -1;
  if (record >= 0) choose(record, document.activeElement);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keyDialog.open) return;
  const key = event.shiftKey && event.key.length > 1 ? `Shift ${event.key}` : event.key;
  for (const [, rows, applies] of keyGroups.slice().reverse()) { // the page's keys come last
    const act = applies() && rows.map(([, , acts]) => acts[key]).find(Boolean);
    if (!act) continue;
    act();
    event.preventDefault();
    return;
  }
});

const keyDialog = document.getElementById("keys");
function showKeys() {
  keyDialog.querySelector("div").replaceChildren(...keyGroups.map(([title, rows]) => {
    const lines = rows.map(([shown, what]) => element("tr", "", "",
      element("td", "name", "", ...shown.split(" ").flatMap((key) => [element("kbd", "", key), " "])), element("td", "name", what)));
    return element("table", "", "", element("caption", "", title), element("tbody", "", "", ...lines));
  }));
  keyDialog.showModal();
}
document.getElementById("in").addEventListener("click", () => zoom(0.6));
document.getElementById("out").addEventListener("click", () => zoom(1 / 0.6));
document.getElementById("all").addEventListener("click", () => show(0, extent));
document.getElementById("help").addEventListener("click", showKeys);
