import type { Command } from "commander";
import type { Context } from "./context.ts";

/** What a module of `commands/` exports: it adds its command, with all that belongs to it, to the program. */
export interface CommandModule {
  /** `behind` is what stands behind `--`, for a command that runs another program. */
  register(program: Command, context: Context, behind?: readonly string[]): void;
}

export interface CommandEntry {
  name: string;
  group: string;
  /** Imperative, sentence case, no full stop. */
  summary: string;
  /** True for what programs call and no help lists. */
  hidden?: true;
  /** True where the words behind `--` are another program and its arguments: none of them is ours to read. */
  runsProgram?: true;
  load(): Promise<CommandModule>;
}

const START = "Start here";
const RESOURCES = "Resources";
const WEBHOOKS = "Events and webhooks";
const SESSION = "Session";
const MORE = "More";

/** Every top-level command, in the order in which help lists them. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    group: START,
    summary: "Show everything at work, end to end",
    load: () => import("./commands/demo/index.ts"),
  },
  {
    name: "serve",
    group: START,
    summary: "Run the platform on this machine",
    load: () => import("./commands/serve/index.ts"),
  },
  {
    name: "customers",
    group: RESOURCES,
    summary: "Create, find, change and delete customers",
    load: () => import("./commands/customers/index.ts"),
  },
  {
    name: "orders",
    group: RESOURCES,
    summary: "Create, complete and cancel orders",
    load: () => import("./commands/orders/index.ts"),
  },
  {
    name: "payments",
    group: RESOURCES,
    summary: "Create payments; let them succeed or fail",
    load: () => import("./commands/payments/index.ts"),
  },
  {
    name: "endpoints",
    group: WEBHOOKS,
    summary: "Register webhook endpoints; rotate their secrets",
    load: () => import("./commands/endpoints/index.ts"),
  },
  {
    name: "deliveries",
    group: WEBHOOKS,
    summary: "See what receivers answered; try again",
    load: () => import("./commands/deliveries/index.ts"),
  },
  {
    name: "listen",
    group: WEBHOOKS,
    summary: "Relay sandbox events to your application",
    runsProgram: true,
    load: () => import("./commands/listen/index.ts"),
  },
  {
    name: "trigger",
    group: WEBHOOKS,
    summary: "Make an event happen through real API calls",
    load: () => import("./commands/trigger/index.ts"),
  },
  {
    name: "events",
    group: WEBHOOKS,
    summary: "Look at what happened; send it again",
    load: () => import("./commands/events/index.ts"),
  },
  {
    name: "webhooks",
    group: WEBHOOKS,
    summary: "Sign, verify, and check a receiver",
    load: () => import("./commands/webhooks/index.ts"),
  },
  {
    name: "clock",
    group: WEBHOOKS,
    summary: "Move the sandbox's time",
    load: () => import("./commands/clock/index.ts"),
  },
  { name: "login", group: SESSION, summary: "Sign in", load: () => import("./commands/login/index.ts") },
  {
    name: "logout",
    group: SESSION,
    summary: "Sign out",
    load: () => import("./commands/logout.ts"),
  },
  {
    name: "whoami",
    group: SESSION,
    summary: "Show who is signed in, and where",
    load: () => import("./commands/whoami.ts"),
  },
  {
    name: "status",
    group: SESSION,
    summary: "Check the platform, the clock and the credential",
    load: () => import("./commands/status/index.ts"),
  },
  {
    name: "doctor",
    group: SESSION,
    summary: "Find out what is wrong, and what to do about it",
    load: () => import("./commands/doctor/index.ts"),
  },
  {
    name: "profiles",
    group: SESSION,
    summary: "List, choose and delete profiles",
    load: () => import("./commands/profiles/index.ts"),
  },
  {
    name: "config",
    group: SESSION,
    summary: "Show and change settings",
    load: () => import("./commands/config/index.ts"),
  },
  {
    name: "keys",
    group: SESSION,
    summary: "Make and end API keys; find leaked ones",
    load: () => import("./commands/keys/index.ts"),
  },
  {
    name: "apps",
    group: SESSION,
    summary: "Register OAuth apps",
    load: () => import("./commands/apps/index.ts"),
  },
  {
    name: "logs",
    group: MORE,
    summary: "See what was asked of the API, or watch it",
    load: () => import("./commands/logs/index.ts"),
  },
  {
    name: "mcp",
    group: MORE,
    summary: "Serve the sandbox to MCP clients over stdio",
    load: () => import("./commands/mcp/index.ts"),
  },
  { name: "api", group: MORE, summary: "Call any path of the API", load: () => import("./commands/api.ts") },
  {
    name: "open",
    group: MORE,
    summary: "Open the dashboard, the events or the API's documentation",
    load: () => import("./commands/open.ts"),
  },
  {
    name: "completion",
    group: MORE,
    summary: "Print the script that makes a shell complete commands",
    load: () => import("./commands/completion/index.ts"),
  },
  {
    name: "db",
    group: MORE,
    summary: "Look after the platform's database",
    load: () => import("./commands/db/index.ts"),
  },
  { name: "version", group: MORE, summary: "Print versions", load: () => import("./commands/version.ts") },
  {
    name: "help",
    group: MORE,
    summary: "Explain a command or a topic",
    load: () => import("./commands/help/index.ts"),
  },
  {
    name: "complete",
    group: MORE,
    summary: "Suggest how a command line goes on",
    hidden: true,
    load: () => import("./commands/complete/index.ts"),
  },
  {
    name: "check-for-update",
    group: MORE,
    summary: "Ask for the newest version",
    hidden: true,
    load: () => import("./commands/check-for-update.ts"),
  },
];
