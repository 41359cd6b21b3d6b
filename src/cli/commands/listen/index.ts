import { type Command, InvalidArgumentError } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { wholeNumber } from "../../options.ts";

export interface ListenFlags {
  forwardTo?: string;
  events?: string;
  header: string[];
  secret?: string;
  /** What the platform is asked for: an event id, `now` or `-<seconds>`. */
  since?: string;
  concurrency: number;
  /** Milliseconds. */
  timeout: number;
  skipVerify: boolean;
  printSecret: boolean;
  readyFile?: string;
}

/** `service listen`: sandbox events, relayed to this machine. */
export function register(program: Command, context: Context): void {
  const listen = program
    .command("listen")
    .description("Relay the sandbox's events to your application, exactly as they are and freshly signed.")
    .option("-f, --forward-to <target>", "Where to send events: localhost:3000/webhooks; without it they are printed")
    .option("-e, --events <list>", "Only these types, separated by commas: 'order.*,customer.created'")
    .option("-H, --header <header>", "Send this header too: 'Name: value' (repeatable)", collect, [])
    .option("--secret <secret>", "Sign with this secret instead of the session's own")
    .option("--since <start>", "Where to start: now, an age such as 10m, or behind an event id", parseSince)
    .option("--concurrency <number>", "The most forwards at once", wholeNumber(1, 256), 16)
    .option("--timeout <duration>", "The limit of one forward", parseTimeout, 10_000)
    .option("--skip-verify", "Accept any TLS certificate of your application", false)
    .option("--print-secret", "Print the signing secret and end", false)
    .option("--ready-file <file>", "Write this file once events flow")
    .action(async (flags: ListenFlags) => {
      const { runListen } = await import("./run.ts");
      await runListen(flags, context);
    });
  addExamples(listen, [
    "service listen --forward-to localhost:3000/webhooks",
    "service listen --events 'order.*' --since 10m --forward-to 3000",
    "export WEBHOOK_SECRET=$(service listen --print-secret)",
  ]);
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}

const AGE_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function parseSince(text: string): string {
  if (text === "now" || text.startsWith("evt_")) return text;
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return `-${Number(count) * AGE_SECONDS[unit]!}`;
  throw new InvalidArgumentError("It is now, an age such as 30s, 10m, 2h or 3d, or the id of an event.");
}

const TIMEOUT_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function parseTimeout(text: string): number {
  const [, count, unit] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  const milliseconds = Number(count) * (TIMEOUT_UNITS[unit ?? ""] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds <= 600_000) return milliseconds;
  throw new InvalidArgumentError("It is a duration such as 500ms, 10s or 1m, up to 10m.");
}
