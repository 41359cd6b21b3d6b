import { type Command, InvalidArgumentError, Option } from "commander";
import { notEmpty } from "../../arguments/mistakes.ts";
import { collectList, repeatable } from "../../arguments/repeated.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../help-layout.ts";
import { addPostgresOptions, parseSeconds } from "../../database/options.ts";
import type { LinkOptions } from "./link.ts";
import type { ServeOptions } from "./run.ts";

/** `service serve`: the platform in this process. */
export function register(program: Command, context: Context): void {
  const serve = program
    .command("serve")
    .description("Run the platform in this process: API, OAuth, webhook delivery and dashboard")
    .option("--port <number>", "Port of the API; 0 for a free port", parsePort, 4010)
    .option("--host <address>", "Address to listen on", "127.0.0.1")
    .option(
      "--database <file|url>",
      "SQLite file, or a postgres:// URL (default: platform.db in the XDG data folder)",
      notEmpty,
    )
    .addOption(
      new Option("--role <role>", "Role of this process when several share a PostgreSQL database")
        .choices(["all", "api", "worker"])
        .default("all"),
    )
    .option("--public-url <url>", "Public URL of the API, if a proxy or load balancer is in front")
    .addOption(
      repeatable(
        new Option(
          "--trust-proxy <cidr>",
          "Proxies whose X-Forwarded-For header is trusted, separated by commas; never a client range (repeatable)",
        ),
        collectList,
      ).default([]),
    )
    .option("--contact <uri>", "Security contact for security.txt: a mailto: or https: URI")
    .option("--request-timeout <seconds>", "Maximum time for the response to a request", parseTimeout, 20)
    .option("--drain-delay <seconds>", "Seconds between failing the readiness check and stopping", parseSeconds, 0)
    .option("--allow-private-targets", "Allow webhooks to private addresses and http sandbox endpoints", false)
    .option("--ephemeral", "Use a temporary database, deleted at exit", false)
    .option("--rate-limit <number>", "Requests per second and credential; 0 for no limit", parseRate, 100)
    .option("--rate-burst <number>", "Burst size of the rate limit (default: twice the rate)", parseRate)
    .addOption(
      new Option("--log-level <level>", "Minimum level of log messages")
        .choices(["debug", "info", "warn", "error"])
        .default("info"),
    )
    .option("--leak-keys <url|file>", "Public keys of the code host that reports leaked keys")
    .action(async (options: ServeOptions) => {
      if (options.ephemeral && options.database !== undefined) {
        throw new UsageError("--ephemeral cannot be combined with --database");
      }
      const { runServe } = await import("./run.ts");
      await runServe(options, context);
    });
  addExamples(addPostgresOptions(serve), [
    "service serve                        # stores its data in the XDG data folder",
    "service serve --ephemeral --port 0   # a platform for one test run",
    "service serve --json                 # one line of JSON per request, delivery and warning",
    "service serve --database postgres://service@db.example.com/service   # one of several processes",
  ]);
  const link = serve
    .command("link")
    .description("Print a new one-time sign-in link for the owner, valid for 15 minutes; the platform must be running")
    .summary("Print a new one-time sign-in link")
    .option("--database <file>", "The platform's database (default: platform.db in the XDG data folder)")
    .action(async () => {
      const { runLink } = await import("./link.ts");
      await runLink(link.optsWithGlobals<LinkOptions>(), context);
    });
  addExamples(link, ["service serve link", "service serve link --database ./platform.db"]);
}

function parseTimeout(text: string): number {
  const seconds = parseSeconds(text);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError("Must be more than 0 seconds.");
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text)) return rate;
  throw new InvalidArgumentError("Must be a number such as 100, or 0.5 for one request in two seconds.");
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("Must be a port number from 0 to 65535.");
}
