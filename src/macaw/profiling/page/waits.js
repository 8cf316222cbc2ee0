// Who waited for whom: hatching where a core waited, and arrows from the cores that it waited for.
const MOST_ARROWS = 60, LEAST_ARROW = 5; // in the view; pixels of a wait that gets one
const BLOCK = 256; // waits of which only the longest is looked at first
const arrowCanvas = element("canvas", "arrows");
let hasArrows = true;
for (const track of data.tracks) {
  track.waits = Intervals.of(track.waits);
  track.whom = decode(track.whom);
  track.longest = longestOfBlocks(track.waits);
}
/** The cycles of the longest wait in each block. */
function longestOfBlocks({ begins, ends, length }) {
  const longest = new Cycles(Math.ceil(length / BLOCK));
  for (let place = 0; place < length; place++)
    longest[place / BLOCK | 0] = Math.max(longest[place / BLOCK | 0], ends[place] - begins[place]);
  return longest;
}
const hasWaits = data.tracks.some((track) => track.waits.length);
const waitText = (track, place) => `${track.core} waits for ${text(track.whom[place]) || "bytes of another core"}`;

/** A hatching with lines of a colour; the second sign of what is drawn with it. */
function hatching(pen, paint) {
  const tile = element("canvas");
  tile.width = tile.height = 6;
  const brush = tile.getContext("2d");
  brush.strokeStyle = paint;
  for (const from of [-6, 0, 6]) { brush.moveTo(from, 6); brush.lineTo(from + 6, 0); }
  brush.stroke();
  return pen.createPattern(tile, "repeat");
}

overlays.push((pen, width, height, at, { track }) => {
  if (!track?.waits.length) return;
  pen.fillStyle = hatching(pen, colour("soft"));
  drawIntervals(pen, track.waits, at, width, 2, height - 4 - (track.earlier ? EARLIER : 0));
});

/** The longest waits in view that name a core, as [cycles, track, place]. */
function waitsInView(most, shortest) {
  const found = [];
  for (const track of data.tracks) {
    const { begins, ends, length } = track.waits;
    for (let place = track.waits.endingAfter(view[0]); place < length && begins[place] < view[1]; place++) {
      if (place % BLOCK === 0 && track.longest[place / BLOCK] < shortest) { place += BLOCK - 1; continue; }
      const cycles = Math.min(ends[place], view[1]) - Math.max(begins[place], view[0]);
      if (cycles >= shortest && ends[place] <= view[1] && track.whom[place]) found.push([cycles, track, place]);
    }
  }
  return found.sort((one, other) => other[0] - one[0]).slice(0, most);
}

/** The chart that shows a core now: its own, or that of its row. */
function chartOf(core) {
  const own = charts.find((chart) => chart.track?.core === core && chart.canvas.clientWidth);
  const track = data.tracks.find((one) => one.core === core);
  return own ?? charts.find((chart) => track && chart.track?.core === track.row);
}

function drawArrows() {
  const first = charts.find((chart) => chart.canvas.clientWidth);
  if (!first || !hasWaits) return;
  const width = first.canvas.clientWidth, height = timeline.clientHeight, ratio = window.devicePixelRatio || 1;
  arrowCanvas.style.left = `${first.canvas.offsetLeft}px`;
  arrowCanvas.style.width = `${width}px`;
  arrowCanvas.style.height = `${height}px`;
  arrowCanvas.width = Math.round(width * ratio);
  arrowCanvas.height = Math.round(height * ratio);
  const list = hasArrows ? waitsInView(MOST_ARROWS, (view[1] - view[0]) / width * LEAST_ARROW) : [];
  const pen = arrowCanvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.strokeStyle = pen.fillStyle = colour("ink");
  const middle = (chart) => chart.canvas.offsetTop + chart.canvas.clientHeight / 2;
  let drawn = 0;
  for (const [, track, place] of list) {
    const to = chartOf(track.core), x = (track.waits.ends[place] - view[0]) / (view[1] - view[0]) * width;
    for (const core of text(track.whom[place]).split(", ")) {
      const from = chartOf(core);
      if (!from || from === to) continue;
      const down = middle(to) > middle(from) ? 1 : -1, end = middle(to) - down * 4;
      pen.beginPath();
      pen.moveTo(x, middle(from));
      pen.lineTo(x, end);
      pen.stroke();
      pen.beginPath();
      pen.arc(x, middle(from), 2.5, 0, 7);
      pen.fill();
      pen.beginPath();
      pen.moveTo(x, end + down * 4);
      pen.lineTo(x - 4, end - down * 4);
      pen.lineTo(x + 4, end - down * 4);
      pen.fill();
      drawn++;
    }
  }
  arrowCanvas.dataset.arrows = drawn;
}
function toggleArrows() {
  hasArrows = !hasArrows;
  scheduleFrame();
}

/** Go to the next or previous wait of a row of the timeline. */
let shownWait = [null, -1];
function stepWait(track, step) {
  if (!track?.waits.length) return;
  const here = shownWait[0] === track ? shownWait[1] + step : track.waits.endingAfter(view[0]);
  const place = Math.min(Math.max(here, 0), track.waits.length - 1), { begins, ends } = track.waits;
  shownWait = [track, place];
  reveal(begins[place], ends[place]);
  const box = chartOf(track.core).canvas.getBoundingClientRect();
  const x = box.left + (Math.max(begins[place], view[0]) - view[0]) / (view[1] - view[0]) * box.width;
  showTip(waitText(track, place), [spanText(begins[place], ends[place])], [], x, box.top + box.height / 2);
  liveText.textContent = `${waitText(track, place)}. ${spanText(begins[place], ends[place])}`;
}
