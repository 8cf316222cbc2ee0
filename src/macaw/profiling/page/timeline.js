// The timeline: its view, its rows, and the events of pointer and keys.
const data = JSON.parse(document.getElementById("data").textContent);
const total = Math.max(data.cycles, 1);
const least = Math.min(4, total); // the view shows at least so many cycles
const HEIGHT = 26, LOW = 20, AXIS = 22, SERIES = 40;
const timeline = document.getElementById("timeline");
const tip = document.getElementById("tip");
const liveText = document.getElementById("live");
const charts = []; // {canvas, draw, height} of each row
let view = [0, total];

const number = (value) => value === null || value === undefined ? "-"
  : Number.isInteger(value) || Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
  : String(Number(value.toPrecision(3)));
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
// Colours of the rows, in turn.
const kinds = new Map(data.tracks.filter((track) => track.core === track.row).map((track, place) => [track.row, `row${place % 6}`]));
if (data.layers) kinds.set(data.layers.row, "series");
const text = (index) => data.strings[index];

/** An element with a class, text and children; texts are never HTML. */
function element(tag, kind = "", content = "", ...children) {
  const node = document.createElement(tag);
  if (kind) node.className = kind;
  if (content !== "") node.textContent = content;
  node.append(...children);
  return node;
}

// A slice as an object; src/macaw/profiling/html.py writes its members in this order.
const slice = ([begin, end, first, count, name, place, waited, counters, metrics]) =>
  ({ begin, end, first, count, name: text(name), place: text(place), waited, counters, metrics });

/** The index of the first interval that ends after a cycle; intervals are sorted and do not touch. */
function firstEndingAfter(intervals, cycle) {
  let low = 0, high = intervals.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (intervals[middle][1] > cycle) high = middle; else low = middle + 1;
  }
  return low;
}

// ------------------------------------------------------------ the view

function show(begin, end) {
  let size = Math.min(Math.max(end - begin, least), total);
  let from = Math.min(Math.max(begin, 0), total - size);
  view = [from, from + size];
  const shown = view.map((cycle) => number(Math.round(cycle)));
  document.getElementById("range").textContent = `cycles ${shown[0]} to ${shown[1]} of ${number(data.cycles)}`;
  scheduleDrawing();
}
function zoom(factor, around = (view[0] + view[1]) / 2) {
  const size = view[1] - view[0], by = Math.min(Math.max(size * factor, least), total) / size;
  show(around - (around - view[0]) * by, around + (view[1] - around) * by);
}
const move = (share) => {
  const by = (view[1] - view[0]) * share;
  show(view[0] + by, view[1] + by);
};

let isScheduled = false;
function scheduleDrawing() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    for (const chart of charts) if (chart.canvas.clientWidth) drawChart(chart);
  });
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
  chart.draw(pen, width, height, (cycle) => (cycle - view[0]) * scale);
}

// ------------------------------------------------------------ drawing

function roundStep(step) {
  for (let power = 1; ; power *= 10)
    for (const factor of [1, 2, 5]) if (factor * power >= step) return factor * power;
}

function drawAxis(pen, width, height, at) {
  const step = roundStep((view[1] - view[0]) * 95 / width);
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = colour("soft");
  pen.textBaseline = "middle";
  for (let cycle = Math.ceil(view[0] / step) * step; cycle <= view[1]; cycle += step) {
    const x = at(cycle), label = number(cycle);
    pen.fillRect(Math.round(x), height - 6, 1, 6);
    const room = pen.measureText(label).width;
    pen.fillText(label, Math.min(Math.max(x - room / 2, 0), width - room), height / 2 - 3);
  }
}

/** Blocks of [begin, end] pairs in order; neighbours that fall on one pixel are one block. */
function blocks(pen, intervals, from, at, width, top, height, label) {
  let left = null, right = null;
  const flush = () => { if (left !== null) pen.fillRect(left, top, Math.max(right - left, 1), height); };
  for (let index = from; index < intervals.length && intervals[index][0] < view[1]; index++) {
    const x = Math.max(at(intervals[index][0]), -2), end = Math.min(at(intervals[index][1]), width + 2);
    if (left !== null && x - right < 0.4 && (end - x < 3 || right - left < 3)) { right = Math.max(right, end); continue; }
    flush();
    [left, right] = [x, end];
    if (label && end - x > 24) label(index, x, end);
  }
  flush();
}

/** As much of a text as there is room for, or nothing if that is less than five letters. */
function fitText(pen, name, room) {
  if (pen.measureText(name).width <= room) return name;
  let length = Math.min(name.length, Math.floor(room / 4));
  while (length >= 5 && pen.measureText(`${name.slice(0, length)}…`).width > room) length--;
  return length >= 5 ? `${name.slice(0, length)}…` : "";
}

const lanesOf = (track) => track.lanes.map((lane) => lane.map(slice));

/** A function that draws a track's busy time and, with `whole`, its slices, lane below lane. */
function drawTrack(track, whole) {
  const pairs = whole ? track.lanes : [], lanes = whole ? lanesOf(track) : [];
  return (pen, width, height, at) => {
    pen.fillStyle = colour("lane");
    pen.fillRect(0, 0, width, height);
    const name = colour(kinds.get(track.row));
    pen.fillStyle = name;
    pen.globalAlpha = pairs.length ? 0.35 : 1;
    blocks(pen, track.busy, firstEndingAfter(track.busy, view[0]), at, width, 0, height);
    pen.globalAlpha = 1;
    pairs.forEach((lane, place) => {
      const top = 2 + (height - 4) * place / pairs.length, tall = (height - 4) / pairs.length - 1, labels = [];
      pen.fillStyle = name;
      blocks(pen, lane, firstEndingAfter(lane, view[0]), at, width, top, tall, (index, x, end) => labels.push([index, x, end]));
      if (tall < 11) return;
      pen.font = "11px system-ui, sans-serif";
      pen.textBaseline = "middle";
      for (const [index, x, end] of labels) {
        pen.fillStyle = colour("edge");
        pen.fillRect(end - 1, top, 1, tall);
        const from = Math.max(x, 0) + 4, name = fitText(pen, lanes[place][index].name, Math.min(end, width) - from - 3);
        if (name) pen.fillText(name, from, top + tall / 2);
      }
    });
  };
}

function drawSeries(series) {
  const most = Math.max(series.most ?? 0, ...series.points.map((point) => point[1]), 1e-9);
  return (pen, width, height, at) => {
    pen.fillStyle = colour("lane");
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = colour(kinds.get(series.row) ?? "series");
    const points = series.points;
    let x = null, peak = 0; // the highest value on a pixel is shown
    const column = (from, to, value) => {
      const tall = value / most * (height - 3);
      if (tall > 0) pen.fillRect(from, height - tall, Math.max(to - from, 1), tall);
    };
    for (let index = Math.max(lastPointBefore(points, view[0]), 0); index < points.length && points[index][0] < view[1]; index++) {
      const from = Math.max(at(points[index][0]), 0);
      const to = index + 1 < points.length ? Math.min(at(points[index + 1][0]), width) : Math.min(at(total), width);
      if (x !== null && Math.floor(from) === x) peak = Math.max(peak, points[index][1]);
      else { x = Math.floor(from); peak = points[index][1]; }
      column(from, Math.min(to, Math.ceil(from)), peak);
      column(from, to, points[index][1]);
    }
  };
}

/** The index of the last point at or before a cycle, or -1. */
function lastPointBefore(points, cycle) {
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= cycle) low = middle + 1; else high = middle;
  }
  return low - 1;
}

// ------------------------------------------------------------ tooltip

function showTip(title, lines, counters, x, y) {
  tip.replaceChildren(element("b", "", title));
  for (const line of lines) tip.append(element("p", "", line));
  if (counters.length) {
    const body = element("tbody");
    for (const [name, value] of counters)
      body.append(element("tr", "", "", element("td", "name", name), element("td", "", number(value))));
    tip.append(element("table", "", "", body));
  }
  tip.hidden = false;
  const room = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(Math.min(x + 14, window.innerWidth - room.width - 8), 8)}px`;
  tip.style.top = `${y + 18 + room.height > window.innerHeight ? Math.max(y - room.height - 12, 8) : y + 18}px`;
}
const hideTip = () => { tip.hidden = true; };

function describe(track, item) {
  if (track === data.layers) {
    const lines = [`layer ${number(item.first + 1)}, ${item.place}`, `cycles ${number(item.begin)} to ${number(item.end)}: ${number(item.end - item.begin)}`];
    return [item.name, lines, Object.entries(item.counters).map(([row, cycles]) => [`${row} busy`, cycles])];
  }
  const last = item.first + item.count - 1;
  const which = item.count === 1 ? `instruction ${number(item.first)}` : `instructions ${number(item.first)} to ${number(last)}`;
  const lines = [`${track.core}, ${which}${item.place ? `, ${item.place}` : ""}`,
    `cycles ${number(item.begin)} to ${number(item.end)}: ${number(item.end - item.begin)}` +
    (item.waited ? `, ${number(item.waited)} of them waiting for others` : "")];
  return [item.name || which, lines, [...Object.entries(item.counters), ...item.metrics.map(([key, value]) => [key.replaceAll("_", " "), value])]];
}

/** Show what a track does at a cycle. */
function showTrackTip(track, lanes, cycle, x, y, width) {
  const pixel = (view[1] - view[0]) / width; // cycles
  for (let place = 0; place < lanes.length; place++) {
    const index = firstEndingAfter(track.lanes[place], cycle - pixel), item = lanes[place][index];
    if (item && item.begin <= cycle + pixel) return showTip(...describe(track, item), x, y);
  }
  const doing = data.tracks.filter((core) => core.row === track.row && core !== track).flatMap((core) =>
    core.lanes.map((lane) => lane[firstEndingAfter(lane, cycle)]).filter((item) => item && item[0] <= cycle).map((item) => [core, slice(item)]));
  const interval = track.busy[firstEndingAfter(track.busy, cycle)];
  if (interval && interval[0] <= cycle) {
    const lines = doing.slice(0, 6).map(([core, item]) => `${core.core}: ${item.name || `instruction ${item.first}`}`);
    if (doing.length > 6) lines.push(`and ${doing.length - 6} more`);
    return showTip(`${track.core} is busy`, [`cycles ${number(interval[0])} to ${number(interval[1])}: ${number(interval[1] - interval[0])}`, ...lines], [], x, y);
  }
  return showTip(`${track.core} has nothing to do or waits`, [`cycle ${number(Math.floor(cycle))}`], [], x, y);
}

// ------------------------------------------------------------ rows

function addRow(kind, title, note, height, draw, label) {
  const canvas = element("canvas");
  const names = element("div", "label", "", element("i"), element("b", "", title), element("span", "", note));
  const row = element("div", `row ${kind}`, "", names, canvas);
  timeline.append(row);
  canvas.style.height = `${height}px`;
  if (label) {
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", label);
  } else canvas.setAttribute("aria-hidden", "true");
  charts.push({ canvas, draw, height });
  return { row, names, canvas };
}

// Up to eight series stand below the six rows; more of them stand below their own rows.
const isBelowItsRow = (series) => data.series.length > 8 && kinds.has(series.row);

function addSeries(series) {
  const rowParts = addRow("series", series.name, series.unit, SERIES, drawSeries(series), `${series.name}, ${series.unit}`);
  rowParts.canvas.addEventListener("pointermove", (event) => {
    const box = rowParts.canvas.getBoundingClientRect();
    const cycle = view[0] + (event.clientX - box.left) / box.width * (view[1] - view[0]);
    const point = series.points[lastPointBefore(series.points, cycle)];
    showTip(series.name, [`${number(point ? point[1] : 0)} ${series.unit} at cycle ${number(Math.floor(cycle))}` +
      (series.most === null ? "" : `, at most ${number(series.most)}`)], [], event.clientX, event.clientY);
  });
  rowParts.canvas.addEventListener("pointerleave", hideTip);
  return rowParts.row;
}

const MOST_LANES = 2; // more lanes of slices are shown in the rows of cores

/** Add the row of a track; with `below`, a row for the slices of a core. */
function addTrack(track, below = track.core !== track.row) {
  const members = below ? [] : data.tracks.filter((core) => core.row === track.row && core !== track);
  const whole = below || track.lanes.length <= MOST_LANES;
  if (!whole) members.push(track);
  const share = `${(100 * track.cycles / total).toFixed(1)}%`;
  const height = below ? Math.max(LOW, Math.min(track.lanes.length, 12) * 9 + 4) : HEIGHT;
  const label = `${track.core}: busy for ${number(track.cycles)} of ${number(data.cycles)} cycles, ${share}`;
  const rowParts = addRow(below ? "core" : "", track.core, share, height, drawTrack(track, whole), label);
  rowParts.row.dataset.track = track.core;
  follow(rowParts.canvas, track);
  if (below) return rowParts.row;
  rowParts.row.dataset.row = track.row;
  if (data.bottleneck && data.bottleneck.core === track.row) rowParts.row.classList.add("slowest");
  const rows = members.map((core) => addTrack(core, true));
  for (const series of data.series) if (series.row === track.row && isBelowItsRow(series)) rows.push(addSeries(series));
  for (const row of rows) row.hidden = true;
  if (rows.length) rowParts.names.querySelector("i").replaceWith(opener(track, rows));
  return rowParts.row;
}

/** A button that shows and hides rows. */
function opener(track, rows) {
  const button = element("button", "", "▸");
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", `cores of ${track.row}`);
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "▾" : "▸";
    for (const row of rows) row.hidden = !open;
    scheduleDrawing();
  });
  return button;
}

/** Handle the events of pointer and keys on a track's canvas. */
function follow(canvas, track) {
  const lanes = lanesOf(track);
  const all = lanes.flat().sort((one, other) => one.begin - other.begin || one.first - other.first);
  const cycle = (event) => {
    const box = canvas.getBoundingClientRect();
    return view[0] + (event.clientX - box.left) / box.width * (view[1] - view[0]);
  };
  let drag = null, place = -1;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    drag = { x: event.clientX, view: [...view] };
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("moving");
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag === null) {
      showTrackTip(track, lanes, cycle(event), event.clientX, event.clientY, canvas.clientWidth);
      return;
    }
    hideTip();
    const by = (drag.x - event.clientX) / canvas.clientWidth * (drag.view[1] - drag.view[0]);
    show(drag.view[0] + by, drag.view[1] + by);
  });
  const release = () => { drag = null; canvas.classList.remove("moving"); };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("blur", hideTip);
  canvas.addEventListener("dblclick", (event) => {
    const at = cycle(event);
    const item = all.find((one) => one.begin <= at && at < one.end);
    const pair = item ? [item.begin, item.end] : track.busy[firstEndingAfter(track.busy, at)];
    if (pair && pair[0] <= at) showAround(pair[0], pair[1]);
  });
  canvas.addEventListener("keydown", (event) => {
    if (!all.length || (event.key !== "n" && event.key !== "p")) return;
    place = Math.min(Math.max(place + (event.key === "n" ? 1 : -1), 0), all.length - 1);
    const item = all[place], size = view[1] - view[0];
    if (item.begin < view[0] || item.end > view[1])
      if (item.end - item.begin > size) showAround(item.begin, item.end);
      else show(item.begin - (size - (item.end - item.begin)) / 2, item.begin + (size + (item.end - item.begin)) / 2);
    const box = canvas.getBoundingClientRect(), [title, lines, counters] = describe(track, item);
    const x = box.left + ((item.begin + item.end) / 2 - view[0]) / (view[1] - view[0]) * box.width;
    showTip(title, lines, counters, x, box.top + box.height / 2);
    liveText.textContent = [title, ...lines].join(". ");
  });
}

/** Show an interval with a little around it. */
const showAround = (begin, end) => show(begin - (end - begin) * 0.1 - 1, end + (end - begin) * 0.1 + 1);

timeline.addEventListener("wheel", (event) => {
  const canvas = event.target.closest("canvas");
  if (!canvas) return;
  event.preventDefault();
  hideTip();
  const box = canvas.getBoundingClientRect(), sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (sideways) move((event.deltaX || event.deltaY) / box.width);
  else zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 200) / 300),
    view[0] + (event.clientX - box.left) / box.width * (view[1] - view[0]));
}, { passive: false });

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step && timeline.contains(document.activeElement)) {
    const rows = [...timeline.querySelectorAll("canvas[tabindex]")].filter((canvas) => canvas.clientWidth);
    const next = rows[rows.indexOf(document.activeElement) + step];
    if (next) { next.focus(); event.preventDefault(); }
    return;
  }
  const act = {
    ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15),
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6),
    0: () => show(0, total), Home: () => show(0, total), Escape: hideTip,
  }[event.key];
  if (!act) return;
  act();
  event.preventDefault();
});
document.getElementById("in").addEventListener("click", () => zoom(0.6));
document.getElementById("out").addEventListener("click", () => zoom(1 / 0.6));
document.getElementById("all").addEventListener("click", () => show(0, total));
