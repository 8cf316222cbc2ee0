"use strict";
// Plots and table of a sweep. `data.columns` has a list of values for each setting and metric.
const data = JSON.parse(document.getElementById("data").textContent);
const columns = data.columns;
const names = [...data.settings, ...data.metrics];
const count = names.length ? columns[names[0]].length : 0;
const byId = (id) => document.getElementById(id);
const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "bar"];
const WIDTH = 420, HEIGHT = 280, LEFT = 62, RIGHT = 14, TOP = 12, BOTTOM = 38;

function element(name, attributes, text) {
  const svg = ["svg", "g", "path", "line", "text", "title"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const shown = (value) => typeof value !== "number" ? String(value)
  : Math.abs(value) < 0.1 ? String(Number(value.toPrecision(3))) : value.toLocaleString("en", { maximumFractionDigits: 4 });
const plural = (number, word) => `${shown(number)} ${word}${number === 1 ? "" : "s"}`;
const distinct = (name) => [...new Set(columns[name])];
const numeric = (name) => columns[name].every((value) => typeof value === "number");

// The place of each value of a column between 0 and 1: numbers by size, words side by side.
function scale(name) {
  if (numeric(name)) {
    let least = Math.min(...columns[name]), most = Math.max(...columns[name]);
    if (least > 0 && least < most / 3) least = 0;
    if (least === most) { least -= 1; most += 1; }
    const ticks = [0, 1, 2, 3, 4].map((n) => least + (most - least) * n / 4);
    return { place: (value) => (value - least) / (most - least), ticks };
  }
  const words = distinct(name);
  return { place: (value) => (words.indexOf(value) + 0.5) / words.length, ticks: words };
}

function markPath(shape, x, y) {
  const r = 4.5;
  switch (SHAPES[shape % SHAPES.length]) {
    case "square": return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case "triangle": return `M${x} ${y - r - 1}l${r + 1} ${2 * r}h${-2 * r - 2}z`;
    case "diamond": return `M${x} ${y - r - 1}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`;
    case "cross": return `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`;
    case "bar": return `M${x - r} ${y}h${2 * r}`;
    default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }
}

// The points of which no other is at most as large in both columns.
function paretoFront(rows, xName, yName) {
  const sorted = [...rows].sort((a, b) => columns[xName][a] - columns[xName][b] || columns[yName][a] - columns[yName][b]);
  const front = [];
  let least = Infinity;
  for (const row of sorted) {
    if (columns[yName][row] < least) { front.push(row); least = columns[yName][row]; }
  }
  return front;
}

function plot(rows, caption, choice, xScale, yScale) {
  const left = (value) => LEFT + xScale.place(value) * (WIDTH - LEFT - RIGHT);
  const top = (value) => HEIGHT - BOTTOM - yScale.place(value) * (HEIGHT - TOP - BOTTOM);
  const figure = element("figure");
  if (caption) figure.append(element("figcaption", {}, caption));
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `${choice.y} by ${choice.x} ${caption}` });
  for (const tick of yScale.ticks) {
    svg.append(element("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: top(tick), y2: top(tick) }));
    svg.append(element("text", { x: LEFT - 6, y: top(tick) + 4, "text-anchor": "end" }, shown(tick)));
  }
  for (const tick of xScale.ticks) svg.append(element("text", { x: left(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, shown(tick)));
  svg.append(element("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, choice.x));
  svg.append(element("text", { x: 4, y: 10 }, choice.y));
  const kinds = choice.series ? distinct(choice.series) : [null];
  kinds.forEach((kind, index) => {
    const own = rows.filter((row) => kind === null || columns[choice.series][row] === kind);
    const colour = `var(--s${index % 6})`;
    if (choice.series && numeric(choice.x)) {
      const line = [...own].sort((a, b) => columns[choice.x][a] - columns[choice.x][b]);
      const path = line.map((row, n) => `${n ? "L" : "M"}${left(columns[choice.x][row])} ${top(columns[choice.y][row])}`).join("");
      svg.append(element("path", { d: path || "M0 0", fill: "none", stroke: colour, "stroke-opacity": .5 }));
    }
    for (const row of own) {
      const where = data.settings.map((name) => `${name}=${shown(columns[name][row])}`).join(", ");
      const label = `${where}: ${choice.y} ${shown(columns[choice.y][row])}, ${choice.x} ${shown(columns[choice.x][row])}`;
      const mark = element("path", {
        class: "mark", d: markPath(index, left(columns[choice.x][row]), top(columns[choice.y][row])), fill: colour, stroke: colour,
        "stroke-width": 1.5, tabindex: 0, role: "img", "aria-label": label, "data-row": row,
      });
      mark.append(element("title", {}, label));
      mark.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(row, true); });
      mark.addEventListener("click", () => choose(row, true));
      svg.append(mark);
    }
  });
  if (choice.front && numeric(choice.x) && numeric(choice.y)) {
    const front = paretoFront(rows, choice.x, choice.y);
    const path = front.map((row, n) => `${n ? "L" : "M"}${left(columns[choice.x][row])} ${top(columns[choice.y][row])}`).join("");
    svg.append(element("path", { class: "front", d: path, "data-rows": front.join(" ") }));
  }
  figure.append(svg);
  return figure;
}

function draw() {
  const choice = { x: byId("x").value, y: byId("y").value, series: byId("series").value, facet: byId("facet").value, front: byId("front").checked };
  const every = [...Array(count).keys()];
  const xScale = scale(choice.x), yScale = scale(choice.y);
  const facets = choice.facet ? distinct(choice.facet) : [null];
  byId("plots").replaceChildren(...facets.map((value) => plot(
    every.filter((row) => value === null || columns[choice.facet][row] === value),
    value === null ? "" : `${choice.facet} = ${shown(value)}`, choice, xScale, yScale)));
  byId("legend").textContent = choice.series
    ? `${choice.series}: ` + distinct(choice.series).map((kind, n) => `${SHAPES[n % SHAPES.length]} ${shown(kind)}`).join(", ") : "";
}

let sorting = { name: null, down: false };

function drawTable() {
  const every = [...Array(count).keys()];
  if (sorting.name !== null) {
    const values = columns[sorting.name], sign = sorting.down ? -1 : 1;
    every.sort((a, b) => sign * (values[a] < values[b] ? -1 : values[a] > values[b] ? 1 : 0) || a - b);
  }
  const head = element("tr");
  for (const name of names) {
    const heading = element("th", { "aria-sort": sorting.name !== name ? "none" : sorting.down ? "descending" : "ascending" });
    const button = element("button", { type: "button" }, sorting.name !== name ? name : `${name} ${sorting.down ? "▼" : "▲"}`);
    button.addEventListener("click", () => {
      sorting = { name, down: sorting.name === name && !sorting.down };
      drawTable();
      byId("points").querySelectorAll("th button")[names.indexOf(name)].focus();
    });
    heading.append(button);
    head.append(heading);
  }
  const rows = every.map((row) => {
    const made = element("tr", { id: `row${row}`, tabindex: -1 });
    for (const name of names) made.append(element("td", {}, shown(columns[name][row])));
    return made;
  });
  byId("points").replaceChildren(head, ...rows);
}

function choose(row, move) {
  for (const old of document.querySelectorAll("tr.chosen")) old.classList.remove("chosen");
  const found = byId(`row${row}`);
  found.classList.add("chosen");
  if (move) { found.scrollIntoView({ block: "center" }); found.focus(); }
}

function offer(id, options, chosen, none) {
  const select = byId(id);
  if (none) select.append(element("option", { value: "" }, none));
  for (const name of options) select.append(element("option", { value: name }, name));
  select.value = chosen;
  select.addEventListener("change", draw);
}

byId("title").textContent = `Sweep of ${data.subject}`;
byId("summary").textContent = `${plural(count, "point")}, ${plural(data.settings.length, "setting")}, ${data.refused.length} refused`;
if (count) {
  const numbers = names.filter(numeric);
  offer("y", numbers, "cycles");
  offer("x", names, data.settings[0]);
  offer("series", data.settings, data.settings[1] || "", "nothing");
  offer("facet", data.settings, data.settings[2] || "", "nothing");
  byId("front").addEventListener("change", draw);
  byId("choices").addEventListener("submit", (event) => event.preventDefault());
  draw();
  drawTable();
}
byId("refused").hidden = !data.refused.length;
for (const [point, reason] of data.refused) byId("reasons").append(element("li", {}, `${point}: ${reason}`));
