import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { decide, followRedirect, spawnLogin } from "../../cli/support/running-login.ts";
import { tokensIn } from "../../cli/support/stored.ts";
import { OPERATIONS } from "../../../src/contract/operations.ts";
import { secretInputsOf } from "../../../src/platform/http/request-log.ts";
import { hostPlatform } from "../delivery/support/hosted-platform.ts";
import { createMinuteClock } from "../delivery/support/minute-clock.ts";
import { Browser, formsOf, type PageForm } from "../oauth/support/browser.ts";
import { apiOf } from "../../support/api.ts";
import { type ReadyLine, withCredentials } from "../../support/platform.ts";
import { BIN, cliEnv, createConfigDir, spawnCli } from "../../support/run-cli.ts";

/** Every issued secret by name. */
const secrets: Record<string, string> = {};
/** The stderr output of commands, which must not contain secrets. */
let output = "";
/** The platform's output after its first line, which shows its first keys once. */
const logged: string[] = [];
/** The command line of every process in the meantime, as any user of the machine sees it. */
const commandLines = new Set<string>();

let folder: string;
let database: string;
let dir: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-secrets-"));
  database = join(folder, "data", "platform.db");
  const flags = ["--json", "--debug", "--database", database, "--port", "0", "--allow-private-targets"];
  const child = spawn(process.execPath, [BIN, "serve", ...flags], { env: cliEnv(), stdio: ["ignore", "pipe", "pipe"] });
  child.stderr.on("data", (text) => logged.push(String(text)));
  const lines = createInterface(child.stdout);
  const [first] = (await once(lines, "line")) as [string];
  lines.on("line", (line) => logged.push(line));
  logged.push(first);
  const ready = withCredentials(JSON.parse(first) as ReadyLine);
  noteCommandLines();
  // For child processes of the commands.
  const watch = setInterval(noteCommandLines, 20);
  try {
    await work(ready);
  } finally {
    clearInterval(watch);
    child.kill("SIGTERM");
    await once(child, "close");
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function noteCommandLines(): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      commandLines.add(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
    } catch {
      // The process has exited.
    }
  }
}

/** Runs a command with full debug output. Returns its stdout. */
async function service(args: readonly string[], input?: string): Promise<Record<string, unknown>> {
  const running = spawnCli([...args, "--json", "--debug"], { env, input: input ?? "" });
  noteCommandLines();
  const { exitCode, stdout, stderr } = await running;
  expect(exitCode, stderr).toBe(0);
  output += stderr;
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Record<string, unknown>;
}

/** Creates, uses and rotates every kind of secret. */
async function work(ready: ReadyLine): Promise<void> {
  dir = createConfigDir();
  env = { SERVICE_BASE_URL: ready.base_url, SERVICE_CONFIG_DIR: dir };
  const user = new Browser(ready.base_url);
  await user.get(ready.sign_in_url!);
  const login = await spawnLogin(["--no-browser", "--debug"], env);
  noteCommandLines();
  const respond = await decide(user, login.announcement.authorization_url!, "approve");
  await followRedirect(respond);
  const signedIn = await login.ended;
  expect(signedIn.exitCode).toBe(0);
  output += signedIn.stdout + signedIn.stderr;
  const { access_token, refresh_token } = tokensIn(dir);

  const key = await service(["keys", "create", "--full-access", "--name", "one"]);
  const rolled = await service(["keys", "roll", String(key["id"])]);
  const endpoint = await service(["endpoints", "create", "--url", "http://127.0.0.1:9/", "--events", "*"]);
  const rotated = await service(["endpoints", "rotate-secret", String(endpoint["id"])]);
  const app = await service(["apps", "create", "--name", "An app", "--redirect-uri", "https://app.example.com/"]);
  const listening = await service(["listen", "--print-secret"]);
  await service(["trigger", "order.completed"]);
  await service(["whoami"]);
  await service(["status"]);
  const env0 = env;
  env = { ...env, SERVICE_CONFIG_DIR: createConfigDir() };
  await service(["login", "--api-key-stdin"], String(rolled["key"]));
  env = env0;
  Object.assign(secrets, {
    accessToken: access_token,
    refreshToken: refresh_token,
    code: respond.searchParams.get("code"),
    session: [...user.cookies.values()][0],
    signInLink: new URL(ready.sign_in_url!).searchParams.get("token"),
    sandboxKey: ready.sandbox_key,
    liveKey: ready.live_key,
    createdKey: key["key"],
    rolledKey: rolled["key"],
    endpointSecret: endpoint["secret"],
    rotatedSecret: rotated["secret"],
    clientSecret: app["client_secret"],
    listenSecret: listening["secret"],
    password: `planted ${randomUUID()}`,
    masterKey: readFileSync(`${database}.key`, "utf8").trim(),
    administratorToken: (JSON.parse(readFileSync(`${database}.admin`, "utf8")) as { token: string }).token,
  });

  const api = apiOf(ready.base_url, ready.sandbox_key);
  for (const { method, path, body } of OPERATIONS) {
    for (const name of secretInputsOf(body)) {
      const planted = (secrets[`${name} of ${method} ${path}`] = `planted-${randomUUID()}`);
      const valid = { url: "http://127.0.0.1:9/", events: ["*"], [name]: { "X-Planted": planted } };
      for (const input of [valid, { [name]: planted }, [{ [name]: planted }], planted]) await api(method, path, input);
    }
  }
  expect(Object.keys(secrets)).toContain("headers of POST /v1/webhook_endpoints");
  const order = await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  expect(order.status).toBe(201);
  await choosePassword(user, secrets["password"]!);

  // Secrets in places where clients must not send them.
  for (const secret of [ready.sandbox_key, String(endpoint["secret"]), access_token]) {
    for (const shown of [secret, secret.replace("_", "%5F")]) {
      await api("GET", `/v1/customers/${shown}`);
      await api("GET", `/${shown}?token=${shown}`);
      await api("POST", "/v1/customers", { email: shown, [shown]: 1 }, { "Service-Version": shown });
    }
  }
  await fetch(`${ready.base_url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token, client_id: "app_service_cli", scope: "x" }),
  });
  await service(["serve", "link", "--database", database]);
  await service(["sandbox", "save", "with-secrets"]);
  await service(["db", "backup", join(dirname(database), "backup.db"), "--database", database]);
  const leak = join(folder, "leak");
  writeFileSync(leak, `key = ${String(key["key"])}\n`);
  const scanning = spawnCli(["keys", "scan", leak, "--debug"], { env });
  noteCommandLines();
  const scan = await scanning;
  expect(scan.exitCode).toBe(1);
  output += scan.stdout + scan.stderr;
}

/** Sets a password, and signs in with it and with a longer one. */
async function choosePassword(user: Browser, password: string): Promise<void> {
  const account = await user.get("/account");
  const isDetails = ({ action }: PageForm) => action === "/account/details";
  const { email } = formsOf(account).find(isDetails)!.fields;
  await user.submit(account, { new_password: password }, isDetails);
  const another = new Browser(account.url);
  const page = await another.get("/sign-in");
  await another.trySubmit(page, { email: email!, password: `${password} ` });
  await another.submit(page, { email: email!, password });
}

function expectNone(text: string, place: string): void {
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret.length, name).toBeGreaterThan(20);
    const encoded = secret.replace("_", "%5F");
    expect(text.includes(secret) || text.includes(encoded), `${name} in ${place}`).toBe(false);
  }
}

it("no secret is in the platform's log", () => {
  expect(logged.filter((line) => line.includes('"event":"request"')).length).toBeGreaterThan(20);
  expect(logged.join("\n")).toContain("/v1/customers/sk_sandbox_…");
  expectNone(logged.join("\n"), "the log");
});

it("no secret is in a command's stderr, even with --debug", () => {
  expect(output).toContain("/oauth/token → 200");
  expectNone(output, "stderr");
});

it("no secret is in a command line", () => {
  const all = [...commandLines].join("\n");
  expect(all).toContain("login --api-key-stdin");
  expectNone(all, "a command line");
});

it("no secret is in a file except the master key, the administrator's and the first credentials", () => {
  const data = dirname(database);
  const files = readdirSync(data).filter((name) => !/\.(key|admin|credentials)$/.test(name));
  expect(files).toEqual(expect.arrayContaining(["platform.db", "backup.db"]));
  for (const file of files) expectNone(readFileSync(join(data, file), "latin1"), file);
});

it("no input that the contract marks as secret is in the request log, however the body is written", async () => {
  const { body } = OPERATIONS.find(({ name }) => name === "createWebhookEndpoint")!;
  const description = body!.properties["description"] as { "x-secret"?: true };
  description["x-secret"] = true;
  const other = await hostPlatform({ clock: createMinuteClock() });
  delete description["x-secret"];
  const valid = { url: "https://example.com/", events: ["*"], description: "planted" };
  for (const [json, status] of [
    [JSON.stringify(valid, null, 2), 201],
    [JSON.stringify(valid).replace('"description"', String.raw`"d\u0065scription"`), 201],
    [JSON.stringify({ ...valid, url: { nested: valid } }), 400],
    [JSON.stringify(valid).slice(0, -1), 400],
  ] as const) {
    const { headers } = await fetch(`${other.baseUrl}/v1/webhook_endpoints`, {
      method: "POST",
      headers: { Authorization: `Bearer ${other.sandboxKey}`, "Content-Type": "application/json" },
      body: json,
    });
    const { body: shown } = await other.api("GET", `/v1/request_logs/${headers.get("request-id")}`);
    expect(shown.status, json).toBe(status);
    expect(shown.request_body).toContain("…");
    expect(shown.request_body).not.toContain("planted");
  }
  await other.close();
});
