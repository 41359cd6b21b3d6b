import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { compactJson } from "../../terminal/json.ts";
import { formatSpan } from "../../terminal/time.ts";

/**
 * Prints on stderr what the user has to do, even in a pipe or with `--quiet`, because nothing can continue without it.
 * With `--json` it is a JSON line.
 */
export function announce(context: Context, { record, lines }: { record: object; lines: readonly string[] }): void {
  const { output, stderr } = context;
  stderr.write(output.json ? `${compactJson(record)}\n` : `${lines.join("\n")}\n`);
}

/** Waits for the user, with a timeout. Rejects with UserError `timed_out`, or at once with the reason of Ctrl-C. */
export async function withinTime<Result>(context: Context, seconds: number, wait: Promise<Result>): Promise<Result> {
  const { signal } = context;
  let end = (): void => {};
  const limit = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(timedOut(seconds)), seconds * 1000);
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
  });
  try {
    return await Promise.race([wait, limit]);
  } finally {
    end();
  }
}

function timedOut(seconds: number): UserError {
  return new UserError(`Sign-in timed out after ${formatSpan(seconds)}`, {
    hint: "Run the command again. To wait longer, pass --timeout 15m; to sign in on another device, pass --device.",
    code: "timed_out",
  });
}
