// Build the page; the other scripts come before this one.
document.getElementById("program").textContent = data.program;
document.getElementById("about").textContent = data.about;
const legend = [];
if (hasWaits) legend.push("Hatched: waits for other cores. An arrow starts at the core that another one waited for.");
if (data.earlier) legend.push(`Below each row, in grey: the earlier run, ${data.earlier.program} on ${data.earlier.device}, ${plural(data.earlier.cycles, "cycle")} (${data.against}). ` +
  "A whole line is at the end of this run, a dashed one at that of the earlier one.");
document.getElementById("legend").textContent = legend.join(" ");
addRow("axis", "", "", AXIS, drawAxis, "");
if (data.layers) addLayers();
for (const track of data.tracks.filter((one) => one.core === one.row)) addTrack(track);
for (const series of data.series) if (!isBelowItsRow(series)) addSeries(series);
timeline.append(arrowCanvas);
addTable();
addRange();
addSource();
addSections();
show(0, extent);
new ResizeObserver(scheduleDrawing).observe(timeline);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", scheduleDrawing);
performance.measure("load", { start: 0, end: performance.now() });
