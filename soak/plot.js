// Draws the measurements of a soak run as one SVG: a panel per measure, a line per process, a tick at each kill.
const WIDTH = 960;
const PANEL = 130;
const LEFT = 70;
const RIGHT = 20;
const COLORS = ["#2563eb", "#d97706", "#059669", "#7c3aed"];

/** `panels`: `{ title, unit, lines: { name: [[seconds, value], …] } }`; `kills`: `[[seconds, name], …]`. */
export function drawPlot({ title, seconds, panels, kills }) {
  const height = 60 + panels.length * PANEL + 30;
  const x = (at) => LEFT + (at / seconds) * (WIDTH - LEFT - RIGHT);
  const parts = panels.map((panel, index) => drawPanel(panel, 50 + index * PANEL, x));
  const ticks = kills.map(
    ([at]) =>
      `<line x1="${x(at).toFixed(1)}" y1="44" x2="${x(at).toFixed(1)}" y2="${height - 30}" stroke="#dc2626" stroke-opacity="0.25"/>`,
  );
  const minutes = Math.ceil(seconds / 60);
  const step = Math.max(1, Math.ceil(minutes / 12));
  const axis = Array.from({ length: Math.floor(minutes / step) + 1 }, (_, i) => i * step)
    .filter((minute) => minute * 60 <= seconds)
    .map((minute) => label(x(minute * 60), height - 12, `${minute} min`, "middle"));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="26" font-size="15" font-weight="600" fill="#111827">${escape(title)}</text>`,
    ...ticks,
    ...parts,
    ...axis,
    "</svg>",
  ].join("\n");
}

function drawPanel({ title, unit, lines }, top, x) {
  const bottom = top + PANEL - 30;
  const values = Object.values(lines).flatMap((points) => points.map(([, value]) => value));
  const highest = Math.max(1, ...values) * 1.1;
  const y = (value) => bottom - (value / highest) * (bottom - top - 18);
  const drawn = Object.entries(lines).map(([name, points], index) => {
    const path = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const color = COLORS[index % COLORS.length];
    return [
      `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
      `<text x="${WIDTH - RIGHT}" y="${top + 10 + index * 14}" fill="${color}" text-anchor="end">${escape(name)}</text>`,
    ].join("\n");
  });
  return [
    `<line x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}" stroke="#9ca3af"/>`,
    `<text x="${LEFT}" y="${top + 10}" font-weight="600" fill="#374151">${escape(title)}</text>`,
    label(LEFT - 8, bottom + 4, "0", "end"),
    label(LEFT - 8, y(highest / 1.1) + 4, `${Math.round(highest / 1.1)} ${unit}`.trim(), "end"),
    ...drawn,
  ].join("\n");
}

function label(x, y, text, anchor) {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="#4b5563" text-anchor="${anchor}">${escape(text)}</text>`;
}

function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
