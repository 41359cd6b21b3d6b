import type { WebhookEvent } from "../../../webhooks/index.ts";
import type { Context } from "../../context.ts";
import { wrapWords } from "../../terminal/wrap.ts";

/** Tells the demo's story: lines for a person, or one JSON object a step. */
export interface Narrator {
  begin(title: string, command: string): { done(said: string): void; failed(why: string): void };
  delivered(event: WebhookEvent): void;
  stayOpen(open: { baseUrl: string; signInUrl: string; folder: string }): void;
  /** A verified event that came once the steps were over. */
  arrived(event: WebhookEvent): void;
}

const TITLE_WIDTH = 10;

export function createNarrator(context: Context): Narrator {
  return context.output.json ? jsonNarrator(context) : humanNarrator(context);
}

function jsonNarrator({ output }: Context): Narrator {
  return {
    begin: (title, command) => ({
      done: (said) => output.line(JSON.stringify({ event: "step", step: title, command, ok: true, detail: said })),
      failed: (why) => output.line(JSON.stringify({ event: "step", step: title, command, ok: false, detail: why })),
    }),
    delivered: (event) => output.line(JSON.stringify({ event: "delivered", verified: true, payload: event })),
    stayOpen: ({ baseUrl, signInUrl }) =>
      output.line(JSON.stringify({ event: "open", base_url: baseUrl, sign_in_url: signInUrl })),
    arrived: (event) => output.line(JSON.stringify({ event: "arrived", verified: true, payload: event })),
  };
}

function humanNarrator({ output, stdout }: Context): Narrator {
  const { styles } = output;
  const indent = " ".repeat(TITLE_WIDTH + 4);
  /** Below and beside the mark that stands before them. */
  const words = (text: string): string => {
    const { columns = Infinity } = stdout;
    const lines = text.split("\n").flatMap((line) => wrapWords(line, Math.max(columns - indent.length - 2, 20)));
    return lines.join(`\n${indent}  `);
  };
  return {
    begin(title, command) {
      output.line(`${styles.strong(title.padEnd(TITLE_WIDTH))}  ${styles.dim("$")} ${command}`);
      return {
        done: (said) => output.line(`${indent}${styles.good("✓")} ${words(said)}\n`),
        failed: (why) => output.line(`${indent}${styles.bad("✗")} ${words(why)}\n`),
      };
    },
    delivered(event) {
      const json = JSON.stringify(event, null, 2).replaceAll("\n", `\n${indent}`);
      output.line(`${indent}${styles.dim(json)}\n`);
      output.line(`${styles.good("✓")} ${styles.strong("Every step succeeded.")}`);
    },
    stayOpen({ baseUrl, signInUrl, folder }) {
      output.line(
        `\nThe platform is still running at ${styles.strong(baseUrl)}. One-time dashboard link, valid for 15 minutes:`,
      );
      output.line(`  ${signInUrl}`);
      output.line("Try it from another terminal; events are printed here:");
      output.line(`  $ export SERVICE_CONFIG_DIR=${folder}`);
      output.line("  $ service trigger payment.failed");
      output.line("  $ service events list");
      output.line(styles.dim("Press Ctrl-C to stop the demo and delete its data."));
    },
    arrived({ type, id }) {
      output.line(`${styles.good("✓")} ${type} ${id} received; signature verified`);
    },
  };
}
