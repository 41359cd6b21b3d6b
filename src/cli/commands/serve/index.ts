import { type Command, InvalidArgumentError, Option } from "commander";
import type { LogLevel } from "../../../platform/observability/json-log.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../help-layout.ts";
import { notEmpty } from "../../arguments/mistakes.ts";
import { collectList, repeatable } from "../../arguments/repeated.ts";
import { addPostgresOptions, parseSeconds, type PostgresOptions } from "./postgres-options.ts";

export interface ServeOptions extends PostgresOptions {
  port: number;
  host: string;
  database?: string;
  allowPrivateTargets: boolean;
  ephemeral: boolean;
  leakKeys?: string;
  /** Requests a second; 0 sets no limit. */
  rateLimit: number;
  rateBurst?: number;
  logLevel: LogLevel;
  role: "all" | "api" | "worker";
  publicUrl?: string;
  trustProxy: string[];
  /** Seconds. */
  drainDelay: number;
}

/** `service serve`: the platform in this process. */
export function register(program: Command, context: Context): void {
  const serve = program
    .command("serve")
    .description("Run the platform in this process: API, OAuth, webhook delivery and dashboard.")
    .option("--port <number>", "Port of the API; 0 takes a free one", parsePort, 4010)
    .option("--host <address>", "Address to listen on", "127.0.0.1")
    .option(
      "--database <file|url>",
      "SQLite file (default: platform.db under the XDG data folder), or postgres://…",
      notEmpty,
    )
    .addOption(
      new Option("--role <role>", "What this process does beside others on one PostgreSQL")
        .choices(["all", "api", "worker"])
        .default("all"),
    )
    .option("--public-url <url>", "Where clients reach the API, if a proxy or balancer stands before it")
    .addOption(
      repeatable(
        new Option(
          "--trust-proxy <cidr>",
          "Proxies whose X-Forwarded-For is trusted, separated by commas; never a range of clients (repeatable)",
        ),
        collectList,
      ).default([]),
    )
    .option("--drain-delay <seconds>", "Time between the end of readiness and the stop", parseSeconds, 0)
    .option("--allow-private-targets", "Let webhooks reach private addresses, and sandbox endpoints be http", false)
    .option("--ephemeral", "Use a temporary database that is gone at exit", false)
    .option("--rate-limit <number>", "Requests a second that a credential may make; 0 sets no limit", parseRate, 100)
    .option("--rate-burst <number>", "Requests that it may make at once (default: twice the rate)", parseRate)
    .addOption(
      new Option("--log-level <level>", "Lowest level of messages to print")
        .choices(["debug", "info", "warn", "error"])
        .default("info"),
    )
    .option("--leak-keys <url|file>", "Public keys of the code host that reports leaked keys")
    .action(async (options: ServeOptions) => {
      if (options.ephemeral && options.database !== undefined) {
        throw new UsageError("--ephemeral and --database contradict each other", { hint: "Leave one of them out." });
      }
      const { runServe } = await import("./run.ts");
      await runServe(options, context);
    });
  addExamples(addPostgresOptions(serve), [
    "service serve                        # keeps its data under the XDG data folder",
    "service serve --ephemeral --port 0   # a platform for one test run",
    "service serve --json                 # one line of JSON for each thing that happens",
    "service serve --database postgres://service@db.example.com/service   # one of many processes",
  ]);
  const link = serve
    .command("link")
    .description("Print a new link that signs the owner in, once, within 15 minutes; the platform must be running.")
    .summary("Print a new one-time sign-in link")
    .option("--database <file>", "The platform's database (default: platform.db under the XDG data folder)")
    .action(async () => {
      const { runLink } = await import("./link.ts");
      await runLink(link.optsWithGlobals<ServeOptions>(), context);
    });
  addExamples(link, ["service serve link", "service serve link --database ./platform.db"]);
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text)) return rate;
  throw new InvalidArgumentError("A rate is a number such as 100, or 0.5 for one in two seconds.");
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("A port is a number from 0 to 65535.");
}
