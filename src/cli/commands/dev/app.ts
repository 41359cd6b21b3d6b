import { relative, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Waiting } from "../../../contract/listen.ts";
import { addressOf, isLoopback } from "../../../network/connect-options.ts";
import { acceptsConnections } from "../../../network/port-probe.ts";
import { parseTarget } from "../../../relay/targets.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { openFileWarning, writeEnvFile } from "../../forwarding/files.ts";
import { portOwner } from "../../process/port-owner.ts";
import { type Exit, ProcessGroup } from "../../process/process-group.ts";
import { PROJECT_FILE } from "../../project/file.ts";
import { flagsOf, variableNames } from "../../project/forwarding.ts";
import type { Project } from "../../project/schema.ts";
import type { Console } from "./console.ts";

const POLL_MS = 50;
const CONNECT_MS = 500;

/** Starts the command of the app in a shell. Its input stays open and empty: some programs exit once it is closed. */
export function startApp(
  command: string,
  variables: Readonly<Record<string, string>>,
  { console, context }: { console: Console; context: Context },
): ProcessGroup {
  const { env, platform, cwd } = context;
  const color = console.hasColor && env["FORCE_COLOR"] === undefined ? { FORCE_COLOR: "1" } : {};
  // Without the trap, the shell would exit on a signal that the app handles, and hide the app's exit code.
  const script = platform === "win32" ? command : `trap : INT TERM HUP; ${command}`;
  const group = new ProcessGroup(script, [], {
    shell: true,
    cwd,
    platform,
    env: { ...env, ...color, ...variables },
    stdio: ["pipe", "pipe", "pipe"],
  });
  group.child.stdin!.on("error", () => {});
  for (const name of ["stdout", "stderr"] as const) {
    const { write, end } = console.appOutput(name);
    group.child[name]!.setEncoding("utf8").on("data", write).once("end", end);
  }
  return group;
}

/** Returns true for an address at which the app can be expected to listen. */
export function isLocal(target: URL | undefined): target is URL {
  return target !== undefined && isLoopback(target.hostname);
}

/** Returns whether an address accepts connections. */
async function isListening(target: URL): Promise<boolean> {
  return (await acceptsConnections(addressOf(target), CONNECT_MS)) === true;
}

/** Throws UserError if another program listens where the app is to. */
export async function assertPortFree(project: Project): Promise<void> {
  const { forwardTo, route: [route] = [] } = flagsOf(project);
  const text = forwardTo ?? route?.slice(route.indexOf("=") + 1);
  const target = text === undefined ? undefined : parseTarget(text).url;
  if (!isLocal(target) || !(await isListening(target))) return;
  const owner = portOwner(Number(target.port || 80)) ?? "another program";
  throw new UserError(`${target.host} is already in use by ${owner}`, {
    hint: `Stop that program (it may be the app of another \`service dev\`), or change forward.to in ${PROJECT_FILE}. If you start your app yourself, remove run: from ${PROJECT_FILE}.`,
    code: "port_taken",
  });
}

/** Resolves once the app accepts connections, or once the signal is aborted. */
export async function untilListening(target: URL, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await isListening(target))) {
    await delay(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

/** Returns where the app gets the signing secret from, for a screen that does not show the secret itself. */
export function secretPlace(project: Project): string {
  const { secret } = variableNames(project);
  const { file } = project.env ?? {};
  return file === undefined ? `the app has it in ${secret}` : `${secret} in ${file}`;
}

/**
 * Returns the variables for the app: signing secret, API key and base URL. Writes them to the file that `env.file`
 * names.
 */
export async function writeVariables(
  project: Project,
  { baseUrl, secret, context }: { baseUrl: string; secret: string; context: Context },
): Promise<Record<string, string>> {
  const names = variableNames(project);
  const { credential } = await context.connection();
  const key = credential?.value.type === "api_key" ? credential.value.api_key : undefined;
  const variables = {
    [names.secret]: secret,
    ...(key === undefined ? {} : { [names.key]: key }),
    [names.url]: baseUrl,
  };
  const { file } = project.env ?? {};
  if (key === undefined) {
    context.output.warn(
      `${names.key} is not set: ${credential?.name ?? "the profile"} has a session, not an API key. To create one: service keys create --name dev`,
    );
  }
  if (file === undefined) return variables;
  const path = resolve(context.cwd, file);
  try {
    await writeEnvFile(path, variables);
  } catch (error) {
    throw new UserError(`env.file: cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
  const warning = openFileWarning(path, "an API key and the signing secret", context.platform);
  if (warning !== undefined) context.output.warn(warning.replaceAll(path, relative(context.cwd, path)));
  return variables;
}

export function howItEnded({ code, signal }: Exit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

/** Returns what events wait for after a crash. */
export function restarting(exit: Exit, error: string | undefined): Waiting {
  const why = error === undefined ? "" : ` (${error})`;
  const remedy = `The app ${howItEnded(exit)}${why}: press r in \`service dev\` to restart it, q to quit`;
  return { waiting: "the app runs", remedy };
}
