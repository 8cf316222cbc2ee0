// The records as columns, their order, search and filter. A record is its place in the columns.
const records = (() => {
  const columns = data.records, count = columns.count;
  const track = decode(columns.track), level = decode(columns.level), cycles = decode(columns.cycles);
  const begin = sums(decode(columns.begin)), end = begin.map((time, place) => time + cycles[place]);
  const instructions = decode(columns.instructions), skipped = decode(columns.first);
  const first = new Cycles(count), next = new Float64Array(data.tracks.length);
  for (let place = 0; place < count; place++) {
    first[place] = next[track[place]] + skipped[place];
    next[track[place]] = first[place] + instructions[place];
  }
  return { count, track, level, begin, end, cycles, first, instructions, waited: decode(columns.waited),
    name: decode(columns.name), place: decode(columns.place), layer: decode(columns.layer) };
})();
data.records.begin = data.records.cycles = data.records.first = null; // their texts are large

/** The counters of a record that are not 0, as pairs; their columns are decoded when first needed. */
function countersOf(record) {
  return data.records.counters.map((counter) => {
    counter.decoded ??= decode(counter.values);
    const value = counter.decoded[record];
    return [counter.name, counter.time && value ? records.begin[record] + value - 1 : value];
  }).filter(([, value]) => value);
}

const nameOf = (record) => text(records.name[record]) || whichInstructions(record);
function whichInstructions(record) {
  const first = records.first[record], count = records.instructions[record];
  return count === 1 ? `instruction ${number(first)}` : `instructions ${number(first)} to ${number(first + count - 1)}`;
}
function whereOf(record) {
  const place = text(records.place[record]), layer = text(records.layer[record]), more = records.instructions[record] - 1;
  return `${place ? `${place}: ` : ""}${text(records.name[record]) || `instruction ${number(records.first[record])}`}` +
    `${layer ? ` (layer ${layer})` : ""}${more ? ` +${number(more)}` : ""}`;
}

/** Intervals of one track that do not overlap: a level of its records, each with its number. */
class Lane extends Intervals {
  constructor(members) {
    super(Cycles.from(members, (record) => records.begin[record]), Cycles.from(members, (record) => records.end[record]));
    this.records = members;
  }
}

/** The records of each track, and its lanes. */
const members = data.tracks.map(() => []), lanes = data.tracks.map(() => []);
(() => {
  const counts = data.tracks.map(() => []);
  for (let record = 0; record < records.count; record++) {
    const one = counts[records.track[record]], level = records.level[record];
    one[level] = (one[level] ?? 0) + 1;
  }
  const filled = counts.map((levels) => levels.map((count) => ({ place: 0, records: new Uint32Array(count) })));
  const all = counts.map((levels) => ({ place: 0, records: new Uint32Array(levels.reduce((sum, count) => sum + count, 0)) }));
  for (let record = 0; record < records.count; record++) {
    const track = records.track[record];
    for (const list of [filled[track][records.level[record]], all[track]]) list.records[list.place++] = record;
  }
  data.tracks.forEach((track, place) => {
    track.place = place;
    track.busy = Intervals.of(track.busy);
    members[place] = all[place].records;
    lanes[place] = filled[place].map((list) => new Lane(list.records));
  });
})();

// ------------------------------------------------------------ metrics

// Of each metric: the records that have it, in the order of time, their values, and whether these miss the threshold.
const metrics = data.metrics.map(({ key, records: places, values, missed }) => ({ key, records: sums(decode(places)), values: decode(values), missed: decode(missed) }));
data.metrics = null; // its texts are large

/** The value of a metric of a record, and whether it misses its threshold; nothing if the record does not have it. */
function metricOf(metric, record) {
  const place = countUpTo(metric.records, record) - 1;
  return place >= 0 && metric.records[place] === record ? [metric.values[place], metric.missed[place] === 1] : [];
}
const metricsOf = (record) => metrics.map((metric) => [metric.key, ...metricOf(metric, record)]).filter(([, value]) => value !== undefined);

// ------------------------------------------------------------ order

const inTime = Uint32Array.from({ length: records.count }, (_, record) => record);
const ranks = decode(data.ranks); // of the strings, in the order of the alphabet
// What the table can be sorted by: a function of a record each.
const KEYS_OF_ORDER = {
  core: (record) => records.track[record],
  where: (record) => ranks[records.place[record] || records.name[record]],
  begin: (record) => records.begin[record],
  cycles: (record) => records.cycles[record] - records.waited[record],
  waited: (record) => records.waited[record],
};
const orders = new Map(); // those already made, by column and direction

/** All records sorted by a column; those without a value come last. */
function* sortedBy(column, descending) {
  const key = `${column} ${descending}`;
  if (!orders.has(key)) orders.set(key, yield* sortedByValues(yield* valuesOf(column, descending ? -1 : 1)));
  return orders.get(key);
}
function* valuesOf(column, sign) {
  const metric = metrics.find((one) => one.key === column), keyOf = KEYS_OF_ORDER[column];
  const values = new Float64Array(records.count).fill(Infinity);
  yield* inParts(metric ? metric.records.length : records.count, (from, until) => {
    for (let place = from; place < until; place++)
      if (metric) values[metric.records[place]] = sign * metric.values[place]; else values[place] = sign * keyOf(place);
  });
  return values;
}
/** The records by their values, equal ones in the order of time: rounds of 16 bits, the lowest first. Changes `values`. */
function* sortedByValues(values) {
  const count = values.length, digits = new Uint16Array(values.buffer); // four of each value
  yield* inParts(count, (from, until) => { // the order of the bits becomes that of the values
    for (let top = 4 * from + 3; top < 4 * until; top += 4) {
      if (digits[top] < 0x8000) digits[top] ^= 0x8000;
      else for (let digit = top - 3; digit <= top; digit++) digits[digit] ^= 0xffff;
    }
  });
  let order = inTime, spare = new Uint32Array(count);
  for (let round = 0; round < 4; round++) {
    const starts = new Uint32Array(0x10001), before = order, after = spare;
    yield* inParts(count, (from, until) => { for (; from < until; from++) starts[digits[4 * from + round] + 1]++; });
    if (starts.includes(count, 1)) continue; // all have the same digit
    for (let digit = 0; digit < 0x10000; digit++) starts[digit + 1] += starts[digit];
    yield* inParts(count, (from, until) => {
      for (; from < until; from++) after[starts[digits[4 * before[from] + round]]++] = before[from];
    });
    [order, spare] = [after, before === inTime ? new Uint32Array(count) : before];
  }
  return order;
}

// ------------------------------------------------------------ search

/** A mask of the records that fit a search, 1 for each, and their number. */
function* matching({ words, track, least, begin, end, missed }) {
  const needed = words.length ? 2 ** words.length - 1 : 0; // a bit for each word
  const has = (content, word) => (word.startsWith("=") ? content === word.slice(1) : content.includes(word));
  const bits = (content) => words.reduce((mask, word, place) => mask | (has(content.toLowerCase(), word) ? 1 << place : 0), 0);
  const ofStrings = new Uint32Array(words.length ? data.strings.length : 0);
  yield* inParts(ofStrings.length, (from, until) => { for (; from < until; from++) ofStrings[from] = bits(data.strings[from]); });
  const ofTracks = data.tracks.map((one) => (words.length ? bits(one.core) : 0));
  const fits = data.tracks.map((one) => track === "" || one.core === track || one.row === track);
  const mask = new Uint8Array(records.count), candidates = missed ? recordsThatMiss() : null;
  let count = 0;
  yield* inParts(records.count, (from, until) => {
    for (let record = from; record < until; record++) {
      const place = records.track[record];
      if (!fits[place] || (candidates && !candidates[record])) continue;
      if (needed && ((ofTracks[place] | ofStrings[records.name[record]] | ofStrings[records.place[record]] | ofStrings[records.layer[record]]) & needed) !== needed) continue;
      if (least && records.cycles[record] - records.waited[record] < least) continue;
      if (begin !== null && !(records.begin[record] < end && records.end[record] > begin)) continue;
      mask[record] = 1;
      count++;
    }
  });
  return { mask, count };
}
/** A mask of the records with a metric that misses its threshold. */
function recordsThatMiss() {
  const mask = new Uint8Array(records.count);
  for (const metric of metrics) metric.records.forEach((record, place) => { mask[record] |= metric.missed[place]; });
  return mask;
}
const MOST_WORDS = 30; // of a search: one bit each


/** The records of a mask in an order. */
function* selected(order, mask, count) {
  const found = new Uint32Array(count);
  let place = 0;
  yield* inParts(order.length, (from, until) => { for (; from < until; from++) if (mask[order[from]]) found[place++] = order[from]; });
  return found;
}
