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
    name: decode(columns.name), place: decode(columns.place), layer: decode(columns.layer), metrics: new Map(data.groups) };
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

// ------------------------------------------------------------ order

/** Sort records by keys below 2^32, equal ones in their order before: two rounds of 16 bits. */
function sortByKeys(order, keys) {
  let from = order, to = new Uint32Array(order.length);
  const starts = new Uint32Array(65537);
  for (const shift of [0, 16]) {
    starts.fill(0);
    for (const record of from) starts[(keys[record] >>> shift & 0xffff) + 1]++;
    if (starts.includes(from.length, 1)) continue; // all have the same digit
    for (let digit = 0; digit < 65536; digit++) starts[digit + 1] += starts[digit];
    for (const record of from) to[starts[keys[record] >>> shift & 0xffff]++] = record;
    [from, to] = [to, from === order ? new Uint32Array(order.length) : from];
  }
  return from;
}

const inTime = Uint32Array.from({ length: records.count }, (_, record) => record);
// What the table can be sorted by: a function of a record each.
const KEYS_OF_ORDER = {
  core: (record) => records.track[record],
  where: (() => {
    let ranks = null; // of the strings, in the order of the alphabet
    const rank = () => {
      const order = data.strings.map((_, place) => place).sort((one, other) => (data.strings[one] < data.strings[other] ? -1 : 1));
      ranks = new Uint32Array(order.length);
      order.forEach((place, position) => { ranks[place] = position; });
      return ranks;
    };
    return (record) => (ranks ?? rank())[records.place[record] || records.name[record]];
  })(),
  begin: (record) => records.begin[record],
  cycles: (record) => records.cycles[record] - records.waited[record],
  waited: (record) => records.waited[record],
};
const orders = new Map(); // those already made, by column and direction

/** All records sorted by a column; those without a value come last. */
function sortedBy(column, descending) {
  const key = `${column} ${descending}`;
  if (!orders.has(key)) orders.set(key, column in KEYS_OF_ORDER ? sortedByKey(KEYS_OF_ORDER[column], descending) : sortedByMetric(column, descending));
  return orders.get(key);
}
function sortedByKey(keyOf, descending) {
  if (Cycles === Float64Array) // keys have more than 32 bits
    return inTime.slice().sort((one, other) => (descending ? keyOf(other) - keyOf(one) : keyOf(one) - keyOf(other)) || one - other);
  const keys = new Uint32Array(records.count);
  for (let record = 0; record < records.count; record++) keys[record] = descending ? ~keyOf(record) : keyOf(record);
  return sortByKeys(inTime, keys);
}
function sortedByMetric(key, descending) {
  const value = (record) => records.metrics.get(record)[key][0], has = new Uint8Array(records.count);
  const known = [...records.metrics.keys()].filter((record) => record !== null && key in records.metrics.get(record));
  known.sort((one, other) => (descending ? value(other) - value(one) : value(one) - value(other)) || one - other);
  for (const record of known) has[record] = 1;
  const order = new Uint32Array(records.count);
  order.set(known);
  let place = known.length;
  for (let record = 0; record < records.count; record++) if (!has[record]) order[place++] = record;
  return order;
}

// ------------------------------------------------------------ search

/** A mask of the records that fit a search: bit 0 of each. */
function matching({ words, track, least, begin, end, missed }) {
  const needed = words.length ? 2 ** words.length - 1 : 0; // a bit for each word
  const has = (content, word) => (word.startsWith("=") ? content === word.slice(1) : content.includes(word));
  const bits = (content) => words.reduce((mask, word, place) => mask | (has(content.toLowerCase(), word) ? 1 << place : 0), 0);
  const ofStrings = words.length ? Uint32Array.from(data.strings, bits) : null;
  const ofTracks = data.tracks.map((one) => (words.length ? bits(one.core) : 0));
  const fits = data.tracks.map((one) => track === "" || one.core === track || one.row === track);
  const mask = new Uint8Array(records.count);
  let count = 0;
  for (let record = 0; record < records.count; record++) {
    const place = records.track[record];
    if (!fits[place]) continue;
    if (needed && ((ofTracks[place] | ofStrings[records.name[record]] | ofStrings[records.place[record]] | ofStrings[records.layer[record]]) & needed) !== needed) continue;
    if (least && records.cycles[record] - records.waited[record] < least) continue;
    if (begin !== null && !(records.begin[record] < end && records.end[record] > begin)) continue;
    if (missed && !misses(record)) continue;
    mask[record] = 1;
    count++;
  }
  return { mask, count };
}
const MOST_WORDS = 30; // of a search: one bit each
const misses = (record) => Object.values(records.metrics.get(record) ?? {}).some(([, ok]) => ok === false);

/** The records of a mask in an order. */
function selected(order, mask, count) {
  if (count === order.length) return order;
  const found = new Uint32Array(count);
  let place = 0;
  for (const record of order) if (mask[record]) found[place++] = record;
  return found;
}
