import type { Command } from "commander";
import { kindsWith, type ObjectKind, RESOURCES } from "../contract/resources.ts";
import type { Context } from "./context.ts";

/** A module of `commands/`: it adds its command, with its subcommands and flags, to the program. */
export interface CommandModule {
  /** `behind` holds the words after `--`, for a command that runs another program. */
  register(program: Command, context: Context, behind?: readonly string[]): void;
}

export interface CommandEntry {
  name: string;
  group: string;
  /** Imperative, sentence case, no full stop. */
  summary: string;
  /** True for commands that only programs call; no help lists them. */
  hidden?: true;
  /** True where the words after `--` are another program and its arguments, which this command does not read. */
  runsProgram?: true;
  load(): Promise<CommandModule>;
}

const START = "Start here";
const RESOURCE_GROUP = "Resources";
const WEBHOOKS = "Events and webhooks";
const SESSION = "Session";
const MORE = "More";

/** Returns the command of a resource that the table of resources describes by its fields. */
function objectCommand(kind: ObjectKind): CommandEntry {
  const { name, summary } = RESOURCES[kind].command;
  const load = async () => (await import("./commands/resource/index.ts")).commandOf(kind);
  return { name, group: RESOURCE_GROUP, summary, load };
}

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
  ...kindsWith("fields").map(objectCommand),
  {
    name: "endpoints",
    group: WEBHOOKS,
    summary: "Register webhook endpoints; rotate their secrets",
    load: () => import("./commands/endpoints/index.ts"),
  },
  {
    name: "deliveries",
    group: WEBHOOKS,
    summary: "Show deliveries and responses; retry",
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
    summary: "Show events; replay them",
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
    summary: "Create and revoke API keys; find leaked ones",
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
    summary: "Show API requests, or follow them",
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
    summary: "Manage the platform's database",
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
