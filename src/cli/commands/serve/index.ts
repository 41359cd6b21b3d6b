import { InvalidArgumentError } from "commander";
import { collectList } from "../../arguments/repeated.ts";
import { notEmpty, wholeNumber } from "../../arguments/values.ts";
import { type CommandDefinition, flag, inGroup } from "../../command.ts";
import { parseSeconds, POSTGRES_FLAGS } from "../../database/options.ts";

/** `service serve`: the platform in this process. */
export const command: CommandDefinition = {
  name: "serve",
  about: "Run the platform in this process: API, OAuth, webhook delivery and dashboard",
  options: [
    ...inGroup("Address", [
      flag("--port <number>", "Port of the API; 0 for a free port (default: platform.port of service.yaml, or 4010)", {
        parse: wholeNumber(0, 65_535),
      }),
      flag("--host <address>", "Address to listen on", { default: "127.0.0.1" }),
      flag("--public-url <url>", "Public URL of the API, if a proxy or load balancer is in front"),
      flag(
        "--trust-proxy <cidr>",
        "Proxies whose X-Forwarded-For header is trusted, separated by commas; never a client range (repeatable)",
        { collect: collectList, default: [] },
      ),
    ]),
    ...inGroup("Database", [
      flag(
        "--database <file|url>",
        "SQLite file, or a postgres:// URL (default: the one in service.yaml, or ~/.local/share/service/platform.db)",
        {
          parse: notEmpty,
        },
      ),
      flag("--ephemeral", "Use a temporary database, deleted at exit", { default: false }),
      ...POSTGRES_FLAGS,
    ]),
    ...inGroup("Webhooks and limits", [
      flag("--allow-private-targets", "Allow webhooks to private addresses and http sandbox endpoints", {
        default: false,
      }),
      flag("--request-timeout <seconds>", "Maximum time for the response to a request", {
        parse: parseTimeout,
        default: 20,
      }),
      flag("--rate-limit <number>", "Requests per second and credential; 0 for no limit", {
        parse: parseRate,
        default: 100,
      }),
      flag("--rate-burst <number>", "Burst size of the rate limit (default: twice the rate)", { parse: parseRate }),
    ]),
    ...inGroup("Process", [
      flag("--role <role>", "Role of this process when several share a PostgreSQL database", {
        choices: ["all", "api", "worker"],
        default: "all",
      }),
      flag("--log-level <level>", "Minimum level of log messages; debug adds successful reads by this CLI", {
        choices: ["debug", "info", "warn", "error"],
        default: "info",
      }),
      flag("--contact <uri>", "Security contact for security.txt: a mailto: or https: URI", { hidden: true }),
      flag("--drain-delay <seconds>", "Seconds between failing the readiness check and stopping", {
        parse: parseSeconds,
        default: 0,
        hidden: true,
      }),
      flag("--leak-keys <url|file>", "Public keys that verify reports of leaked keys, such as GitHub's", {
        hidden: true,
      }),
    ]),
  ],
  isMixed: true,
  examples: [
    "service serve # Stores its data in ~/.local/share/service",
    "service serve --ephemeral --port 0 # A platform for one test run",
    "service serve --json # One line of JSON per request, delivery and warning",
    "service serve --database postgres://service@db.example.com/service # One of several processes",
  ],
  load: async () => (await import("./run.ts")).runServe,
  commands: [
    {
      name: "link",
      about: "Print a new one-time sign-in link for the owner, valid for 15 minutes; the platform must be running",
      summary: "Print a new one-time sign-in link",
      options: [
        flag(
          "--database <file>",
          "The platform's database (default: the one in service.yaml, or ~/.local/share/service/platform.db)",
        ),
      ],
      examples: ["service serve link", "service serve link --database ./platform.db # For another database"],
      load: async () => (await import("./link.ts")).runLink,
    },
  ],
};

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
