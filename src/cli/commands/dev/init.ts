import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { shellCommand } from "../../../contract/shell-command.ts";
import { listed } from "../../../contract/words.ts";
import { createFolder } from "../../../files/folders.ts";
import { replaceDurably } from "../../../files/replace.ts";
import { parseTarget } from "../../../relay/targets.ts";
import type { Context } from "../../context.ts";
import { UsageError, UserError } from "../../errors.ts";
import { PROJECT_DEFAULTS, PROJECT_FILE } from "../../project/file.ts";
import { trustOf } from "../../project/remote-receivers.ts";
import { outsideOf } from "../../project/safe-files.ts";
import { databaseOf, OWN_FOLDER } from "../../project/platform.ts";
import { FORMATS, parseProject } from "../../project/read.ts";
import { type Project, PROJECT_SCHEMA } from "../../project/schema.ts";
import { withTrust } from "../../settings/profiles.ts";

interface InitFlags {
  port?: string;
  url?: string;
  forwardTo?: string;
  writeEnv?: string;
  seed?: string;
  run?: string;
  yes?: true;
  force?: true;
}

/** The port that is chosen at the first start. */
const AUTO = "auto";
/** The input that omits a setting. */
const NONE = "none";

/** `service dev init`: writes the project file. Import this module lazily. */
export async function runInit(context: Context, flags: InitFlags): Promise<void> {
  const { output, cwd } = context;
  const path = join(cwd, PROJECT_FILE);
  if (existsSync(path)) await confirmReplacement(flags, context);
  const content = stringify(await askProject(flags, context));
  const text = `# yaml-language-server: $schema=${SCHEMA_FILE}\n${content}`;
  // Reports invalid input in the same words as the reader of the file.
  const project = parseProject(text, cwd) ?? {};
  await replaceDurably(path, text, 0o644);
  prepareFolder(project, text, cwd);
  // The user has just named its hosts.
  await context.updateSettings((settings) => withTrust(settings, cwd, trustOf(project, cwd)));
  const ignored = ignoreEnvFile(project, cwd);
  if (output.json) return await output.document({ file: path, project });
  if (!output.terminal) return output.line(path);
  output.success(`Wrote ${PROJECT_FILE}${ignored ? `, and added ${project.env!.file} to .gitignore` : ""}`);
  const { url } = project.platform ?? {};
  if (url === undefined && !flags.yes) await (await import("../../database/driver.ts")).offerDriver(context);
  output.note("Next: service dev");
}

async function confirmReplacement({ force, yes }: InitFlags, context: Context): Promise<void> {
  if (force) return;
  if (yes || !context.interactive) {
    throw new UsageError(`${PROJECT_FILE} exists`, { hint: "To replace it, pass --force." });
  }
  const message = `${PROJECT_FILE} exists. Replace it?`;
  const isConfirmed = await context.prompts.confirm({ message, flag: "--force" });
  if (!isConfirmed) throw new UserError("Nothing was written", { code: "not_confirmed" });
}

/** Prompts for settings that no flag provides; with `--yes`, uses the defaults. */
async function askProject(flags: InitFlags, context: Context): Promise<Project> {
  // An invalid flag is reported before the first question.
  rejectInvalid("--port", flags.port, FORMATS.port);
  rejectInvalid("--url", flags.url, FORMATS["base-url"]);
  rejectInvalid("--forward-to", flags.forwardTo, FORMATS.target);
  const ask = async (
    given: string | undefined,
    message: string,
    flag: string,
    standard: string,
    problemOf: ProblemOf = () => undefined,
  ): Promise<string> => {
    if (given !== undefined) return given;
    if (flags.yes) return standard;
    const trimmed: ProblemOf = (text) => problemOf(text.trim());
    const question = { message, flag: `${flag} or --yes`, default: standard, problemOf: trimmed };
    return (await context.prompts.text(question)).trim();
  };
  const { forwardTo, run: command, writeEnv } = flags;
  const unanswered = { "--forward-to": forwardTo, "--run": command, "--write-env": writeEnv };
  const missing = Object.entries(unanswered).flatMap(([name, value]) => (value === undefined ? name : []));
  if (missing.length > 0 && !flags.yes && !context.interactive) {
    throw new UsageError(`Pass ${listed(missing, "and")}, or --yes for the defaults`);
  }
  const platform = flags.url ?? flags.port ?? AUTO;
  const to = await ask(
    flags.forwardTo,
    "Where your app receives events",
    "--forward-to",
    "localhost:3000/webhooks",
    FORMATS.target,
  );
  for (const warning of parseTarget(to).warnings) context.output.warn(warning);
  const run = await ask(flags.run, `Command that starts your app, or ${NONE}`, "--run", scriptOf(context.cwd));
  const file = await ask(flags.writeEnv, `File for secret and API key, or ${NONE}`, "--write-env", ".env.local");
  const { secret, key, url } = PROJECT_DEFAULTS;
  return {
    platform:
      platform === AUTO || /^\d+$/.test(platform)
        ? { port: platform === AUTO ? AUTO : Number(platform), database: PROJECT_DEFAULTS.database }
        : { url: platform },
    forward: { to },
    ...(file === NONE ? {} : { env: { file, secret, key, url } }),
    ...(flags.seed === undefined ? {} : { seed: flags.seed }),
    ...(run === NONE ? {} : { run }),
  };
}

/** Returns why a text is invalid, or undefined. */
type ProblemOf = (text: string) => string | undefined;

function rejectInvalid(flag: string, given: string | undefined, problemOf: ProblemOf): void {
  const problem = given === undefined ? undefined : problemOf(given);
  if (problem !== undefined) throw new UsageError(`${flag}: ${problem}`);
}

/** Returns the usual command to start an app in development. */
function scriptOf(cwd: string): string {
  try {
    const { scripts } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as {
      scripts?: Record<string, string>;
    };
    if (scripts?.["dev"] !== undefined) return "npm run dev";
    return scripts?.["start"] === undefined ? NONE : "npm start";
  } catch {
    return NONE;
  }
}

/** The file contains an API key. Returns true if it was added. */
function ignoreEnvFile({ env }: Project, cwd: string): boolean {
  if (env?.file === undefined) return false;
  const path = join(cwd, ".gitignore");
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const names = new Set(text.split(/\r?\n/).map((line) => line.trim().replace(/^\//, "")));
  if ([env.file, ".env*", ".env.*", "*.local", ".env*.local"].some((name) => names.has(name))) return false;
  appendFileSync(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${env.file}\n`);
  return true;
}

/** Where editors find the schema, below the project's folder. */
const SCHEMA_FILE = `${OWN_FOLDER}/schema.json`;

/**
 * Creates the folder of the platform's database, and writes the schema that the project file refers to. Git ignores the
 * folder `.service`.
 */
export function prepareFolder(project: Project, text: string, cwd: string): void {
  const usesSchema = text.includes(`$schema=${SCHEMA_FILE}`);
  const folder = join(cwd, OWN_FOLDER);
  const database = project.platform?.url === undefined ? databaseOf(project, cwd) : undefined;
  if (usesSchema || project.platform?.port === "auto" || (database !== undefined && dirname(database) === folder)) {
    createFolder(folder);
    writeIfChanged(join(folder, ".gitignore"), "*\n", cwd);
  }
  if (usesSchema) writeIfChanged(join(cwd, SCHEMA_FILE), schemaText(), cwd);
}

/** Returns the JSON schema of the project file. */
export function schemaText(): string {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", title: "service.yaml", ...PROJECT_SCHEMA };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function writeIfChanged(file: string, text: string, project: string): void {
  const place = outsideOf(project, file);
  if (place !== undefined) {
    throw new UserError(`${file} leads to ${place}, outside the folder of ${PROJECT_FILE}`, {
      hint: shellCommand`Remove the link: rm ${file}`,
      code: "project_file",
    });
  }
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  writeFileSync(file, text);
}
