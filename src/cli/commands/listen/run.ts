import { hostname } from "node:os";
import { parseBaseUrl } from "../../../client/base-url.ts";
import type { CredentialSource } from "../../../client/http.ts";
import { ForwardHeaderError, parseForwardHeaders } from "../../../relay/forward-headers.ts";
import { ListenError } from "../../../relay/listen-error.ts";
import type { Report } from "../../../relay/report.ts";
import { Session } from "../../../relay/session.ts";
import { parseTarget, type Target, TargetError } from "../../../relay/target.ts";
import { SignatureError } from "../../../webhooks/index.ts";
import type { Context } from "../../context.ts";
import { EXIT_CODES, type ExitCode, InterruptedError, NotSignedInError, UsageError, UserError } from "../../errors.ts";
import type { ListenFlags } from "./index.ts";
import { createListenPrinter } from "./printer.ts";
import { writeReadyFile } from "./ready-file.ts";

/** Listens until Ctrl-C, or until the platform refuses for good. */
export async function runListen(flags: ListenFlags, context: Context): Promise<void> {
  const { output } = context;
  if (context.globals.live) {
    throw new UsageError("Listening works in the sandbox only", { hint: "Leave out --live." });
  }
  const target = flags.forwardTo === undefined ? undefined : targetOf(flags.forwardTo);
  for (const warning of target?.warnings ?? []) output.warn(warning);
  const headers = usage(() => parseForwardHeaders(flags.header), ForwardHeaderError, "--header");
  const connection = await context.connection();
  const { baseUrl } = connection;
  const credential = context.credentialsOf(connection);
  const print = flags.printSecret ? () => {} : createListenPrinter(context, target?.url);

  const session = usage(
    () =>
      new Session({
        baseUrl: parseBaseUrl(baseUrl.value, { insecure: context.globals.insecure }),
        authorization: () => bearer(credential),
        device: hostname(),
        events: flags.events?.split(",").map((name) => name.trim()),
        after: flags.printSecret ? "now" : flags.since,
        target: flags.printSecret ? undefined : target?.url,
        headers,
        secret: flags.secret,
        skipVerify: flags.skipVerify,
        timeoutMs: flags.timeout,
        concurrency: flags.concurrency,
        // Without a connection there is nothing to print, and a script should not hang.
        maxDowntimeMs: flags.printSecret ? 10_000 : undefined,
        report: (report) => {
          print(report);
          if (report.event === "ready") onReady(report);
        },
      }),
    SignatureError,
    "--secret",
  );
  const onReady = (ready: Extract<Report, { event: "ready" }>) => {
    if (flags.printSecret) {
      output.line(output.json ? JSON.stringify({ secret: ready.secret }) : ready.secret);
      void session.stop();
    } else if (flags.readyFile !== undefined) {
      writeReadyFile(flags.readyFile, { secret: flags.secret ?? ready.secret, forwardTo: target?.url });
    }
  };

  const stop = () => void session.stop();
  context.signal.addEventListener("abort", stop, { once: true });
  session.start();
  const { error } = await session.ended;
  if (error !== undefined) throw explain(error);
  if (context.signal.aborted && !(context.signal.reason instanceof InterruptedError)) throw context.signal.reason;
}

/** Each connection asks anew: an access token ends long before a session does. */
async function bearer(credential: string | CredentialSource): Promise<string> {
  try {
    return `Bearer ${typeof credential === "string" ? credential : await credential.current()}`;
  } catch (error) {
    // No later connection would get past it.
    if (error instanceof NotSignedInError) throw new ListenError("unauthorized", error.message);
    throw error;
  }
}

function targetOf(text: string): Target {
  return usage(() => parseTarget(text), TargetError, "--forward-to");
}

/** Turns a mistake in a flag's value into a usage error that names the flag. */
function usage<Value>(make: () => Value, expected: new (...args: never[]) => Error, flag: string): Value {
  try {
    return make();
  } catch (error) {
    if (error instanceof expected) throw new UsageError(`${flag}: ${error.message}`, { cause: error });
    throw error;
  }
}

const EXIT_BY_CODE: Partial<Record<ListenError["code"], ExitCode>> = {
  unauthorized: EXIT_CODES.notSignedIn,
  forbidden: EXIT_CODES.notAllowed,
  downtime: EXIT_CODES.unreachable,
};

function explain(error: ListenError): UserError {
  const hints: Partial<Record<ListenError["code"], string>> = {
    unauthorized: "Sign in again: service login",
    downtime: "Is the platform running? Start one: service serve",
  };
  const { problem } = error;
  return new UserError(problem?.detail ?? error.message, {
    code: problem?.code ?? error.code,
    exitCode: EXIT_BY_CODE[error.code] ?? EXIT_CODES.failed,
    hint: hints[error.code] ?? (problem === undefined ? undefined : `Request id: ${problem.request_id}`),
    cause: error,
  });
}
