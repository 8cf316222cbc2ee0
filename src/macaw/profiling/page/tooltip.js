// The tooltip: what is under the pointer, or the record that was chosen with keys.
const tip = document.getElementById("tip");
const hideTip = () => { tip.hidden = true; };

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

const spanText = (begin, end) => `cycles ${number(begin)} to ${number(end)}: ${number(end - begin)}`;

/** Title, lines and numbers of a record. */
function describe(record) {
  const place = text(records.place[record]), layer = text(records.layer[record]), waited = records.waited[record];
  const name = text(records.name[record]), which = whichInstructions(record);
  return [name || which, [
    `${data.tracks[records.track[record]].core}, ${which}${place ? `, ${place}` : ""}${layer ? `, layer ${layer}` : ""}`,
    spanText(records.begin[record], records.end[record]) + (waited ? `, ${number(waited)} of them waiting for others` : ""),
  ], [...countersOf(record), ...metricsOf(record).map(([key, value]) => [key.replaceAll("_", " "), value])]];
}

/** The record of lanes at a cycle, within a pixel, or -1. */
function recordAt(shownLanes, cycle, pixel) {
  for (const lane of shownLanes) {
    const place = lane.endingAfter(cycle - pixel);
    if (place < lane.length && lane.begins[place] <= cycle + pixel) return lane.records[place];
  }
  return -1;
}

/** Show what a track does at a cycle; a pixel of its row has `pixel` cycles. */
function showTrackTip(track, cycle, x, y, pixel) {
  const record = recordAt(lanes[track.place], cycle, pixel);
  if (record >= 0) return showTip(...describe(record), x, y);
  const doing = data.tracks.filter((core) => core.row === track.row && core !== track).flatMap((core) =>
    lanes[core.place].map((lane) => [core, lane, lane.at(cycle)]).filter(([, , place]) => place >= 0));
  const place = track.busy.at(cycle);
  if (place >= 0) {
    const lines = doing.slice(0, 6).map(([core, lane, index]) => `${core.core}: ${nameOf(lane.records[index])}`);
    if (doing.length > 6) lines.push(`and ${doing.length - 6} more`);
    return showTip(`${track.core} is busy`, [spanText(track.busy.begins[place], track.busy.ends[place]), ...lines], [], x, y);
  }
  const wait = track.waits.at(cycle);
  if (wait >= 0) return showTip(waitText(track, wait), [spanText(track.waits.begins[wait], track.waits.ends[wait])], [], x, y);
  return showTip(`${track.core} has nothing to do or waits`, [`cycle ${number(Math.floor(cycle))}`], [], x, y);
}
