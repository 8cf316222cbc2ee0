// The sections below the timeline: bottleneck, findings, tables, goals.
const rest = document.getElementById("rest");
function section(title, ...children) {
  rest.append(element("section", "", "", element("h2", "", title), ...children));
}
/** A table whose first `names` columns are texts, and those with the headings `texts`. */
function table(headings, rows, names = 1, texts = []) {
  const head = element("tr");
  headings.forEach((heading, place) => {
    const cell = element("th", place < names || texts.includes(heading) ? "name" : "", heading);
    cell.scope = "col";
    head.append(cell);
  });
  const body = element("tbody", "", "", ...rows);
  return element("div", "scroll", "", element("table", "", "", element("thead", "", "", head), body));
}

/** A button with a cycle that shows an interval in the timeline. */
const spanButton = (begin, end) => button(number(begin), () => goTo(begin, end), "show it in the timeline");
function goTo(begin, end) {
  showAround(begin, end);
  timeline.scrollIntoView({ block: "nearest" });
}

/** The table of what the run would save without something, by row and by finding. */
function addCounterfactuals(slowest) {
  const rows = data.tracks.filter((track) => track.core === track.row && [slowest.saved, slowest.between, slowest.sooner].some((one) => one[track.row]));
  const cells = (name, ...counts) => element("tr", "", "", element("td", "name", name), ...counts.map((count) => element("td", "", count === undefined ? "" : number(count))));
  const all = [...rows.map((track) => cells(track.row, slowest.saved[track.row], slowest.between[track.row], slowest.sooner[track.row])),
    ...[...data.findings, ...data.missed].filter((item) => item.saved).map((item) => cells(`finding: ${item.core} ${item.where}`, item.saved))];
  if (all.length) section("Cycles that the run would save", table(["of", "without this", `without this while ${slowest.core} works`, "if it never started late"], all));
}

function addSections() {
  const slowest = data.bottleneck;
  if (slowest) {
    const paragraphs = [element("p", "", slowest.why)];
    if (slowest.where) paragraphs.push(element("p", "", `${slowest.where[0].toUpperCase()}${slowest.where.slice(1)} `, linkButton(slowest.link)));
    section(`Bottleneck: ${slowest.core}`, ...paragraphs);
  }
  for (const [title, items] of [["Findings", data.findings], ["Missed thresholds", data.missed]])
    if (items.length) section(title, element("ol", "", "", ...items.map((item) =>
      element("li", "", "", element("b", "", `${item.core} ${item.where}`), ` ${item.note} `, ...(item.link ? [linkButton(item.link)] : []), element("br"), item.sentence))));
  if (slowest) addCounterfactuals(slowest);
  if (data.layers) {
    const rows = data.layers.table.map(([name, operator, core, begin, end, predicted, bound, busy]) =>
      element("tr", "", "", element("td", "name", name), element("td", "name", operator), element("td", "name", core),
        element("td", "", "", spanButton(begin, end)), ...[end - begin, predicted, bound].map((cycles) => element("td", "", number(cycles))),
        ...busy.map((cycles) => element("td", "", percent(cycles, end - begin)))));
    section("Layers", table(["layer", "operation", "core", "begin", "cycles", "predicted", "bound", ...data.layers.rows], rows, 3));
  }
  if (data.causes.length) {
    const rows = data.causes.map(([core, depth, name, cycles, share, whom, lines]) => {
      const cause = element("td", "name", name);
      cause.title = data.meanings[name] ?? "";
      cause.style.paddingLeft = `${depth + 0.5}em`;
      return element("tr", "", "", element("td", "name", core), cause, element("td", "", number(cycles)),
        element("td", "", `${(100 * share).toFixed(1)}%`), element("td", "name", whom), element("td", "name", lines.slice(0, 3).join(", ") + (lines.length > 3 ? `, ${number(lines.length - 3)} more` : "")));
    });
    section("Causes", table(["core", "cause", "cycles", "share", "waited for", "lines"], rows, 2, ["waited for", "lines"]));
  }
  section("Cores", table(["core", "busy cycles", "share", "records"], data.tracks.map((track) =>
    element("tr", "", "", element("td", "name", track.core), element("td", "", number(track.cycles)),
      element("td", "", percent(track.cycles, total)), element("td", "", number(track.records))))));
  for (const [title, items] of [["Goals", data.goals], [`Against ${data.against}`, data.differences]])
    if (items.length) section(title, element("ul", "", "", ...items.map(([word, sentence]) =>
      element("li", "", "", element("span", word, `${word} `), sentence))));
  if (data.merge) section("Merged timeline", element("p", "", data.merge));
  if (data.step) section(`Next step (${data.step[0]} of Fig. 7): ${data.step[1]}`, element("p", "", data.step[2]));
}
