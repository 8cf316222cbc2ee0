// The keys of the page: one list, from which the handler and the dialog with all keys follow.
const isIn = (node) => node.contains(document.activeElement);
const isTyping = () => document.activeElement?.matches("input:not([type=checkbox]), select");
const focusedTrack = () => charts.find((chart) => chart.canvas === document.activeElement)?.track;
const keysOfPage = [
  ["← →", "move the view", { ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15) }],
  ["+ −", "zoom in and out", { "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6) }],
  ["0", "the whole run", { 0: () => show(0, total), Home: () => show(0, total) }],
  ["/", "search records", { "/": () => { search.words.focus(); search.words.select(); } }],
  ["l", "the table of records", { l: () => grid.focus() }],
  ["t", "the timeline", { t: () => timeline.querySelector("canvas[tabindex]").focus() }],
  ["Esc", "close what is open", { Escape: hideTip }],
  ["?", "these keys", { "?": () => showKeys() }],
];
const keysOfTimeline = [
  ["↑ ↓", "row above, row below", { ArrowUp: () => focusRow(-1), ArrowDown: () => focusRow(1) }],
  ["n p", "next and previous record of the row", { n: () => stepRecord(1), p: () => stepRecord(-1) }],
];
const keysOfTable = [
  ["↑ ↓", "record above, record below", { ArrowUp: () => activate(found.active - 1), ArrowDown: () => activate(found.active + 1) }],
  ["Page ↑ ↓", "a page up, a page down", { PageUp: () => activate(found.active - ROWS), PageDown: () => activate(found.active + ROWS) }],
  ["Home End", "first and last record", { Home: () => activate(0), End: () => activate(found.records.length - 1) }],
  ["Enter", "show the record in the timeline", { Enter: () => showRecord() }],
];
const keysOfSearch = [
  ["Enter", "next record found", { Enter: () => goToMatch(1) }],
  ["Shift Enter", "previous record found", { "Shift Enter": () => goToMatch(-1) }],
  ["Esc", "leave the search", { Escape: () => grid.focus() }],
];
const keyGroups = [
  ["Everywhere", keysOfPage, () => !isTyping()],
  ["In the timeline", keysOfTimeline, () => isIn(timeline)],
  ["In the table of records", keysOfTable, () => document.activeElement === grid],
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
document.getElementById("all").addEventListener("click", () => show(0, total));
document.getElementById("help").addEventListener("click", showKeys);
