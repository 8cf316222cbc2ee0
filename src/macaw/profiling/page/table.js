// The table of all records: search, filter and order.
const COLUMNS = [["core", "core", true], ["where", "instructions", true], ["begin", "begin"], ["cycles", "cycles"], ["waited", "waited"],
  ...metrics.map(({ key }) => [key, key.replaceAll("_", " ")])];
const found = { order: ["begin", false], records: inTime, mask: null, count: 0, begins: [] };
const search = Object.fromEntries(["words", "track", "least", "inside", "missed"].map((name) => [name, document.getElementById(`search-${name}`)]));
const recordGrid = new Grid(document.getElementById("grid"), {
  rows: 16, columns: COLUMNS, sort: sortTable, open: showRecord, prefix: "record", rowOf: (place) => recordCells(found.records[place]),
});

function recordCells(record) {
  const where = whereOf(record);
  const cells = [element("td", "name", data.tracks[records.track[record]].core), element("td", "name", where),
    ...[records.begin[record], records.cycles[record] - records.waited[record], records.waited[record] || ""].map((value) =>
      element("td", "", value === "" ? "" : number(value))),
    ...metrics.map((metric) => {
      const [value, missed] = metricOf(metric, record);
      return element("td", missed ? "bad" : "", value === undefined ? "" : number(value) + (missed ? " !" : ""));
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
const noteBusy = () => recordGrid.container.setAttribute("aria-busy", String(!finding.isDone || !sorting.isDone));
const finding = new Task("search", noteBusy), sorting = new Task("sort", noteBusy);
function searchAgain() {
  const wanted = criteria();
  const isAll = !wanted.words.length && wanted.track === "" && !wanted.least && wanted.begin === null && !wanted.missed;
  finding.start((function* () {
    const { mask, count } = isAll ? { mask: null, count: records.count } : yield* matching(wanted);
    const begins = [];
    for (const track of data.tracks) begins.push(mask && (yield* beginsIn(mask, members[track.place])));
    Object.assign(found, { mask, count, begins });
    document.getElementById("matches").textContent = (mask ? `${number(count)} of ` : "") + plural(records.count, "record");
    scheduleFrame();
    arrange();
  })());
}
/** Search for words, and put them into the field. */
function searchFor(words) {
  search.words.value = words;
  searchAgain();
}
/** The begins of those records of a track that a search found, for marks in the timeline. */
function* beginsIn(mask, all) {
  const begins = new Cycles(all.length);
  let count = 0;
  yield* inParts(all.length, (from, until) => { for (; from < until; from++) if (mask[all[from]]) begins[count++] = records.begin[all[from]]; });
  return begins.slice(0, count);
}
function sortTable(column) {
  const [now, descending] = found.order, isText = ["core", "where", "begin"].includes(column);
  found.order = now === column ? [column, !descending] : [column, !isText]; // numbers: the largest first
  arrange();
}
/** Bring the records that the search found into their order, and show them. */
function arrange() {
  const [column, descending] = found.order, { mask, count } = found;
  for (const head of recordGrid.head.children)
    head.setAttribute("aria-sort", head.dataset.column !== column ? "none" : descending ? "descending" : "ascending");
  sorting.start((function* () {
    const order = column === "begin" && !descending ? inTime : yield* sortedBy(column, descending);
    found.records = mask ? yield* selected(order, mask, count) : order;
    recordGrid.fill(found.records.length);
  })());
}
/** Wait until the table has what the search found. */
function finishSearch() {
  finding.finish();
  sorting.finish();
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
  finishSearch();
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
