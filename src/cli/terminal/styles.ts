import type { TextStream } from "./text-stream.ts";

/** Colors by meaning, for one stream. Color is never the only sign of a meaning. */
export interface Styles {
  strong(text: string): string;
  dim(text: string): string;
  accent(text: string): string;
  good(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
  /** Exchanges the colors of text and background. */
  inverse(text: string): string;
}

/** A piece of a line, and its style. */
export type Span = readonly [text: string, style?: keyof Styles | undefined];

/** Returns a line with its colors. */
export function paint(spans: readonly Span[], styles: Styles): string {
  return spans.map(([text, style]) => (style === undefined || text === "" ? text : styles[style](text))).join("");
}

export type ColorLevel = 0 | 1 | 2 | 3;

/** What determines whether a stream gets color. */
interface ColorSources {
  /** The `--color` flag; false after `--no-color`. */
  flag: boolean;
  env: Readonly<Record<string, string | undefined>>;
  stream: Pick<TextStream, "isTTY" | "getColorDepth">;
}

/**
 * Each stream is judged separately: --no-color, NO_COLOR and TERM=dumb turn color off, then FORCE_COLOR turns it on,
 * then the terminal decides.
 */
export function colorLevel({ flag, env, stream }: ColorSources): ColorLevel {
  if (!flag || isSet(env["NO_COLOR"])) return 0;
  const forced = env["FORCE_COLOR"];
  if (forced === "0" || forced === "false") return 0;
  if (isSet(forced)) return forced === "2" ? 2 : forced === "3" ? 3 : 1;
  if (env["TERM"] === "dumb" || !stream.isTTY) return 0;
  // Node treats an empty NO_COLOR as set.
  const { NO_COLOR: _, ...rest } = env;
  const depth = stream.getColorDepth(rest);
  return depth >= 24 ? 3 : depth >= 8 ? 2 : depth >= 4 ? 1 : 0;
}

/** chalk is loaded only if something will be colored: a command in a pipe does not pay for it. */
export async function loadStyles(level: ColorLevel): Promise<Styles> {
  if (level === 0) return PLAIN;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level });
  return {
    strong: (text) => chalk.bold(text),
    dim: (text) => chalk.dim(text),
    accent: (text) => chalk.cyan(text),
    good: (text) => chalk.green(text),
    warn: (text) => chalk.yellow(text),
    bad: (text) => chalk.red(text),
    inverse: (text) => chalk.inverse(text),
  };
}

/** Returns colors that tell parts of the output apart, in addition to their names; none for level 0. */
export async function loadColors(level: ColorLevel): Promise<((text: string) => string)[]> {
  if (level === 0) return [];
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level });
  return [chalk.cyan, chalk.yellow, chalk.magenta, chalk.green, chalk.bold].map((color) => (text) => color(text));
}

const same = (text: string): string => text;

export const PLAIN: Styles = {
  strong: same,
  dim: same,
  accent: same,
  good: same,
  warn: same,
  bad: same,
  inverse: same,
};

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
