import type { Styles } from "./styles.ts";

const DELAY_MILLISECONDS = 100;

/** Tells a waiting person that something goes on. */
export interface Spinner {
  /** Shows the text while the work lasts, from 0.1 s on. Works that overlap share one spinner. */
  during<Result>(text: string, work: Promise<Result>): Promise<Result>;
  /** Changes the text of the spinner, where one is shown or about to be. */
  say(text: string): void;
}

export interface SpinnerOptions {
  /** Opens Node's stream for stderr. */
  open: () => NodeJS.WriteStream;
  enabled: boolean;
  /** False where the moving part has to be plain too. */
  colored: boolean;
  styles: Styles;
}

/** A spinner on stderr; ora is loaded only once there is something to wait for. */
export function createSpinner({ open, enabled, colored, styles }: SpinnerOptions): Spinner {
  if (!enabled) return { during: (_text, work) => work, say: () => {} };
  let pending = 0;
  let text = "";
  let shown: { text: string; stop(): unknown } | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function show(): Promise<void> {
    const { default: ora } = await import("ora");
    if (pending === 0 || shown !== undefined) return;
    const color = colored ? "cyan" : false;
    shown = ora({ text: styles.dim(text), color, stream: open(), discardStdin: false, isEnabled: true }).start();
  }

  function say(next: string): void {
    text = next;
    if (shown !== undefined) shown.text = styles.dim(next);
  }

  return {
    say,
    async during(next, work) {
      if (pending++ === 0) {
        say(next);
        timer = setTimeout(() => void show(), DELAY_MILLISECONDS);
        timer.unref();
      }
      try {
        return await work;
      } finally {
        if (--pending === 0) {
          clearTimeout(timer);
          shown?.stop();
          shown = undefined;
        }
      }
    },
  };
}
