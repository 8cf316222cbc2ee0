// What stands below the timeline: bottleneck, findings, tables, goals.
const rest = document.getElementById("rest");
function section(title, ...children) {
  rest.append(make("section", "", "", make("h2", "", title), ...children));
}
function table(headings, rows, names = 1) {
  const head = make("tr");
  headings.forEach((heading, place) => {
    const cell = make("th", place < names ? "name" : "", heading);
    cell.scope = "col";
    head.append(cell);
  });
  const body = make("tbody", "", "", ...rows);
  return make("div", "scroll", "", make("table", "", "", make("thead", "", "", head), body));
}

function parts() {
  const slowest = data.bottleneck;
  if (slowest) {
    const found = [make("p", "", slowest.why)];
    if (slowest.where) found.push(make("p", "", `${slowest.where[0].toUpperCase()}${slowest.where.slice(1)}`));
    section(`Bottleneck: ${slowest.core}`, ...found);
  }
  if (data.findings.length)
    section("Findings", make("ol", "", "", ...data.findings.map((item) =>
      make("li", "", "", make("b", "", `${item.core} ${item.where}`), ` ${item.note} `, make("br"), item.sentence))));
  if (data.groups.length) {
    const rows = data.groups.map((group) => {
      const go = make("button", "", number(group.begin));
      go.type = "button";
      go.title = "show it in the timeline";
      go.addEventListener("click", () => { near(group.begin, group.until); timeline.scrollIntoView({ block: "nearest" }); });
      return make("tr", "", "", make("td", "name", group.core), make("td", "name", group.where),
        make("td", "", "", go), make("td", "", number(group.cycles)),
        ...group.values.map(([value, ok]) => make("td", ok === false ? "bad" : "", value === null ? "" : number(value) + (ok === false ? " !" : ""))));
    });
    const more = data.hidden ? [make("p", "", `${plural(data.hidden, "more record")} not shown; they are in the timeline.`)] : [];
    section("Records", table(["core", "instructions", "begin", "cycles", ...data.keys.map((key) => key.replaceAll("_", " "))], rows, 2), ...more);
  }
  section("Cores", table(["core", "busy cycles", "share", "records"], data.tracks.map((track) =>
    make("tr", "", "", make("td", "name", track.core), make("td", "", number(track.cycles)),
      make("td", "", `${(100 * track.cycles / total).toFixed(1)}%`), make("td", "", number(track.records))))));
  for (const [title, items] of [["Goals", data.goals], [`Against ${data.against}`, data.differences]])
    if (items.length) section(title, make("ul", "", "", ...items.map(([word, sentence]) =>
      make("li", "", "", make("span", word, `${word} `), sentence))));
  if (data.merge) section("Merged timeline", make("p", "", data.merge));
  if (data.step) section(`Next step (${data.step[0]} of Fig. 7): ${data.step[1]}`, make("p", "", data.step[2]));
}
