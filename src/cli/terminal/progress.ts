import { formatSpan } from "./time.ts";
import { printable } from "./printable.ts";
import type { Styles } from "./styles.ts";
import type { TextStream } from "./text-stream.ts";

const DELAY_MILLISECONDS = 100;

/** Shows a waiting user that the work continues. */
export interface Spinner {
  /** Shows the text during the work, after 0.1 s. Work that it contains, such as a request, does not change the text. */
  during<Result>(text: string, work: () => Promise<Result>): Promise<Result>;
  /** Changes the text of a current or pending spinner. */
  update(text: string): void;
  /** Shows nothing until the returned function is called: something else uses the line. */
  hold(): () => void;
}

interface SpinnerOptions {
  open: () => NodeJS.WriteStream;
  enabled: boolean;
  /** False for plain animations. */
  colored: boolean;
  styles: Styles;
}

/** A spinner on stderr. ora is loaded only once there is something to wait for. */
export function createSpinner({ open, enabled, colored, styles }: SpinnerOptions): Spinner {
  if (!enabled) return { during: (_text, work) => work(), update: () => {}, hold: () => () => {} };
  let pending = 0;
  let text = "";
  let shown: { text: string; stop(): unknown } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let holds = 0;

  function hide(): void {
    clearTimeout(timer);
    shown?.stop();
    shown = undefined;
  }

  async function show(): Promise<void> {
    const { default: ora } = await import("ora");
    if (pending === 0 || holds > 0 || shown !== undefined) return;
    const color = colored ? "cyan" : false;
    shown = ora({ text: styles.dim(text), color, stream: open(), discardStdin: false, isEnabled: true }).start();
  }

  /** A reason to retry contains text of the platform. */
  function update(next: string): void {
    text = printable(next);
    if (shown !== undefined) shown.text = styles.dim(text);
  }

  return {
    update,
    async during(next, work) {
      if (pending++ === 0) {
        update(next);
        timer = setTimeout(() => void show(), DELAY_MILLISECONDS);
        timer.unref();
      }
      try {
        return await work();
      } finally {
        if (--pending === 0) hide();
      }
    },
    hold() {
      holds += 1;
      hide();
      return () => void (holds -= 1);
    },
  };
}

const BAR_WIDTH = 24;
const MIN_BAR_WIDTH = 8;
const CLEAR_LINE = "\r\u001b[2K";

/** The progress of countable work. */
export interface ProgressBar {
  /** Counts one more as done. */
  advance(count?: number): void;
  /** Prints something above the bar. */
  interrupt(print: () => void): void;
  /** Shows the maximum rate of the work, per second. */
  limitTo(rate: number): void;
  /** Removes the bar from the screen. */
  end(): void;
}

interface BarOptions {
  enabled: boolean;
  styles: Styles;
  total: number;
  label: string;
  /** Unix milliseconds. */
  now: () => number;
}

/** The rate in the first second means little. */
const MIN_RATED_MS = 1000;

/** A progress bar on stderr, on terminals only: with the rate, and the time that is left. */
export function createProgressBar(stream: TextStream, { enabled, styles, total, label, now }: BarOptions): ProgressBar {
  if (!enabled) return { advance: () => {}, interrupt: (print) => print(), limitTo: () => {}, end: () => {} };
  let done = 0;
  let limit = "";
  let drawn = "";
  const started = now();

  function pace(): string {
    const elapsed = now() - started;
    if (elapsed < MIN_RATED_MS || done === 0) return "";
    const rate = (done * 1000) / elapsed;
    return `  ${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s, ${formatSpan(Math.ceil((total - done) / rate))} left`;
  }

  function draw(): void {
    const count = `${done}/${total}`;
    const columns = stream.columns ?? 80;
    // A line that wraps could not be replaced, nor one that wraps with the ^C of the terminal.
    const words = [` ${label}${pace()}${limit}`, `${pace()}${limit}`, ""];
    const room = (text: string): number => columns - 4 - count.length - text.length;
    const text = words.find((candidate) => room(candidate) >= MIN_BAR_WIDTH) ?? "";
    const width = Math.max(Math.min(room(text), BAR_WIDTH), 0);
    const filled = Math.round((done / total) * width);
    const bar = styles.accent("━".repeat(filled)) + styles.dim("─".repeat(width - filled));
    const line = `${bar} ${count}${styles.dim(text)}`;
    if (line === drawn) return;
    drawn = line;
    stream.write(CLEAR_LINE + line);
  }

  draw();
  return {
    advance(count = 1) {
      done += count;
      draw();
    },
    interrupt(print) {
      stream.write(CLEAR_LINE);
      print();
      drawn = "";
      draw();
    },
    limitTo(rate) {
      limit = `, limited to ${rate < 10 ? Number(rate.toFixed(1)) : Math.round(rate)}/s`;
      draw();
    },
    end() {
      stream.write(CLEAR_LINE);
    },
  };
}
