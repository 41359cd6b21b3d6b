// Draws terminals for the pages in docs from runs that this script makes: of `listen`, `dev` and `why`. Arguments select pictures.
// `dev` and `why` use ports 3000 and 4010.
import { spawn as spawnProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";

const LISTEN_COLUMNS = 120;
const LISTEN_ROWS = 30;
const PROJECT_COLUMNS = 100;
const DEV_ROWS = 26;
const LINE = 19;
const CHARACTER = 8.43;
const MARGIN = 20;
const TITLE_BAR = 36;
const INK = "#e5e7eb";
const BACKGROUND = "#111827";
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
const bin = join(root, "bin/service.js");

const PICTURES = {
  async listen() {
    return { lines: await recordListen(), columns: LISTEN_COLUMNS, command: "listen" };
  },
  async dev() {
    const { dev } = await recordProject();
    return { lines: dev, columns: PROJECT_COLUMNS, command: "dev" };
  },
  async why() {
    const { why } = await recordProject();
    return { lines: why, columns: PROJECT_COLUMNS, command: "why" };
  },
};

function prompt(command) {
  return `\u001b[2m$\u001b[22m ${command}`;
}

/** Shows three events and the details of one that failed. Returns the lines of the screen with their colors. */
async function recordListen() {
  const home = mkdtempSync(join(tmpdir(), "service-picture-"));
  const receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", () => {
      const isRejected = JSON.parse(body).type === "payment.failed";
      response.writeHead(isRejected ? 500 : 200, { "Content-Type": "application/json" });
      response.end(isRejected ? '{"error":"no such table: payments"}' : '{"received":true}');
    });
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const target = `localhost:${receiver.address().port}/webhooks`;
  const env = { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color" };
  const platform = spawnProcess(process.execPath, [bin, "serve", "--ephemeral", "--port", "0", "--json"], { env });
  const [line] = await once(createInterface(platform.stdout), "line");
  const ready = JSON.parse(line);
  Object.assign(env, { SERVICE_BASE_URL: ready.base_url, SERVICE_API_KEY: ready.sandbox_key });
  const terminal = new headless.Terminal({ cols: LISTEN_COLUMNS, rows: LISTEN_ROWS, allowProposedApi: true });
  const size = { cols: LISTEN_COLUMNS, rows: LISTEN_ROWS };
  const args = [bin, "listen", "--forward-to", target, "--retries", "0"];
  const pty = spawn(process.execPath, args, { ...size, env });
  pty.onData((data) => terminal.write(data));
  const shows = async (text) => {
    while (!linesOf(terminal).join("\n").includes(text)) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await shows("Connected");
  for (const type of ["customer.created", "order.completed", "payment.failed"]) {
    await once(spawnProcess(process.execPath, [bin, "trigger", type], { env, stdio: "ignore" }), "exit");
    await shows(type);
  }
  await shows("1 failed");
  pty.write("\r");
  await shows("DETAILS");
  const lines = linesOf(terminal);
  pty.kill();
  platform.kill();
  receiver.close();
  receiver.closeAllConnections();
  rmSync(home, { recursive: true, force: true });
  return lines;
}

/** The app of the project: it fails for one type of event. */
const APP = `
import { createServer } from "node:http";
import { nodeWebhook } from "service-cli/webhooks";
const secrets = process.env.SERVICE_WEBHOOK_SECRET;
createServer(
  nodeWebhook({ secrets }, (event, request, response) => {
    console.log(event.type, event.id);
    const isPayment = event.type === "payment.failed";
    response.writeHead(isPayment ? 500 : 204).end(isPayment ? "no such table: payments" : undefined);
  }),
).listen(3000);
`;
const PROJECT = "platform: { port: 4010 }\nforward: { to: localhost:3000, retries: 0 }\nrun: node app.mjs\n";

/** Runs `service dev`, triggers two events, and explains the one that failed. Returns what both commands show. */
async function recordProject() {
  const folder = mkdtempSync(join(tmpdir(), "service-picture-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/service-cli"));
  writeFileSync(join(folder, "app.mjs"), APP);
  writeFileSync(join(folder, "service.yaml"), PROJECT);
  const env = { PATH: process.env.PATH, HOME: folder, TERM: "xterm-256color" };
  const size = { cols: PROJECT_COLUMNS, rows: 40 };
  const screen = (shown) => new headless.Terminal({ ...shown, allowProposedApi: true });
  const show = async (terminal, pattern) => {
    while (!pattern.test(linesOf(terminal).join("\n"))) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const devSize = { ...size, rows: DEV_ROWS };
  const terminal = screen(devSize);
  const pty = spawn(process.execPath, [bin, "dev"], { ...devSize, env, cwd: folder });
  const ended = new Promise((resolve) => pty.onExit(resolve));
  pty.onData((data) => terminal.write(data));
  await show(terminal, /To trigger an event/);
  for (const type of ["order.completed", "payment.failed"]) {
    await once(spawnProcess(process.execPath, [bin, "trigger", type], { env, cwd: folder, stdio: "ignore" }), "exit");
    // A row of the list, whose parts have colors between them.
    await show(terminal, new RegExp(`${type === "payment.failed" ? 500 : 204}.*${type}`));
  }
  const dev = linesOf(terminal);
  const { stdout } = spawnSync(process.execPath, [bin, "events", "list", "--type", "payment.failed", "--quiet"], {
    env,
    cwd: folder,
    encoding: "utf8",
  });
  const id = stdout.trim();
  const answer = screen(size);
  const asked = spawn(process.execPath, [bin, "why", id], { ...size, env, cwd: folder });
  asked.onData((data) => answer.write(data));
  await new Promise((resolve) => asked.onExit(resolve));
  await new Promise((resolve) => answer.write("", resolve));
  const why = [prompt(`npx service-cli why ${id}`), "", ...linesOf(answer)];
  pty.kill("SIGINT");
  await ended;
  rmSync(folder, { recursive: true, force: true });
  return { dev: withoutEmptyEnd(dev), why: withoutEmptyEnd(why) };
}

function withoutEmptyEnd(lines) {
  const isEmpty = (line) => line.replaceAll(/\u001b\[[\d;]*m/g, "").trim() === "";
  return lines.slice(0, lines.findLastIndex((line) => !isEmpty(line)) + 1);
}

/** Returns what a terminal shows as lines with the sequences of their colors. */
function linesOf({ buffer: { active }, rows }) {
  return Array.from({ length: rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    let text = "";
    let style = "";
    for (let column = 0; column < line.length; column += 1) {
      const cell = line.getCell(column);
      const color = cell.isFgDefault() ? 39 : cell.getFgColor() < 8 ? 30 + cell.getFgColor() : 82 + cell.getFgColor();
      const codes = ["0", color];
      if (cell.isBold()) codes.push("1");
      if (cell.isDim()) codes.push("2");
      if (cell.isInverse()) codes.push("7");
      const next = `\u001b[${codes.join(";")}m`;
      text += (next === style ? "" : next) + (cell.getChars() || " ");
      style = next;
    }
    return text;
  });
}

function draw(rows, columns, label) {
  const width = Math.round(columns * CHARACTER + 2 * MARGIN);
  const height = TITLE_BAR + rows.length * LINE + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">`,
    `<rect width="${width}" height="${height}" rx="10" fill="${BACKGROUND}"/>`,
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
    const y = TITLE_BAR + index * LINE;
    let column = 0;
    let background = "";
    // Text and the sequences that change its style alternate.
    row.split(/\u001b\[([\d;]*)m/).forEach((part, turn) => {
      if (turn % 2 === 1) style = part.split(";").reduce(restyle, style);
      else if (part !== "") {
        if (style.inverse) background = highlight(column, part.length, y);
        // Not every viewer keeps spaces in a row: what follows them gets a position of its own.
        for (const { 0: words, index: at } of part.matchAll(/(?: ?\S+)+/g)) {
          spans.push(span(words, column + at, style.inverse ? { color: BACKGROUND } : style));
        }
        column += part.length;
      }
    });
    return `${background}<text y="${y + 14}">${spans.join("")}</text>`;
  });
}

function highlight(column, length, y) {
  const x = (MARGIN + column * CHARACTER).toFixed(1);
  return `<rect x="${x}" y="${y}" width="${(length * CHARACTER).toFixed(1)}" height="${LINE}" fill="${INK}"/>`;
}

function restyle(style, code) {
  if (code === "" || code === "0") return {};
  if (code === "1") return { ...style, weight: "bold" };
  if (code === "2") return { ...style, opacity: "0.6" };
  if (code === "7") return { ...style, inverse: true };
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

const names = process.argv.slice(2);
for (const name of names.length === 0 ? Object.keys(PICTURES) : names) {
  const { lines, columns, command } = await PICTURES[name]();
  writeFileSync(join(root, `docs/${name}.svg`), draw(lines, columns, `service ${command} in a terminal`));
}
