// Draws docs/terminal.svg: the output of `service demo --once` on a terminal, from a run that this script makes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";

const COLUMNS = 92;
const LINE = 19;
const CHARACTER = 8.43;
const MARGIN = 20;
const TITLE_BAR = 36;
const INK = "#e5e7eb";
const COLORS = {
  31: "#f87171",
  32: "#4ade80",
  33: "#fbbf24",
  34: "#60a5fa",
  35: "#c084fc",
  36: "#22d3ee",
  90: "#9ca3af",
};

const root = fileURLToPath(new URL("..", import.meta.url));
const lines = (await record(["demo", "--once"])).trimEnd().split("\r\n");
mkdirSync(join(root, "docs"), { recursive: true });
writeFileSync(join(root, "docs/terminal.svg"), draw(["\u001b[2m$\u001b[22m service demo --once", "", ...lines]));

function record(args) {
  const home = mkdtempSync(join(tmpdir(), "service-picture-"));
  const terminal = spawn(process.execPath, [join(root, "bin/service.js"), ...args], {
    cols: COLUMNS,
    rows: 60,
    env: { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color" },
  });
  return new Promise((resolve) => {
    let text = "";
    terminal.onData((data) => (text += data));
    terminal.onExit(() => {
      rmSync(home, { recursive: true, force: true });
      resolve(text);
    });
  });
}

function draw(rows) {
  const width = Math.round(COLUMNS * CHARACTER + 2 * MARGIN);
  const height = TITLE_BAR + rows.length * LINE + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="service demo in a terminal">`,
    `<rect width="${width}" height="${height}" rx="10" fill="#111827"/>`,
    ...["#f87171", "#fbbf24", "#4ade80"].map(
      (color, i) => `<circle cx="${22 + i * 20}" cy="18" r="6" fill="${color}"/>`,
    ),
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="${INK}" xml:space="preserve">`,
    ...drawRows(rows),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Styles continue on the next line, as on a terminal. */
function drawRows(rows) {
  let style = {};
  return rows.map((row, index) => {
    const spans = [];
    let column = 0;
    // Text and the sequences that change its style alternate.
    row.split(/\u001b\[([\d;]*)m/).forEach((part, turn) => {
      if (turn % 2 === 1) style = part.split(";").reduce(restyle, style);
      else if (part !== "") {
        spans.push(span(part, column, style));
        column += part.length;
      }
    });
    return `<text y="${TITLE_BAR + index * LINE + 14}">${spans.join("")}</text>`;
  });
}

function restyle(style, code) {
  if (code === "" || code === "0") return {};
  if (code === "1") return { ...style, weight: "bold" };
  if (code === "2") return { ...style, opacity: "0.6" };
  if (code === "22") return { color: style.color };
  if (code === "39") return { ...style, color: undefined };
  return { ...style, color: COLORS[code] ?? style.color };
}

/** Not every viewer keeps leading spaces: they become the position at which the text begins. */
function span(text, column, { weight, opacity, color }) {
  const indent = text.length - text.trimStart().length;
  const attributes = [
    `x="${(MARGIN + (column + indent) * CHARACTER).toFixed(1)}"`,
    weight && `font-weight="${weight}"`,
    opacity && `fill-opacity="${opacity}"`,
    color && `fill="${color}"`,
  ].filter(Boolean);
  const escaped = text.trimStart().replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<tspan ${attributes.join(" ")}>${escaped}</tspan>`;
}
