import { type Activity, loadJsonLog, type Log, type LogLevel, type Platform } from "../../../platform/index.ts";
import type { Context } from "../../context.ts";
import { activityLine, isOwnRead, logLine } from "../../terminal/traffic.ts";

/** The first credentials of an empty database: the secrets themselves, or the file that holds them. */
export interface FirstCredentials {
  account: string;
  sandbox_key?: string;
  live_key?: string;
  sign_in_url?: string;
  credentials_file?: string;
  /** The folder of a temporary database, which remains if the process is killed. */
  temporary_folder?: string;
}

/** Prints the platform's activity: lines for a person, or JSON lines. */
export type Reporter = ReturnType<typeof humanReporter>;

export async function createReporter(context: Context, level: LogLevel): Promise<Reporter> {
  return context.output.json ? await jsonReporter(context, level) : humanReporter(context, level);
}

/** The line that says how to reach the platform comes first, at every log level, then the platform's log. */
async function jsonReporter(context: Context, level: LogLevel): Promise<Reporter> {
  const { output, stdout, stderr, version } = context;
  let early: string[] | undefined = [];
  const { createJsonLog } = await loadJsonLog();
  const log = createJsonLog(level, (line) => {
    if (early === undefined) stdout.write(line);
    else early.push(line);
  });
  return {
    log,
    activity: log.activity,
    stopping: log.stopping,
    async ready(platform, database, credentials) {
      const ready = {
        event: "ready",
        base_url: platform.baseUrl,
        auth_url: platform.baseUrl,
        dashboard_url: `${platform.baseUrl}/dashboard`,
        database,
        version,
        ...(platform.listenUrl === platform.baseUrl ? {} : { listen_url: platform.listenUrl }),
        ...credentials,
      };
      output.line(JSON.stringify(ready));
      for (const line of early ?? []) stdout.write(line);
      early = undefined;
    },
    failed() {
      for (const line of early ?? []) stderr.write(line);
    },
    omitted: (lines) =>
      `${JSON.stringify({ level: "warn", time: new Date(context.now()).toISOString(), event: "left_out", lines })}\n`,
  };
}

function humanReporter(context: Context, level: LogLevel) {
  const { output, version } = context;
  const { styles } = output;
  const say = (fields: Record<string, unknown>, message: string): void => output.warn(logLine(message, fields));
  const log: Log = {
    debug: level === "debug" ? say : () => {},
    info: () => {},
    warn: level === "error" ? () => {} : say,
    error: say,
  };
  return {
    log,
    activity: (activity: Activity): void => {
      if (activity.event === "warning") {
        if (level !== "error") output.warn(activity.message);
        return;
      }
      if (level === "warn" || level === "error") return;
      if (level !== "debug" && activity.event === "request" && isOwnRead(activity)) return;
      output.line(activityLine(activity, context.now(), styles, output.terminal ? output.width : Infinity));
    },
    async ready(
      { baseUrl }: Platform,
      database: string,
      credentials: FirstCredentials | undefined,
      linkCommand: string | undefined,
    ): Promise<void> {
      output.line(`${styles.strong("Service platform")} ${version} is ready at ${styles.strong(baseUrl)}`);
      output.line(`  database   ${database}`);
      if (credentials !== undefined) output.line(`  account    ${credentials.account}`);
      if (credentials?.credentials_file !== undefined) {
        output.line(`  API keys and sign-in link: ${credentials.credentials_file}`);
      }
      if (credentials?.sandbox_key !== undefined) {
        output.line("");
        output.line(`  ${styles.strong("API keys, shown once:")}`);
        output.line(`  sandbox    ${credentials.sandbox_key}`);
        output.line(`  live       ${credentials.live_key}`);
        output.line("");
        output.line(`  ${styles.strong("One-time dashboard link")}, valid for 15 minutes:`);
        output.line(`  ${credentials.sign_in_url}`);
        output.line("");
      }
      output.line("  Sign in from another terminal:");
      if (credentials?.sign_in_url === undefined && linkCommand !== undefined)
        output.line(output.runnable(`  $ ${linkCommand}`));
      output.line(output.runnable(`  $ service login --base-url ${baseUrl}`));
      output.line(styles.dim("  Press Ctrl-C to stop"));
      output.line("");
    },
    /** Prints the buffered lines after a failed start. */
    failed(): void {},
    stopping: () => output.note("Finishing requests and deliveries in flight…"),
    /** Returns what replaces lines that the reader was too slow to receive. */
    omitted: (lines: number) => `… ${lines} unread lines omitted\n`,
  };
}
