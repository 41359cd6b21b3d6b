import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { Browser, type Visit } from "../../platform/oauth/support/browser.ts";
import type { ServedPlatform } from "../../support/platform.ts";
import { BIN, type CliResult, cliEnv, interruption, runCli } from "../../support/run-cli.ts";

/** The instructions that `service login --json` prints on stderr. */
export interface Announcement {
  authorization_url?: string;
  user_code?: string;
  verification_uri?: string;
  verification_uri_complete?: string;
  expires_in?: number;
}

/** A running `service login --json`. */
export interface RunningLogin {
  announcement: Announcement;
  /** The URL that the browser returns to. */
  redirectUri: string;
  state: string;
  ended: Promise<CliResult>;
  /** Interrupts it like Ctrl-C. */
  interrupt(): void;
}

/** Starts it in this process. Resolves once it has printed its instructions. */
export function startLogin(args: readonly string[], env: Record<string, string>): Promise<RunningLogin> {
  const controller = new AbortController();
  return announced((onStderr) => {
    const ended = runCli(["login", "--json", ...args], { env, onStderr, signal: controller.signal });
    return { ended, interrupt: () => controller.abort(interruption()) };
  });
}

/** Starts it in a separate process. */
export function spawnLogin(args: readonly string[], env: Record<string, string>): Promise<RunningLogin> {
  return announced((onStderr) => {
    const child = spawn(process.execPath, [BIN, "login", "--json", ...args], { env: cliEnv(env), stdio: "pipe" });
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output.stderr += text;
      onStderr(text);
    });
    child.stdin.end();
    const ended = once(child, "close").then(([exitCode]) => ({ exitCode: exitCode as number | null, ...output }));
    return { ended, interrupt: () => child.kill("SIGINT") };
  });
}

async function announced(
  start: (onStderr: (text: string) => void) => Pick<RunningLogin, "ended" | "interrupt">,
): Promise<RunningLogin> {
  let stderr = "";
  let announce: (announcement: Announcement) => void;
  const output = new Promise<Announcement>((resolve) => (announce = resolve));
  const running = start((text) => {
    stderr += text;
    const line = stderr.split("\n").find((line) => /^\{"(authorization_url|verification_uri)"/.test(line));
    if (line !== undefined && stderr.includes(`${line}\n`)) announce(JSON.parse(line) as Announcement);
  });
  const early = running.ended.then(({ exitCode }) => {
    throw new Error(`service login ended with ${exitCode}: ${stderr}`);
  });
  const announcement = await Promise.race([output, early]);
  const query = new URLSearchParams(announcement.authorization_url?.split("?")[1] ?? "");
  return {
    announcement,
    redirectUri: query.get("redirect_uri") ?? "",
    state: query.get("state") ?? "",
    ...running,
  };
}

/** The environment of a terminal with a separate settings folder. */
export function loginEnv(platform: ServedPlatform, configDir: string): Record<string, string> {
  return { SERVICE_BASE_URL: platform.baseUrl, SERVICE_CONFIG_DIR: configDir };
}

/** Returns the owner's browser, signed in by the one-time link. The link works once per platform. */
export async function signedInUser(platform: ServedPlatform): Promise<Browser> {
  const user = new Browser(platform.baseUrl);
  await user.get(platform.ready.sign_in_url!);
  return user;
}

/** Approves or denies an authorization request. Returns the redirect URL without following it. */
export async function decide(user: Browser, url: string, decision: "approve" | "deny"): Promise<URL> {
  const question = await user.get(url);
  const { left, text, status } = await user.submit(question, { decision }, isQuestion);
  if (left === undefined) throw new Error(`no redirect came: ${status}\n${text}`);
  return left;
}

/** Enters a device code, then approves or denies it. Throws if either is rejected. */
export async function decideDevice(
  user: Browser,
  { verification_uri, user_code }: Announcement,
  decision: "approve" | "deny",
): Promise<Visit> {
  const form = await user.get(verification_uri!);
  const question = await user.submit(form, { user_code: user_code! }, ({ fields }) => "user_code" in fields);
  return await user.submit(question, { decision }, isQuestion);
}

/** Follows the redirect to the waiting command, and expects it to succeed. */
export async function followRedirect(url: URL): Promise<void> {
  const { status, text } = await visit(url);
  if (status !== 200) throw new Error(`service login rejected the redirect: ${status}\n${text}`);
}

/** Signs in a settings folder through a user's browser. */
export async function signIn(
  platform: ServedPlatform,
  user: Browser,
  configDir: string,
  args: readonly string[] = [],
): Promise<void> {
  const login = await startLogin(["--no-browser", ...args], loginEnv(platform, configDir));
  await followRedirect(await decide(user, login.announcement.authorization_url!, "approve"));
  const { exitCode, stderr } = await login.ended;
  if (exitCode !== 0) throw new Error(`service login ended with ${exitCode}: ${stderr}`);
}

/** Sends a request as a browser navigates, with additional headers. */
export function visit(
  url: URL | string,
  { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const request = get(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on("error", reject);
  });
}

function isQuestion({ fields }: { fields: Record<string, string> }): boolean {
  return !("next" in fields);
}
