// Draws the rows of the timeline.
const HEIGHT = 26, LOW = 20, AXIS = 22, SERIES = 40;
// Colours of the rows, in turn; each row has its name beside it.
const rowColours = new Map(data.tracks.filter((track) => track.core === track.row).map((track, place) => [track.row, `row${place % 6}`]));
const SMALL = "11px system-ui, sans-serif";

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

const CROWD = 3; // intervals on a pixel, from which on pixels are drawn and not intervals

/** Draw intervals as blocks. `label` is called with the place and the ends of each wide one. */
function drawIntervals(pen, intervals, at, width, top, height, label) {
  const from = intervals.endingAfter(view[0]), { begins, ends } = intervals;
  if (countUpTo(begins, view[1]) - from > CROWD * width) return drawCrowd(pen, intervals, from, width, top, height);
  let left = null, right = null;
  const flush = () => { if (left !== null) pen.fillRect(left, top, Math.max(right - left, 1), height); };
  for (let place = from; place < intervals.length && begins[place] < view[1]; place++) {
    const x = Math.max(at(begins[place]), -2), end = Math.min(at(ends[place]), width + 2);
    if (left !== null && x - right < 0.4 && (end - x < 3 || right - left < 3)) { right = Math.max(right, end); continue; }
    flush();
    [left, right] = [x, end];
    if (label && end - x > 24) label(place, x, end);
  }
  flush();
}

/** Draw many intervals: each pixel as strong as the share of its cycles that is in intervals. */
function drawCrowd(pen, intervals, from, width, top, height) {
  const STEPS = 8, strength = pen.globalAlpha, size = (view[1] - view[0]) / width;
  let place = from, before = intervals.cyclesBefore(view[0]), start = 0, level = 0;
  const flush = (x) => {
    if (level) {
      pen.globalAlpha = strength * (0.3 + 0.7 * level / STEPS);
      pen.fillRect(start, top, x - start, height);
    }
    start = x;
  };
  for (let x = 0; x < width; x++) {
    const cycle = view[0] + (x + 1) * size, next = intervals.endingAfter(cycle), after = intervals.cyclesBefore(cycle);
    const share = (after - before) / size, here = share > 0 || next > place ? Math.min(Math.max(Math.round(share * STEPS), 1), STEPS) : 0;
    if (here !== level) { flush(x); level = here; }
    [place, before] = [next, after];
  }
  flush(width);
  pen.globalAlpha = strength;
}

/** As much of a text as there is room for, or nothing if that is less than five letters. */
function fitText(pen, name, room) {
  if (pen.measureText(name).width <= room) return name;
  let length = Math.min(name.length, Math.floor(room / 4));
  while (length >= 5 && pen.measureText(`${name.slice(0, length)}…`).width > room) length--;
  return length >= 5 ? `${name.slice(0, length)}…` : "";
}

const EARLIER = 9; // pixels at the bottom of a row for the earlier run

/** A function that draws busy intervals, and above them lanes, one below the other. */
function drawTrack(paint, busy, shownLanes, nameAt, earlier = null) {
  return (pen, width, whole, at) => {
    const height = earlier ? whole - EARLIER : whole;
    pen.fillStyle = colour("lane");
    pen.fillRect(0, 0, width, whole);
    if (earlier) drawEarlier(pen, earlier, at, width, height);
    const name = colour(paint);
    pen.fillStyle = name;
    pen.globalAlpha = shownLanes.length ? 0.35 : 1;
    drawIntervals(pen, busy, at, width, 0, height);
    pen.globalAlpha = 1;
    shownLanes.forEach((lane, place) => {
      const top = 2 + (height - 4) * place / shownLanes.length, tall = (height - 4) / shownLanes.length - 1, labels = [];
      pen.fillStyle = name;
      drawIntervals(pen, lane, at, width, top, tall, (index, x, end) => labels.push([index, x, end]));
      if (tall < 11) return;
      pen.font = SMALL;
      pen.textBaseline = "middle";
      for (const [index, x, end] of labels) {
        pen.fillStyle = colour("edge");
        pen.fillRect(end - 1, top, 1, tall);
        const from = Math.max(x, 0) + 4, label = fitText(pen, nameAt(lane, index), Math.min(end, width) - from - 3);
        if (label) pen.fillText(label, from, top + tall / 2);
      }
    });
  };
}

/** Draw the busy intervals of the earlier run below those of this one: grey, below a line. */
function drawEarlier(pen, earlier, at, width, top) {
  pen.fillStyle = colour("edge");
  pen.fillRect(0, top, width, 1);
  pen.fillStyle = colour("series");
  drawIntervals(pen, earlier, at, width, top + 2, EARLIER - 2);
}

/** Draw where both runs end: this one with a whole line, the earlier one with a dashed one. */
function drawEnds(pen, width, height, at) {
  if (!data.earlier) return;
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 1;
  for (const [cycle, dashes] of [[data.cycles, []], [data.earlier.cycles, [3, 3]]]) {
    pen.setLineDash(dashes);
    pen.beginPath();
    pen.moveTo(Math.min(at(cycle), width) - 0.5, 0);
    pen.lineTo(Math.min(at(cycle), width) - 0.5, height);
    pen.stroke();
  }
  pen.setLineDash([]);
}
overlays.push((pen, width, height, at) => { if (view[1] >= Math.min(data.cycles, extent)) drawEnds(pen, width, height, at); });

function drawSeries(series) {
  const most = Math.max(series.most ?? 0, ...series.points.map((point) => point[1]), 1e-9);
  return (pen, width, height, at) => {
    pen.fillStyle = colour("lane");
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = colour(rowColours.get(series.row) ?? "series");
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
