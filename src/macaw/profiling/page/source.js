// The pane of the source: its lines with their cycles. A place is "file:line".
const HEATS = ["", "·", "▪", "■", "█"], HEAT_SHARES = [0, 0.01, 0.05, 0.2]; // signs of a line by its share of the cycles
const source = { file: "", lines: [], totals: new Map(), place: (line) => `${source.file}:${line}` };
const hasAccounts = data.lines.length > 0;
const sourceGrid = new Grid(document.getElementById("source"), {
  rows: 18, prefix: "line", open: () => showLine(), rowOf: sourceCells,
  columns: [["line", "line"], ["heat", "heat"], ...(hasAccounts ? [["run", "run"], ["cycles", "all cores"]] : []), ["records", "records"],
    ["text", "source", true], ...(hasAccounts ? [["causes", "causes", true]] : [])],
});

/** Add up cycles by place: of accounts, and of records that begin there. */
function addTotals() {
  const ofRecords = new Float64Array(data.strings.length);
  for (let record = 0; record < records.count; record++)
    ofRecords[records.place[record]] += records.cycles[record] - records.waited[record];
  const totals = source.totals;
  for (let place = 1; place < ofRecords.length; place++)
    if (ofRecords[place]) totals.set(data.strings[place], { run: 0, cycles: 0, causes: {}, records: ofRecords[place] });
  for (const [place, run, cycles, causes] of data.lines) {
    const one = totals.get(place) ?? { records: 0 };
    totals.set(place, Object.assign(one, { run, cycles, causes }));
  }
}
function heatOf(one) {
  const share = hasAccounts ? one.run / total : one.records / Math.max(source.most, 1);
  return (hasAccounts ? one.run : one.records) ? HEAT_SHARES.filter((limit) => share >= limit).length : 0;
}
function sourceCells(index) {
  const line = index + 1, one = source.totals.get(source.place(line)) ?? { run: 0, cycles: 0, records: 0, causes: {} };
  const cells = [element("td", "", String(line)), element("td", `heat heat${heatOf(one)}`, HEATS[heatOf(one)])];
  const counts = hasAccounts ? [one.run, one.cycles, one.records] : [one.records];
  for (const count of counts) cells.push(element("td", "", count ? number(count) : ""));
  cells.push(element("td", "name code", source.lines[index]));
  if (hasAccounts) cells.push(element("td", "name", Object.entries(one.causes).slice(0, 3).map(([cause, cycles]) => `${cause} ${number(cycles)}`).join(", ")));
  return cells;
}
function openFile(file, line = 1) {
  source.file = file;
  source.lines = data.sources[file].split(/\r?\n/);
  if (source.lines.length > 1 && source.lines.at(-1) === "") source.lines.pop();
  source.most = Math.max(...[...source.totals.values()].map((one) => one.records), 1);
  document.getElementById("source-file").value = file;
  sourceGrid.fill(source.lines.length);
  sourceGrid.activate(line + 7);
  sourceGrid.activate(line - 1);
}
/** Show a place of the source; false if the page does not have it. */
function goToPlace(place) {
  const [, file, line] = place.match(/^(.*):(\d+)$/s) ?? [];
  if (file === undefined || !(file in data.sources)) return false;
  openFile(file, Number(line));
  return true;
}
/** Search for the records of the active line. */
function showLine() {
  searchFor(`=${source.place(sourceGrid.active + 1)}`);
  finishSearch();
  if (found.count) goToMatch(0);
}
/** Show the line of the chosen record. */
function goToSource() {
  const place = chosen >= 0 ? text(records.place[chosen]) : "";
  if (place && goToPlace(place)) {
    sourceGrid.container.scrollIntoView({ block: "nearest" });
    sourceGrid.container.focus();
  }
}
function addSource() {
  const files = Object.keys(data.sources), section = document.getElementById("source-section");
  section.hidden = !files.length;
  if (!files.length) return;
  addTotals();
  const menu = document.getElementById("source-file");
  for (const file of files) menu.append(element("option", "", file));
  menu.addEventListener("input", () => openFile(menu.value));
  const [hottest] = [...source.totals].filter(([place]) => files.some((file) => place.startsWith(`${file}:`)))
    .sort(([, one], [, other]) => other.run - one.run || other.records - one.records);
  if (!hottest || !goToPlace(hottest[0])) openFile(files[0]);
}

/** Follow a link: a core, a place in the source, and a span of cycles; each of them may be missing. */
function followLink(link) {
  if (link.place) goToPlace(link.place);
  if (link.until === undefined) return;
  showAround(link.begin, link.until);
  const track = data.tracks.find((one) => one.core === link.core);
  const record = track ? members[track.place].find((one) => records.begin[one] === link.begin && records.end[one] === link.until) : undefined;
  const chart = chartOf(link.core);
  chart?.canvas.focus({ preventScroll: true });
  timeline.scrollIntoView({ block: "nearest" });
  if (record !== undefined) choose(record);
}
const linkButton = (link) => button("show", () => followLink(link), "show it in the timeline and in the source");
