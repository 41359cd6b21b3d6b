import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { databaseOf, keepPort, servedAt } from "../../project/platform.ts";
import type { Project } from "../../project/schema.ts";
import { activityLine, isOwnRead, logLine } from "../../terminal/traffic.ts";
import { type ProcessGroup, startCommand } from "../../process/process-group.ts";

/** A line of `service serve --json`. */
interface ServeRecord extends Problem {
  event?: string;
  client?: string;
  method?: string;
  status?: number;
  level?: string;
  time?: string;
  message?: string;
  base_url?: string;
  warning?: string;
  notice?: string;
}

/** The error that `service serve --json` prints before it exits. */
interface Problem {
  detail?: string;
  hint?: string;
  code?: string;
}

/** `service serve` in a separate process, which exits if this process is killed. */
export class PlatformProcess {
  readonly group: ProcessGroup;
  /** Resolves with the base URL once requests are accepted; rejects with UserError if it cannot start. */
  readonly ready: Promise<string>;

  /** The context prints with the part's name. */
  constructor(project: Project, port: number, context: Context) {
    const database = databaseOf(project, context.cwd);
    const args = ["serve", "--json", "--port", String(port), "--database", database];
    if (project.platform?.private_targets) args.push("--allow-private-targets");
    let problem: Problem | undefined;
    let onReady = (_baseUrl: string): void => {};
    const { group, closed } = startCommand(args, {
      env: context.env,
      platform: context.platform,
      cwd: context.cwd,
      onStdout(record: ServeRecord | undefined, line) {
        if (record?.event === "ready") onReady(record.base_url!);
        else if (record !== undefined) print(record, line, context);
      },
      onStderr(record: ServeRecord | undefined, line) {
        if (record !== undefined && "exit_code" in record) problem = record;
        else context.output.warn(record?.warning ?? record?.notice ?? line);
      },
    });
    this.group = group;
    this.ready = new Promise((resolve, reject) => {
      onReady = (baseUrl) => {
        keepPort(project, baseUrl, context.cwd);
        resolve(baseUrl);
      };
      closed.then((code) => reject(explain(problem, code, { port, address: servedAt(database, context.cwd) })), reject);
    });
    this.ready.catch(() => {});
  }
}

function print(record: ServeRecord, line: string, context: Context): void {
  const { output } = context;
  if (output.json) return output.line(line);
  const { event, level, time: _time, message, ...fields } = record;
  if (event === "request" && isOwnRead(record)) return;
  // The listener's own lines say that it is connected.
  if (event === "request" || event === "delivery") {
    const activity = record as unknown as Parameters<typeof activityLine>[0];
    output.line(activityLine(activity, context.now(), output.styles, output.terminal ? output.width : Infinity));
  } else if (level === "warn" || level === "error") {
    output.warn(message === undefined ? line : logLine(message, fields));
  }
}

/** Explains why the platform did not start, and how to fix it in the project file. */
function explain(
  problem: Problem | undefined,
  exitCode: number | null,
  { port, address = "its address" }: { port: number; address: string | undefined },
): UserError {
  const { detail = `The platform exited with code ${exitCode}`, hint, code = "failed" } = problem ?? {};
  if (code === "port_taken") {
    return new UserError(detail, {
      code,
      hint: `Stop that program, or set another platform.port in service.yaml. To use it as the platform, set platform.url: http://127.0.0.1:${port}`,
    });
  }
  if (code === "locked") {
    return new UserError(detail, {
      code,
      hint: `Another \`service dev\` or \`service serve\` is using it. Stop it, or set another platform.database in service.yaml. To use its platform, set platform.url to ${address}.`,
    });
  }
  return new UserError(detail, { code, hint });
}
