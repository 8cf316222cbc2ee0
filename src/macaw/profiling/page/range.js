// The range of cycles that the user selected, and the statistics of it, or else of the view.
const MOST_LINES = 12; // of the table of instructions
const rangeFields = { begin: document.getElementById("range-begin"), end: document.getElementById("range-end") };
const rangeOrView = () => range ?? view.map(Math.round);

function setRange(begin, end) {
  const low = Math.round(Math.min(Math.max(Math.min(begin, end), 0), extent - 1));
  range = [low, Math.round(Math.min(Math.max(begin, end, low + 1), extent))];
  scheduleDrawing();
}
function clearRange() {
  range = null;
  scheduleDrawing();
}
/** Move the end of the range by a share of the view, or select the middle of the view. */
function growRange(share) {
  const by = Math.sign(share) * Math.max(Math.round((view[1] - view[0]) * Math.abs(share)), 1), middle = (view[0] + view[1]) / 2;
  if (range) setRange(range[0], Math.max(range[1] + by, range[0] + 1));
  else setRange(middle, middle + Math.abs(by));
}
function moveRange(share) {
  if (!range) return;
  const by = Math.sign(share) * Math.max(Math.round((view[1] - view[0]) * Math.abs(share)), 1);
  if (range[0] + by >= 0 && range[1] + by <= extent) setRange(range[0] + by, range[1] + by);
}

// The range has an edge on both sides, and a shade.
overlays.push((pen, width, height, at) => {
  if (!range) return;
  const [begin, end] = range.map(at);
  pen.globalAlpha = 0.16;
  pen.fillStyle = colour("accent");
  pen.fillRect(begin, 0, end - begin, height);
  pen.globalAlpha = 1;
  for (const x of [begin, end - 1]) pen.fillRect(Math.round(x), 0, 1, height);
});

/** Select by dragging: on the axis, or with Shift on any row. */
function selecting(canvas, isAxis) {
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button || !(isAxis || event.shiftKey)) return;
    from = cycleAt(canvas, event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from === null) return;
    hideTip();
    setRange(from, cycleAt(canvas, event));
  });
  const release = () => { from = null; };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
}

// ------------------------------------------------------------ statistics

/** How many records of a track are in a range, even in part. */
const recordsIn = (track, begin, end) => lanes[track.place].reduce((sum, lane) =>
  sum + Math.max(countUpTo(lane.begins, end - 1) - lane.endingAfter(begin), 0), 0);

/** For whom a track waited in a range: cycles by name. */
function* waitsIn(track, begin, end) {
  const cycles = new Map(), { begins, ends } = track.waits, first = track.waits.endingAfter(begin);
  yield* inParts(Math.max(countUpTo(begins, end - 1) - first, 0), (from, until) => {
    for (let place = first + from; place < first + until; place++)
      cycles.set(track.whom[place], (cycles.get(track.whom[place]) ?? 0) + Math.min(ends[place], end) - Math.max(begins[place], begin));
  });
  return [...cycles].sort(([, one], [, other]) => other - one).map(([name, count]) => [text(name) || "bytes of another core", count]);
}

/** The lines of the source with most cycles of records in a range: [track, a record, cycles, records]. */
function* linesIn(begin, end) {
  const strings = data.strings.length, size = strings * data.tracks.length;
  const cycles = new Float64Array(size), counts = new Uint32Array(size), one = new Uint32Array(size), used = [];
  yield* inParts(countUpTo(records.begin, end - 1), (from, until) => {
    for (let record = from; record < until; record++) {
      const last = records.end[record];
      if (last <= begin) continue;
      const key = records.track[record] * strings + (records.place[record] || records.name[record]);
      if (!counts[key]++) { one[key] = record; used.push(key); }
      cycles[key] += Math.min(last, end) - Math.max(records.begin[record], begin);
    }
  });
  return used.sort((first, second) => cycles[second] - cycles[first] || first - second).slice(0, MOST_LINES)
    .map((key) => [data.tracks[records.track[one[key]]], one[key], cycles[key], counts[key]]);
}

/** Mean and most of a series in a range. */
function seriesIn(series, begin, end) {
  let sum = 0, most = 0;
  for (let place = Math.max(lastPointBefore(series.points, begin), 0); place < series.points.length && series.points[place][0] < end; place++) {
    const [time, value] = series.points[place], next = series.points[place + 1]?.[0] ?? total;
    const cycles = Math.min(next, end) - Math.max(time, begin);
    if (cycles <= 0) continue;
    sum += cycles * value;
    most = Math.max(most, value);
  }
  return [sum / (end - begin), most];
}

const counting = new Task("statistics", () => document.getElementById("statistics").setAttribute("aria-busy", String(!counting.isDone)));
function showStatistics() {
  const [begin, end] = rangeOrView();
  document.getElementById("h-range").textContent = range ? "Selected range" : "In view";
  document.getElementById("range").textContent = `cycles ${number(begin)} to ${number(end)}: ${number(end - begin)}`;
  for (const [name, value] of [["begin", begin], ["end", end]])
    if (document.activeElement !== rangeFields[name]) rangeFields[name].value = value;
  counting.start(statistics(begin, end));
}
function* statistics(begin, end) {
  const cores = [], size = end - begin, cell = (content, kind = "") => element("td", kind, content);
  for (const track of data.tracks) {
    const busy = track.busy.cyclesIn(begin, end), waits = yield* waitsIn(track, begin, end);
    const count = data.tracks.filter((one) => one === track || (track.core === track.row && one.row === track.row))
      .reduce((sum, one) => sum + recordsIn(one, begin, end), 0);
    const before = track.earlier ? [cell(number(track.earlier.cyclesIn(begin, end)))] : data.earlier ? [cell("")] : [];
    cores.push(element("tr", "", "", cell(track.core, "name"), cell(number(busy)), cell(percent(busy, size)), ...before, cell(number(count)),
      cell(number(waits.reduce((sum, [, cycles]) => sum + cycles, 0))), cell(waits.map(([name, cycles]) => `${name} (${number(cycles)})`).join(", "), "name")));
  }
  const headings = ["core", "busy cycles", "share", ...(data.earlier ? ["busy before"] : []), "records", "waited", "waited for"];
  const lines = (yield* linesIn(begin, end)).map(([track, record, cycles, count]) =>
    element("tr", "", "", cell(track.core, "name"), cell(lineText(record), "name"), cell(number(cycles)), cell(number(count))));
  const series = data.series.map((one) => {
    const [mean, most] = seriesIn(one, begin, end);
    return element("tr", "", "", cell(`${one.name}, ${one.unit}`, "name"), cell(number(mean)), cell(number(most)));
  });
  document.getElementById("statistics").replaceChildren(
    named("range-cores", "What the timeline shows", table(headings, cores, 1, ["waited for"])),
    named("range-lines", "Lines with most cycles of records", table(["core", "line", "cycles", "records"], lines, 2)),
    ...(series.length ? [named("range-series", "Queues and bandwidth", table(["series", "mean", "most"], series))] : []));
}
/** A table with an id and a caption. */
function named(id, title, node) {
  node.firstChild.id = id;
  node.firstChild.prepend(element("caption", "", title));
  return node;
}
const lineText = (record) => (text(records.place[record]) ? `${text(records.place[record])}: ` : "") + (text(records.name[record]) || "instructions without a name");

/** Take a typed edge of the range. If the range would be empty, its other edge moves, too. */
function takeField(name) {
  const [begin, end] = rangeOrView(), isNumber = rangeFields[name].value !== "", cycle = Number(rangeFields[name].value);
  if (isNumber && name === "begin") setRange(cycle, Math.max(end, cycle + 1));
  else if (isNumber) setRange(Math.min(begin, cycle - 1), cycle);
  [rangeFields.begin.value, rangeFields.end.value] = rangeOrView();
}

function addRange() {
  watchers.push(showStatistics);
  for (const chart of charts) selecting(chart.canvas, chart === charts[0]);
  for (const [name, field] of Object.entries(rangeFields)) field.addEventListener("change", () => takeField(name));
  document.getElementById("range-view").addEventListener("click", () => setRange(...view));
  document.getElementById("range-zoom").addEventListener("click", () => { if (range) show(...range); });
  document.getElementById("range-clear").addEventListener("click", clearRange);
}
