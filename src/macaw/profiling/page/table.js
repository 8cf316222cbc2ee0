// The table of all records: search, filter and order.
const COLUMNS = [["core", "core", true], ["where", "instructions", true], ["begin", "begin"], ["cycles", "cycles"], ["waited", "waited"],
  ...data.keys.map((key) => [key, key.replaceAll("_", " ")])];
const found = { order: ["begin", false], records: inTime, mask: null, count: 0, begins: [] };
const search = Object.fromEntries(["words", "track", "least", "inside", "missed"].map((name) => [name, document.getElementById(`search-${name}`)]));
const recordGrid = new Grid(document.getElementById("grid"), {
  rows: 16, columns: COLUMNS, sort: sortTable, open: showRecord, prefix: "record", rowOf: (place) => recordCells(found.records[place]),
});

function recordCells(record) {
  const metrics = records.metrics.get(record) ?? {}, where = whereOf(record);
  const cells = [element("td", "name", data.tracks[records.track[record]].core), element("td", "name", where),
    ...[records.begin[record], records.cycles[record] - records.waited[record], records.waited[record] || ""].map((value) =>
      element("td", "", value === "" ? "" : number(value))),
    ...data.keys.map((key) => {
      const [value, ok] = metrics[key] ?? [];
      return element("td", ok === false ? "bad" : "", value === undefined ? "" : number(value) + (ok === false ? " !" : ""));
    })];
  cells[1].title = where;
  return cells;
}
function addTable() {
  for (const track of data.tracks) search.track.append(element("option", "", track.core));
  for (const input of Object.values(search)) input.addEventListener("input", searchAgain);
  watchers.push(() => { if (search.inside.checked) searchAgain(); });
  searchAgain();
}

// ------------------------------------------------------------ search and order

function criteria() {
  const [begin, end] = search.inside.checked ? rangeOrView() : [null, null];
  return { words: search.words.value.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS), track: search.track.value,
    least: Number(search.least.value) || 0, begin, end, missed: search.missed.checked };
}
function searchAgain() {
  timed("search", () => {
    const wanted = criteria();
    const isAll = !wanted.words.length && wanted.track === "" && !wanted.least && wanted.begin === null && !wanted.missed;
    Object.assign(found, isAll ? { mask: null, count: records.count } : matching(wanted));
    noteBegins();
    arrange();
  });
  document.getElementById("matches").textContent = (found.mask ? `${number(found.count)} of ` : "") + plural(records.count, "record");
  scheduleFrame();
}
/** Search for words, and put them into the field. */
function searchFor(words) {
  search.words.value = words;
  searchAgain();
}
/** Keep the begins of the records that a search found, by track, for marks in the timeline. */
function noteBegins() {
  found.begins = data.tracks.map((track) => {
    if (!found.mask) return null;
    const all = members[track.place], begins = new Cycles(all.length);
    let count = 0;
    for (const record of all) if (found.mask[record]) begins[count++] = records.begin[record];
    return begins.subarray(0, count);
  });
}
function sortTable(column) {
  const [now, descending] = found.order, isText = ["core", "where", "begin"].includes(column);
  found.order = now === column ? [column, !descending] : [column, !isText]; // numbers: the largest first
  timed("sort", arrange);
}
function arrange() {
  const [column, descending] = found.order;
  const order = column === "begin" && !descending ? inTime : sortedBy(column, descending);
  found.records = found.mask ? selected(order, found.mask, found.count) : order;
  for (const head of recordGrid.head.children)
    head.setAttribute("aria-sort", head.dataset.column !== column ? "none" : descending ? "descending" : "ascending");
  recordGrid.fill(found.records.length);
}
/** Show the active record in the timeline. */
function showRecord() {
  if (!recordGrid.count) return;
  const record = found.records[recordGrid.active], begin = records.begin[record], end = records.end[record];
  if (begin < view[0] || end > view[1] || (end - begin) * 200 < view[1] - view[0]) showAround(begin, end);
  choose(record);
}
/** Go to the next or previous record that a search found. */
function goToMatch(step) {
  const isHere = recordGrid.count && found.records[recordGrid.active] === chosen;
  recordGrid.activate(recordGrid.active + (isHere ? step : 0));
  showRecord();
}

// Records that a search found have marks below them in the timeline.
overlays.push((pen, width, height, at, { track }) => {
  if (!track || !found.mask) return;
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
