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
  { name: "demo", group: START, summary: "Run an end-to-end demo", load: () => import("./commands/demo/index.ts") },
  {
    name: "dev",
    group: START,
    summary: "Run the platform, a listener and your app together",
    load: () => import("./commands/dev/index.ts"),
  },
  {
    name: "serve",
    group: START,
    summary: "Run the platform on this machine",
    load: () => import("./commands/serve/index.ts"),
  },
  ...OBJECT_KINDS.map(objectCommand),
  {
    name: "endpoints",
    group: WEBHOOKS,
    summary: "Manage webhook endpoints",
    load: () => import("./commands/endpoints.ts"),
  },
  {
    name: "deliveries",
    group: WEBHOOKS,
    summary: "Inspect deliveries and retry them",
    load: () => import("./commands/deliveries/index.ts"),
  },
  {
    name: "expect",
    group: WEBHOOKS,
    summary: "Assert that events happen and are delivered",
    runsProgram: true,
    jqSelects: true,
    load: () => import("./commands/expect/index.ts"),
  },
  {
    name: "why",
    group: WEBHOOKS,
    summary: "Explain what happened to an event, delivery or request",
    load: () => import("./commands/why/index.ts"),
  },
  {
    name: "listen",
    group: WEBHOOKS,
    summary: "Forward sandbox events to your application",
    runsProgram: true,
    load: () => import("./commands/listen/index.ts"),
  },
  {
    name: "trigger",
    group: WEBHOOKS,
    summary: "Trigger an event through real API calls",
    load: () => import("./commands/trigger/index.ts"),
  },
  {
    name: "events",
    group: WEBHOOKS,
    summary: "List and replay events",
    load: () => import("./commands/events.ts"),
  },
  {
    name: "webhooks",
    group: WEBHOOKS,
    summary: "Test receivers of Stripe, GitHub, Slack and others",
    load: () => import("./commands/webhooks/index.ts"),
  },
  {
    name: "clock",
    group: WEBHOOKS,
    summary: "Manage the sandbox test clock",
    load: () => import("./commands/clock.ts"),
  },
  {
    name: "sandbox",
    group: WEBHOOKS,
    summary: "Reset the sandbox; save and restore snapshots",
    load: () => import("./commands/sandbox.ts"),
  },
  {
    name: "faults",
    group: WEBHOOKS,
    summary: "Inject API faults; grade a client",
    runsProgram: true,
    load: () => import("./commands/faults/index.ts"),
  },
  { name: "login", group: SESSION, summary: "Sign in", load: () => import("./commands/login/index.ts") },
  { name: "logout", group: SESSION, summary: "Sign out", load: () => import("./commands/logout.ts") },
  {
    name: "whoami",
    group: SESSION,
    summary: "Show the current account, environment and profile",
    load: () => import("./commands/whoami.ts"),
  },
  {
    name: "status",
    group: SESSION,
    summary: "Check the platform, clock and credential",
    hidden: true,
    load: async () => ({ command: (await import("./commands/doctor/index.ts")).status }),
  },
  { name: "doctor", group: SESSION, summary: "Diagnose problems", load: () => import("./commands/doctor/index.ts") },
  { name: "profiles", group: SESSION, summary: "Manage profiles", load: () => import("./commands/profiles.ts") },
  { name: "config", group: SESSION, summary: "Manage settings", load: () => import("./commands/config.ts") },
  {
    name: "keys",
    group: SESSION,
    summary: "Manage API keys; scan for leaked keys",
    load: () => import("./commands/keys/index.ts"),
  },
  { name: "apps", group: SESSION, summary: "Manage OAuth apps", load: () => import("./commands/apps.ts") },
  { name: "logs", group: MORE, summary: "View or follow API request logs", load: () => import("./commands/logs.ts") },
  {
    name: "mcp",
    group: MORE,
    summary: "Run an MCP server for the sandbox",
    load: () => import("./commands/mcp/index.ts"),
  },
  { name: "api", group: MORE, summary: "Send an authenticated API request", load: () => import("./commands/api.ts") },
  {
    name: "open",
    group: MORE,
    summary: "Open the dashboard or docs in a browser",
    load: () => import("./commands/open.ts"),
  },
  {
    name: "completion",
    group: MORE,
    summary: "Generate a shell completion script",
    load: () => import("./commands/completion.ts"),
  },
  {
    name: "db",
    group: MORE,
    summary: "Back up, migrate and inspect the database",
    load: () => import("./commands/db/index.ts"),
  },
  {
    name: "version",
    group: MORE,
    summary: "Print version information",
    hidden: true,
    load: () => import("./commands/version.ts"),
  },
  {
    name: "help",
    group: MORE,
    summary: "Show help for a command or topic",
    load: () => import("./commands/help/index.ts"),
  },
  {
    name: "complete",
    group: MORE,
    summary: "Suggest completions",
    hidden: true,
    load: async () => ({ command: (await import("./commands/complete/index.ts")).completionOf(COMMANDS) }),
  },
  {
    name: "check-for-update",
    group: MORE,
    summary: "Check for a newer version",
    hidden: true,
    load: () => import("./commands/check-for-update.ts"),
  },
];
