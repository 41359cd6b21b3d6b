import { OBJECT_KINDS, type ObjectKind, RESOURCES } from "../contract/resources.ts";
import type { CommandEntry } from "./command.ts";

const START = "Get started";
const RESOURCE_GROUP = "Resources";
const WEBHOOKS = "Events and webhooks";
const SESSION = "Session";
const MORE = "More";

/** Returns the command of a resource that is described by its fields in the table of resources. */
function objectCommand(kind: ObjectKind): CommandEntry {
  const { name, summary } = RESOURCES[kind].command;
  const load = async () => ({ command: (await import("./commands/objects.ts")).objectCommand(kind) });
  return { name, group: RESOURCE_GROUP, summary, load };
}

/** Every top-level command, in the order in which help lists them. */
export const COMMANDS: readonly CommandEntry[] = [
  entry(START, "demo", "Run an end-to-end demo", () => import("./commands/demo/index.ts")),
  entry(START, "dev", "Run the platform, a listener and your app together", () => import("./commands/dev/index.ts")),
  entry(START, "serve", "Run the platform on this machine", () => import("./commands/serve/index.ts")),
  ...OBJECT_KINDS.map(objectCommand),
  entry(WEBHOOKS, "endpoints", "Manage webhook endpoints", () => import("./commands/endpoints.ts")),
  entry(WEBHOOKS, "deliveries", "Inspect deliveries and retry them", () => import("./commands/deliveries/index.ts")),
  entry(WEBHOOKS, "expect", "Assert that events happen and are delivered", () => import("./commands/expect/index.ts"), {
    runsProgram: true,
    jqSelects: true,
  }),
  entry(
    WEBHOOKS,
    "why",
    "Explain what happened to an event, delivery or request",
    () => import("./commands/why/index.ts"),
  ),
  entry(WEBHOOKS, "listen", "Forward sandbox events to your application", () => import("./commands/listen/index.ts"), {
    runsProgram: true,
  }),
  entry(WEBHOOKS, "trigger", "Trigger an event through real API calls", () => import("./commands/trigger/index.ts")),
  entry(WEBHOOKS, "events", "List, follow and replay events", () => import("./commands/events.ts")),
  entry(
    WEBHOOKS,
    "webhooks",
    "Test receivers of Stripe, GitHub, Slack and others",
    () => import("./commands/webhooks/index.ts"),
  ),
  entry(WEBHOOKS, "clock", "Manage the sandbox test clock", () => import("./commands/clock.ts")),
  entry(WEBHOOKS, "sandbox", "Reset the sandbox; save and restore snapshots", () => import("./commands/sandbox.ts")),
  entry(WEBHOOKS, "faults", "Inject API faults; grade a client", () => import("./commands/faults/index.ts"), {
    runsProgram: true,
  }),
  entry(SESSION, "login", "Sign in", () => import("./commands/login/index.ts")),
  entry(SESSION, "logout", "Sign out", () => import("./commands/logout.ts")),
  entry(SESSION, "whoami", "Show the current account, environment and profile", () => import("./commands/whoami.ts")),
  entry(SESSION, "status", "Check the platform, clock and credential", async () => ({
    command: (await import("./commands/doctor/index.ts")).status,
  })),
  entry(SESSION, "doctor", "Diagnose problems", () => import("./commands/doctor/index.ts")),
  entry(SESSION, "profiles", "Manage profiles", () => import("./commands/profiles.ts")),
  entry(SESSION, "config", "Manage settings", () => import("./commands/config.ts")),
  entry(SESSION, "keys", "Manage API keys; scan for leaked keys", () => import("./commands/keys/index.ts")),
  entry(SESSION, "apps", "Manage OAuth apps", () => import("./commands/apps.ts")),
  entry(MORE, "logs", "View or follow API request logs", () => import("./commands/logs.ts")),
  entry(MORE, "mcp", "Run an MCP server for the sandbox", () => import("./commands/mcp/index.ts")),
  entry(MORE, "api", "Send an authenticated API request", () => import("./commands/api.ts")),
  entry(MORE, "open", "Open the dashboard or docs in a browser", () => import("./commands/open.ts")),
  entry(MORE, "completion", "Generate a shell completion script", () => import("./commands/completion.ts")),
  entry(MORE, "db", "Back up, migrate and inspect the database", () => import("./commands/db/index.ts")),
  entry(MORE, "version", "Print the version", () => import("./commands/version.ts"), { hidden: true }),
  entry(MORE, "help", "Show help for a command or topic", () => import("./commands/help/index.ts")),
  entry(
    MORE,
    "complete",
    "Suggest completions",
    async () => ({ command: (await import("./commands/complete/index.ts")).completionOf(COMMANDS) }),
    { hidden: true },
  ),
  entry(MORE, "check-for-update", "Check for a newer version", () => import("./commands/check-for-update.ts"), {
    hidden: true,
  }),
];

function entry(
  group: string,
  name: string,
  summary: string,
  load: CommandEntry["load"],
  traits: Pick<CommandEntry, "hidden" | "runsProgram" | "jqSelects"> = {},
): CommandEntry {
  return { name, group, summary, load, ...traits };
}
