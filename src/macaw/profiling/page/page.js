// The page is made; timeline.js and parts.js stand before this.
document.getElementById("program").textContent = data.program;
document.getElementById("about").textContent = data.about;
addRow("axis", "", "", AXIS, drawAxis, "");
for (const track of data.tracks.filter((one) => one.core === one.row)) addTrack(track);
for (const series of data.series) if (!beneath(series)) addSeries(series);
parts();
show(0, total);
new ResizeObserver(later).observe(timeline);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
