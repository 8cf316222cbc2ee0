// Build the page; the other scripts come before this one.
document.getElementById("program").textContent = data.program;
document.getElementById("about").textContent = data.about;
addRow("axis", "", "", AXIS, drawAxis, "");
if (data.layers) addLayers();
for (const track of data.tracks.filter((one) => one.core === one.row)) addTrack(track);
for (const series of data.series) if (!isBelowItsRow(series)) addSeries(series);
addTable();
addSections();
show(0, total);
new ResizeObserver(scheduleDrawing).observe(timeline);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", scheduleDrawing);
performance.measure("load", { start: 0, end: performance.now() });
