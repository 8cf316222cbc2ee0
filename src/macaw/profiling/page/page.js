// Build the page; timeline.js and parts.js come before this script.
document.getElementById("program").textContent = data.program;
document.getElementById("about").textContent = data.about;
addRow("axis", "", "", AXIS, drawAxis, "");
if (data.layers) addTrack(data.layers);
for (const track of data.tracks.filter((one) => one.core === one.row)) addTrack(track);
for (const series of data.series) if (!isBelowItsRow(series)) addSeries(series);
addSections();
show(0, total);
new ResizeObserver(scheduleDrawing).observe(timeline);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", scheduleDrawing);
