import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { blockFont } from "./block-font.ts";
import { type Picture, readPng, writePng } from "./png.ts";

const BASELINES = fileURLToPath(new URL("../baselines/", import.meta.url));
const RESULTS = fileURLToPath(new URL("../../../test-results/appearance/", import.meta.url));
const isRecording = process.env["NEW_BASELINES"] === "1";
const recorded = new Set<string>();

export const VIEWS = ["1440-light", "1440-dark", "390-light", "390-dark"] as const;
export type ViewName = (typeof VIEWS)[number];

/** Each pixel of a baseline is the mean color of a square of the page with sides of this many pixels. */
const SQUARE = 8;
/** Colors differ if one of their channels (0 to 255) differs by more. */
const MAX_CHANNEL = 16;
/** The share of pixels that may differ. Form controls, whose arrows the browser draws, are less. */
const MAX_SHARE = 0.002;

/** Shows text as blocks of the same width, so that no font of this machine and no hinting of fonts has an effect. */
export async function showBlocks(page: Page): Promise<void> {
  const bytes = JSON.stringify(blockFont().toString("base64"));
  await page.evaluate(`(async () => {
    const font = new FontFace("Blocks", Uint8Array.from(atob(${bytes}), (character) => character.charCodeAt(0)).buffer);
    document.fonts.add(await font.load());
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { text-rendering: geometricPrecision !important }");
    document.adoptedStyleSheets.push(sheet);
    for (const name of ["--sans", "--mono"]) document.documentElement.style.setProperty(name, "Blocks");
  })()`);
}

export async function view(page: Page, name: ViewName): Promise<void> {
  const [width, colorScheme] = name.split("-") as [string, "light" | "dark"];
  await page.setViewportSize({ width: Number(width), height: width === "390" ? 844 : 900 });
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
}

/**
 * Compares the page with its baseline, both reduced to the mean colors of squares. Returns how they differ, undefined if
 * they are alike. The pictures of a page that differs are in test-results/appearance.
 */
export async function difference(page: Page, name: string, { fullPage = true } = {}): Promise<string | undefined> {
  const screenshot = await page.screenshot({ fullPage, animations: "disabled", caret: "hide" });
  const shown = reduced(readPng(screenshot));
  const file = join(BASELINES, `${name}.png`);
  const found = existsSync(file) ? compare(readPng(readFileSync(file)), shown) : { words: "has no baseline" };
  if (found === undefined) return undefined;
  if (isRecording && !recorded.has(file)) {
    recorded.add(file);
    mkdirSync(BASELINES, { recursive: true });
    writeFileSync(file, writePng(shown));
    return undefined;
  }
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${name}.png`), screenshot);
  if (found.marked !== undefined) writeFileSync(join(RESULTS, `${name}-difference.png`), writePng(found.marked));
  return found.words;
}

function reduced({ width, height, pixels }: Picture): Picture {
  const [columns, rows] = [Math.ceil(width / SQUARE), Math.ceil(height / SQUARE)];
  const means = new Uint8Array(columns * rows * 3);
  for (let square = 0; square < columns * rows; square++) {
    const [left, top] = [(square % columns) * SQUARE, Math.floor(square / columns) * SQUARE];
    const [right, bottom] = [Math.min(left + SQUARE, width), Math.min(top + SQUARE, height)];
    for (let channel = 0; channel < 3; channel++) {
      let sum = 0;
      for (let y = top; y < bottom; y++) {
        for (let x = left; x < right; x++) sum += pixels[3 * (y * width + x) + channel]!;
      }
      means[3 * square + channel] = Math.round(sum / ((right - left) * (bottom - top)));
    }
  }
  return { width: columns, height: rows, pixels: means };
}

/** Returns how two pictures differ, in words and marked in red. */
function compare(known: Picture, shown: Picture): { words: string; marked?: Picture } | undefined {
  const [before, after] = [known, shown].map(({ width, height }) => `${width * SQUARE} × ${height * SQUARE}`);
  const rows = Math.min(known.height, shown.height);
  const marked = { ...shown, pixels: shown.pixels.slice() };
  const isSized = known.width === shown.width && Math.abs(known.height - shown.height) <= 1;
  if (!isSized) return { words: `was ${before} pixels, is ${after}`, marked };
  let differing = 0;
  for (let start = 0; start < shown.width * rows * 3; start += 3) {
    const isSame = [0, 1, 2].every(
      (channel) => Math.abs(known.pixels[start + channel]! - shown.pixels[start + channel]!) <= MAX_CHANNEL,
    );
    if (isSame) continue;
    differing += 1;
    marked.pixels.set([255, 0, 0], start);
  }
  const share = differing / (shown.width * rows);
  return share <= MAX_SHARE ? undefined : { words: `${(100 * share).toFixed(2)} % differs`, marked };
}
