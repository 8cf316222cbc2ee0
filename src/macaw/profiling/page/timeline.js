// The rows of the timeline, and their events of pointer and wheel.
function addRow(kind, title, note, height, draw, label) {
  const canvas = element("canvas");
  const names = element("div", "label", "", element("i"), element("b", "", title), element("span", "", note));
  const row = element("div", `row ${kind}`, "", names, canvas);
  const chart = { canvas, draw, height, track: null };
  timeline.append(row);
  canvas.style.height = `${height}px`;
  if (label) {
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", label);
  } else canvas.setAttribute("aria-hidden", "true");
  charts.push(chart);
  return { row, names, canvas, chart };
}

/** The cycle below the pointer. */
function cycleAt(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return view[0] + (event.clientX - box.left) / box.width * (view[1] - view[0]);
}

// Up to eight series stand below the six rows; more of them stand below their own rows.
const isBelowItsRow = (series) => data.series.length > 8 && rowColours.has(series.row);

function addSeries(series) {
  const { row, canvas } = addRow("series", series.name, series.unit, SERIES, drawSeries(series), `${series.name}, ${series.unit}`);
  canvas.addEventListener("pointermove", (event) => {
    const cycle = cycleAt(canvas, event), point = series.points[lastPointBefore(series.points, cycle)];
    showTip(series.name, [`${number(point ? point[1] : 0)} ${series.unit} at cycle ${number(Math.floor(cycle))}` +
      (series.most === null ? "" : `, at most ${number(series.most)}`)], [], event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", hideTip);
  return row;
}

const MOST_LANES = 2; // more lanes of records are shown in the rows of cores

/** Add the row of a track; with `below`, a row for the records of a core. */
function addTrack(track, below = track.core !== track.row) {
  const cores = below ? [] : data.tracks.filter((core) => core.row === track.row && core !== track);
  const own = lanes[track.place], whole = below || own.length <= MOST_LANES;
  if (!whole) cores.push(track);
  const share = percent(track.cycles, total);
  track.earlier = data.earlier && track.core in data.earlier.tracks ? Intervals.of(data.earlier.tracks[track.core]) : null;
  const height = (below ? Math.max(LOW, Math.min(own.length, 12) * 9 + 4) : HEIGHT) + (track.earlier ? EARLIER : 0);
  const label = `${track.core}: busy for ${number(track.cycles)} of ${number(data.cycles)} cycles, ${share}`;
  const draw = drawTrack(rowColours.get(track.row), track.busy, whole ? own : [], (lane, place) => text(records.name[lane.records[place]]), track.earlier);
  const { row, names, canvas, chart } = addRow(below ? "core" : "", track.core, share, height, draw, label);
  row.dataset.track = track.core;
  chart.track = track;
  chart.lanes = whole ? own.length : 0;
  follow(canvas, track);
  if (below) return row;
  row.dataset.row = track.row;
  if (data.bottleneck && data.bottleneck.core === track.row) row.classList.add("slowest");
  const rows = cores.map((core) => addTrack(core, true));
  for (const series of data.series) if (series.row === track.row && isBelowItsRow(series)) rows.push(addSeries(series));
  for (const one of rows) one.hidden = true;
  if (rows.length) names.querySelector("i").replaceWith(opener(track, rows));
  return row;
}

/** A button that shows and hides rows. */
function opener(track, rows) {
  const node = button("▸", () => {
    const open = node.getAttribute("aria-expanded") === "false";
    node.setAttribute("aria-expanded", String(open));
    node.textContent = open ? "▾" : "▸";
    for (const row of rows) row.hidden = !open;
    scheduleDrawing();
  });
  node.setAttribute("aria-expanded", "false");
  node.setAttribute("aria-label", `cores of ${track.row}`);
  return node;
}

/** Add the row of a network's layers. */
function addLayers() {
  const layers = data.layers.table.map(([name, operator, core, begin, end, , , busy]) => ({ name, operator, begin, end, busy }));
  const spans = new Intervals(Cycles.from(layers, (one) => one.begin), Cycles.from(layers, (one) => one.end));
  const cycles = layers.at(-1).end - layers[0].begin, share = percent(cycles, total);
  const { row, canvas } = addRow("", "layers", share, HEIGHT,
    drawTrack("series", new Intervals(spans.begins.slice(0, 1), spans.ends.slice(-1)), [spans], (_, place) => layers[place].name),
    `layers: ${number(cycles)} of ${number(data.cycles)} cycles, ${share}`);
  row.dataset.track = row.dataset.row = "layers";
  dragging(canvas);
  canvas.addEventListener("pointermove", (event) => {
    const place = spans.at(cycleAt(canvas, event)), layer = layers[place];
    if (place < 0) return hideTip();
    showTip(layer.name, [`layer ${number(place + 1)}, ${layer.operator}`, spanText(layer.begin, layer.end)],
      data.layers.rows.map((name, index) => [`${name} busy`, layer.busy[index]]), event.clientX, event.clientY);
  });
}

/** Move the view by dragging. Returns whether the pointer drags now, as a function. */
function dragging(canvas) {
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button || event.shiftKey) return;
    drag = { x: event.clientX, view: [...view] };
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("moving");
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag === null) return;
    hideTip();
    const by = (drag.x - event.clientX) / canvas.clientWidth * (drag.view[1] - drag.view[0]);
    show(drag.view[0] + by, drag.view[1] + by);
  });
  const release = () => { drag = null; canvas.classList.remove("moving"); };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("blur", hideTip);
  return () => drag !== null;
}

/** Handle the events of the pointer on a track's canvas. */
function follow(canvas, track) {
  const isDragging = dragging(canvas);
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons && !isDragging())
      showTrackTip(track, cycleAt(canvas, event), event.clientX, event.clientY, (view[1] - view[0]) / canvas.clientWidth);
  });
  canvas.addEventListener("dblclick", (event) => {
    const at = cycleAt(canvas, event), place = track.busy.at(at);
    const record = members[track.place].find((one) => records.begin[one] <= at && at < records.end[one]);
    if (record !== undefined) showAround(records.begin[record], records.end[record]);
    else if (place >= 0) showAround(track.busy.begins[place], track.busy.ends[place]);
  });
}

timeline.addEventListener("wheel", (event) => {
  const canvas = event.target.closest("canvas");
  if (!canvas) return;
  event.preventDefault();
  hideTip();
  const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (sideways) move((event.deltaX || event.deltaY) / canvas.clientWidth);
  else zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 200) / 300), cycleAt(canvas, event));
}, { passive: false });

// ------------------------------------------------------------ the chosen record

let chosen = -1;

/** The record beside the chosen one in a row of the timeline, or in the first place of the view. */
function neighbour(track, step) {
  const isOne = (record) => data.tracks[records.track[record]][track.core === track.row ? "row" : "core"] === track.core;
  let record = chosen >= 0 && isOne(chosen) ? chosen + step : countUpTo(records.begin, Math.ceil(view[0]) - 1);
  while (record >= 0 && record < records.count && !isOne(record)) record += step;
  return record < 0 || record >= records.count ? -1 : record;
}

/** Choose a record: show it in the timeline, and say what it is. */
function choose(record, canvas) {
  chosen = record;
  reveal(records.begin[record], records.end[record]);
  const track = data.tracks[records.track[record]], content = describe(record);
  const own = charts.find((chart) => chart.track === track && chart.canvas.clientWidth) ?? charts.find((chart) => chart.track?.core === track.row);
  const box = (canvas ?? own.canvas).getBoundingClientRect();
  const middle = (Math.max(records.begin[record], view[0]) + Math.min(records.end[record], view[1])) / 2;
  showTip(...content, box.left + (middle - view[0]) / (view[1] - view[0]) * box.width, box.top + box.height / 2);
  liveText.textContent = [content[0], ...content[1]].join(". ");
  scheduleDrawing();
}

// The chosen record has a frame.
overlays.push((pen, width, height, at, { track, lanes: count }) => {
  if (chosen < 0 || !track) return;
  const own = data.tracks[records.track[chosen]];
  if (own !== track && own.row !== track.core) return;
  const room = height - 4 - (track.earlier ? EARLIER : 0), tall = room / (own === track && count ? count : 1);
  const top = own === track && count ? 2 + records.level[chosen] * tall : 2;
  const x = at(records.begin[chosen]);
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 2;
  pen.strokeRect(x - 1, top - 1, Math.max(at(records.end[chosen]) - x, 1) + 2, tall + 1);
});
