import { join } from "node:path";
import { Argument, type Command } from "commander";
import { nearest } from "../../../contract/nearest.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { SETTINGS_FILE } from "../../settings/directory.ts";
import type { ResourceView } from "../../terminal/view.ts";
import { CONFIG_KEYS, type ConfigKey } from "./keys.ts";

/** What `--json` prints of a setting. */
interface Entry {
  key: string;
  value: string | boolean;
  source: string;
  meaning: string;
}

const VIEW: ResourceView<Entry> = {
  noun: "setting",
  plural: "settings",
  fields: ["key", "value", "source", "meaning"],
  columns: [
    { label: "Setting", text: ({ key }) => key, style: (text, styles) => styles.accent(text) },
    { label: "Value", text: ({ value }) => String(value) },
    { label: "Source", text: ({ source }) => source },
    {
      label: "Meaning",
      text: ({ meaning }) => meaning,
      style: (text, styles) => styles.dim(text),
      optional: true,
    },
  ],
  details: [],
};

/** `service config`. */
export function register(program: Command, context: Context): void {
  const config = program
    .command("config")
    .description(
      "Manage settings. Precedence: flag, environment variable, stored setting, default. Credentials are managed by `service login` and `service logout`.",
    );
  addExamples(config, [
    "service config list",
    "service config set base_url https://api.example.com --profile shop",
    "service config unset base_url",
  ]);
  const list = config
    .command("list")
    .description("List settings with their values and sources")
    .action(() => runList(context));
  addExamples(addFields(list, VIEW), [
    "service config list",
    "service config list --json --jq '.[] | select(.source != \"default\")'",
  ]);
  const get = config
    .command("get")
    .description("Print the value of a setting")
    .addArgument(keyArgument())
    .action((key: string) => runGet(key, context));
  addExamples(get, ["service config get base_url"]);
  const set = config
    .command("set")
    .description("Store a setting")
    .addArgument(keyArgument())
    .argument("<value>", "New value")
    .action((key: string, value: string) => runStore(key, value, context));
  addExamples(set, ["service config set base_url https://api.example.com", "service config set update_notices false"]);
  const unset = config
    .command("unset")
    .description("Restore the default of a setting")
    .addArgument(keyArgument())
    .action((key: string) => runStore(key, undefined, context));
  addExamples(unset, ["service config unset base_url"]);
  const path = config
    .command("path")
    .description("Print the path of the settings file")
    .action(() => runPath(context));
  addExamples(path, ["service config path"]);
}

function keyArgument(): Argument {
  return new Argument("<key>", `Setting: ${Object.keys(CONFIG_KEYS).join(", ")}`);
}

async function runList(context: Context): Promise<void> {
  const entries = Object.keys(CONFIG_KEYS).map((key) => entryOf(key, context));
  await context.output.list(entries, VIEW);
}

async function runGet(key: string, context: Context): Promise<void> {
  const entry = entryOf(key, context);
  if (context.output.json) return await context.output.document(entry);
  context.output.line(String(entry.value));
}

/** Stores a value, or forgets it. */
async function runStore(key: string, text: string | undefined, context: Context): Promise<void> {
  const { output } = context;
  const setting = keyNamed(key);
  // Checked before the file is locked and written.
  setting.store(text, context.settings, context);
  await context.updateSettings((settings) => setting.store(text, settings, context));
  const entry = entryOf(key, context);
  output.success(
    text === undefined ? `Reset ${key} to ${String(entry.value)}` : `Set ${key} to ${String(entry.value)}`,
  );
  if (text !== undefined && (entry.source.startsWith("SERVICE_") || entry.source.startsWith("--"))) {
    output.warn(`${entry.source} is set and overrides the stored value.`);
  }
  if (output.json) return await output.document(entry);
  if (!output.quiet && !output.terminal) output.line(`${key}\t${String(entry.value)}`);
}

async function runPath({ output, settingsDirectory }: Context): Promise<void> {
  const path = join(settingsDirectory, SETTINGS_FILE);
  if (output.json) return await output.document({ path });
  output.line(path);
}

function entryOf(key: string, context: Context): Entry {
  const setting = keyNamed(key);
  return { key, ...setting.effective(context), meaning: setting.meaning };
}

function keyNamed(name: string): ConfigKey {
  const key = Object.hasOwn(CONFIG_KEYS, name) ? CONFIG_KEYS[name] : undefined;
  if (key !== undefined) return key;
  const [guess] = nearest(name.replaceAll("-", "_"), Object.keys(CONFIG_KEYS));
  throw new UsageError(`Unknown setting "${name}"`, {
    hint: guess === undefined ? `Settings: ${Object.keys(CONFIG_KEYS).join(", ")}.` : `Did you mean ${guess}?`,
  });
}
