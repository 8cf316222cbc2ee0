// The table of all records: search, filter and order. Only the rows in view are elements.
const ROW = 25, ROWS = 16, TALLEST = 8e6; // pixels of a row; rows in view; pixels of an element at most
const COLUMNS = [["core", "core", true], ["where", "instructions", true], ["begin", "begin"], ["cycles", "cycles"], ["waited", "waited"],
  ...data.keys.map((key) => [key, key.replaceAll("_", " ")])];
const found = { order: ["begin", false], records: inTime, mask: null, first: 0, active: 0, begins: [] };
const search = Object.fromEntries(["words", "track", "least", "inside", "missed"].map((name) => [name, document.getElementById(`search-${name}`)]));
const grid = document.getElementById("grid"), space = document.getElementById("grid-space"), gridTable = document.getElementById("grid-table");
const gridHead = element("tr"), gridBody = element("tbody");

function addTable() {
  for (const track of data.tracks) search.track.append(element("option", "", track.core));
  gridHead.setAttribute("role", "row");
  for (const [name, title, isText] of COLUMNS) {
    const head = element("th", isText ? "name" : "", "", button(title, () => sortTable(name), `sort by ${title}`));
    head.scope = "col";
    head.dataset.column = name;
    gridHead.append(head);
  }
  gridTable.append(element("thead", "", "", gridHead), gridBody);
  gridTable.setAttribute("aria-colcount", COLUMNS.length);
  grid.style.height = `${ROW * (ROWS + 1) + 4}px`;
  grid.addEventListener("scroll", () => { scrollToView(); });
  for (const input of Object.values(search)) input.addEventListener("input", searchAgain);
  gridBody.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) { activate(Number(row.dataset.place)); showRecord(); }
  });
  searchAgain();
}

// ------------------------------------------------------------ search and order

function criteria() {
  const [begin, end] = search.inside.checked ? range ?? view : [null, null];
  return { words: search.words.value.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS), track: search.track.value,
    least: Number(search.least.value) || 0, begin, end, missed: search.missed.checked };
}
const isSearching = () => Boolean(found.mask);

function searchAgain() {
  timed("search", () => {
    const wanted = criteria();
    const isAll = !wanted.words.length && wanted.track === "" && !wanted.least && wanted.begin === null && !wanted.missed;
    const result = isAll ? { mask: null, count: records.count } : matching(wanted);
    found.mask = result.mask;
    found.count = result.count;
    noteBegins();
    arrange();
  });
  document.getElementById("matches").textContent = isSearching() ? `${number(found.count)} of ${plural(records.count, "record")}` : plural(records.count, "record");
  scheduleDrawing();
}
/** Keep the begins of the records that a search found, by track, for marks in the timeline. */
function noteBegins() {
  found.begins = data.tracks.map((track) => {
    if (!isSearching()) return null;
    const all = members[track.place], begins = new Cycles(all.length);
    let count = 0;
    for (const record of all) if (found.mask[record]) begins[count++] = records.begin[record];
    return begins.subarray(0, count);
  });
}
function sortTable(column) {
  const [now, descending] = found.order, isText = column === "core" || column === "where" || column === "begin";
  found.order = now === column ? [column, !descending] : [column, !isText]; // numbers: the largest first
  timed("sort", arrange);
}
function arrange() {
  const [column, descending] = found.order;
  const order = column === "begin" && !descending ? inTime : sortedBy(column, descending);
  found.records = isSearching() ? selected(order, found.mask, found.count) : order;
  for (const head of gridHead.children) {
    const isOrder = head.dataset.column === column;
    head.setAttribute("aria-sort", !isOrder ? "none" : descending ? "descending" : "ascending");
  }
  space.style.height = `${ROW + 2 + Math.min(Math.max(found.records.length * ROW, ROWS * ROW), TALLEST)}px`;
  gridTable.setAttribute("aria-rowcount", found.records.length + 1);
  activate(0);
}

// ------------------------------------------------------------ rows in view

const last = () => Math.max(found.records.length - ROWS, 0); // the first row of the last page
const isSqueezed = () => found.records.length * ROW > TALLEST;
function scrollToView() {
  const room = space.offsetHeight - grid.clientHeight;
  const first = isSqueezed() ? Math.round(grid.scrollTop / room * last()) : Math.min(Math.floor(grid.scrollTop / ROW + 0.5), last());
  if (Math.abs(first - found.first) > (isSqueezed() ? last() / room : 0)) drawTable(first);
}
/** Make a row of the table the active one, and show it. */
function activate(place) {
  found.active = Math.min(Math.max(place, 0), Math.max(found.records.length - 1, 0));
  const first = Math.min(Math.max(found.first, found.active - ROWS + 1), found.active, last());
  drawTable(first);
  const room = space.offsetHeight - grid.clientHeight;
  grid.scrollTop = isSqueezed() ? first / Math.max(last(), 1) * room : first * ROW;
}
function drawTable(first) {
  found.first = first;
  gridBody.replaceChildren(...Array.from(found.records.subarray(first, first + ROWS), (record, index) => tableRow(record, first + index)));
  const active = gridBody.querySelector("[aria-selected=true]");
  if (active) grid.setAttribute("aria-activedescendant", active.id); else grid.removeAttribute("aria-activedescendant");
}
function tableRow(record, place) {
  const metrics = records.metrics.get(record) ?? {}, cells = [
    data.tracks[records.track[record]].core, whereOf(record), number(records.begin[record]),
    number(records.cycles[record] - records.waited[record]), records.waited[record] ? number(records.waited[record]) : "",
    ...data.keys.map((key) => (key in metrics ? number(metrics[key][0]) + (metrics[key][1] === false ? " !" : "") : "")),
  ].map((content, index) => {
    const key = COLUMNS[index][0], cell = element("td", COLUMNS[index][2] ? "name" : metrics[key]?.[1] === false ? "bad" : "", content);
    cell.setAttribute("role", "gridcell");
    if (index === 1) cell.title = content;
    return cell;
  });
  const row = element("tr", "", "", ...cells);
  row.id = `record-${place}`;
  row.dataset.place = place;
  row.dataset.record = record;
  row.setAttribute("role", "row");
  row.setAttribute("aria-rowindex", place + 2);
  row.setAttribute("aria-selected", String(place === found.active));
  return row;
}
/** Show the active record in the timeline. */
function showRecord() {
  if (!found.records.length) return;
  const record = found.records[found.active], begin = records.begin[record], end = records.end[record];
  if (begin < view[0] || end > view[1] || (end - begin) * 200 < view[1] - view[0]) showAround(begin, end);
  choose(record);
}
/** Go to the next or previous record that a search found. */
function goToMatch(step) {
  const isHere = chosen >= 0 && found.records[found.active] === chosen;
  activate(isHere ? found.active + step : found.active);
  showRecord();
}

// Records that a search found have marks below them in the timeline.
overlays.push((pen, width, height, at, { track }) => {
  if (!track || !isSearching()) return;
  const here = track.core === track.row ? data.tracks.filter((one) => one.row === track.row) : [track], size = (view[1] - view[0]) / width;
  pen.fillStyle = colour("ink");
  for (const one of here) {
    const begins = found.begins[one.place];
    if (!begins.length) continue;
    let before = countUpTo(begins, view[0] - size);
    const until = countUpTo(begins, view[1]);
    if (until - before <= width) {
      for (; before < until; before++) pen.fillRect(at(begins[before]) - 1, height - 5, 3, 5);
      continue;
    }
    for (let x = 0; x < width; x++) {
      const after = countUpTo(begins, view[0] + (x + 1) * size);
      if (after > before) pen.fillRect(x - 1, height - 5, 3, 5);
      before = after;
    }
  }
});
