// The data of the page, and what all parts need: texts, numbers, elements, columns of numbers.
const data = JSON.parse(document.getElementById("data").textContent);
const total = Math.max(data.cycles, 1);
const extent = Math.max(total, data.earlier?.cycles ?? 0); // of the axis
const liveText = document.getElementById("live");
const text = (index) => data.strings[index];

const number = (value) => value === null || value === undefined ? "-"
  : Number.isInteger(value) || Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
  : String(Number(value.toPrecision(3)));
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
const percent = (part, whole) => `${(100 * part / Math.max(whole, 1)).toFixed(1)}%`;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** An element with a class, text and children; texts are never HTML. */
function element(tag, kind = "", content = "", ...children) {
  const node = document.createElement(tag);
  if (kind) node.className = kind;
  if (content !== "") node.textContent = content;
  node.append(...children);
  return node;
}

/** A button with a text that calls a function. */
function button(label, act, title = "") {
  const node = element("button", "", label);
  node.type = "button";
  if (title) node.title = title;
  node.addEventListener("click", act);
  return node;
}

/** Call a function; the browser's tools list the time that it took under a name. */
function timed(name, act) {
  const start = performance.now();
  const result = act();
  performance.measure(name, { start, end: performance.now() });
  if (performance.getEntriesByName(name).length > 2000) performance.clearMeasures(name);
  return result;
}

// ------------------------------------------------------------ columns of numbers

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f8: Float64Array };
const Cycles = extent < 2 ** 31 ? Uint32Array : Float64Array; // for times

/** The numbers of a column; macaw.profiling.page_records writes them. */
function decode(column) {
  if (column.data === undefined)
    return new (column.same >= 0 && column.same < 256 ? Uint8Array : Float64Array)(column.count).fill(column.same);
  const letters = atob(column.data), bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  return new ARRAYS[column.type](bytes.buffer);
}

/** Times from the distances between them. */
function sums(distances) {
  const times = new Cycles(distances.length);
  for (let place = 0, time = 0; place < times.length; place++) times[place] = time += distances[place];
  return times;
}

/** How many values of a sorted array are at most `limit`. */
function countUpTo(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= limit) low = middle + 1; else high = middle;
  }
  return low;
}

/** Sorted intervals that do not overlap: `begins`, `ends`, and the cycles before each. */
class Intervals {
  constructor(begins, ends) {
    [this.begins, this.ends, this.length] = [begins, ends, begins.length];
    this.before = new Float64Array(begins.length + 1);
    for (let place = 0; place < begins.length; place++)
      this.before[place + 1] = this.before[place] + ends[place] - begins[place];
  }
  static of(columns) {
    const begins = sums(decode(columns.begin)), cycles = decode(columns.cycles);
    return new Intervals(begins, begins.map((begin, place) => begin + cycles[place]));
  }
  /** The place of the first interval that ends after a cycle. */
  endingAfter(cycle) {
    return countUpTo(this.ends, cycle);
  }
  /** The place of the interval that contains a cycle, or -1. */
  at(cycle) {
    const place = this.endingAfter(cycle);
    return place < this.length && this.begins[place] <= cycle ? place : -1;
  }
  /** The cycles in intervals before a cycle. */
  cyclesBefore(cycle) {
    const place = this.endingAfter(cycle);
    return this.before[place] + (place < this.length ? Math.max(cycle - this.begins[place], 0) : 0);
  }
  cyclesIn(begin, end) {
    return this.cyclesBefore(end) - this.cyclesBefore(begin);
  }
}
