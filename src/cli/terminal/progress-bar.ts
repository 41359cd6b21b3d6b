import type { Styles } from "./styles.ts";
import type { TextStream } from "./text-stream.ts";

const BAR_WIDTH = 24;
const CLEAR_LINE = "\r\u001b[2K";

/** How far a countable piece of work has come. */
export interface ProgressBar {
  /** One more is done. */
  advance(): void;
  /** Takes the bar off the screen. */
  end(): void;
}

/** A progress bar on stderr, on terminals only. */
export function createProgressBar(
  stream: TextStream,
  { enabled, styles, total, label }: { enabled: boolean; styles: Styles; total: number; label: string },
): ProgressBar {
  if (!enabled) return { advance: () => {}, end: () => {} };
  let done = 0;
  let drawn = "";

  function draw(): void {
    const filled = Math.round((done / total) * BAR_WIDTH);
    const bar = styles.accent("━".repeat(filled)) + styles.dim("─".repeat(BAR_WIDTH - filled));
    const line = `${bar} ${done}/${total} ${styles.dim(label)}`;
    if (line === drawn) return;
    drawn = line;
    stream.write(CLEAR_LINE + line);
  }

  draw();
  return {
    advance() {
      done += 1;
      draw();
    },
    end() {
      stream.write(CLEAR_LINE);
    },
  };
}
