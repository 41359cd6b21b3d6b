import { describe, expect, it } from "vitest";
import type { RequestLog } from "../../src/contract/schemas/request-log.ts";
import { apiOf } from "../support/api.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startTail } from "./support/tail.ts";

const cli = cliOnPlatform();
const service = (...args: string[]) => cli.service(args);
const tailLogs = (...args: string[]) => startTail(["logs", "tail", ...args], cli.platform.env);

/** Calls the API and returns the request's ID. */
async function ask(method: string, path: string, body?: unknown): Promise<string> {
  const response = await apiOf(cli.platform.baseUrl, cli.platform.sandboxKey)(method, path, body);
  return response.headers.get("request-id")!;
}

const provoke = (path = "/v1/orders") => ask("GET", path);

describe("service logs get", () => {
  it("shows headers and bodies, with the values of most headers hidden", async () => {
    const id = await ask("POST", "/v1/orders", { amount: 7 });
    const { stdout } = await service("logs", "get", id, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ id, status: 400, request_body: '{"amount":7}' });
    const session = runInTerminal(["logs", "get", id], { env: cli.platform.env, columns: 80 });
    expect(await session.ended).toBe(0);
    for (const part of ["/v1/orders", '"authorization": "…"', '"amount": 7', "invalid_request"]) {
      expect(session.text()).toContain(part);
    }
  });
});

describe("service logs list", () => {
  it("prints one line per request in a pipe, newest first", async () => {
    const rejected = await ask("POST", "/v1/orders", { amount: 1 });
    const found = await ask("GET", "/v1/payments");
    const { exitCode, stdout } = await service("logs", "list");
    expect(exitCode).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(new RegExp(`^${found}\t200\tGET\t/v1/payments\t\t[\\d.]+\t\\d{4}-.*Z$`));
    expect(lines[1]).toMatch(new RegExp(`^${rejected}\t400\tPOST\t/v1/orders\tinvalid_request\t[\\d.]+\t\\d{4}-.*Z$`));
  });

  it("shows complete IDs and the beginning of paths on a narrow terminal", async () => {
    const id = await ask("POST", "/v1/orders/ord_0352BNAZLiDRVpAWRYCwcT/complete");
    const session = runInTerminal(["logs", "list", "--limit", "1"], { env: cli.platform.env, columns: 80 });
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain(id);
    expect(session.text()).toMatch(/POST {4}\/v1\/orders\/\S{4,}…/);
  });

  it("omits the requests with which commands read the clock", async () => {
    expect((await service("clock", "show")).exitCode).toBe(0);
    const last = await provoke();
    const { stdout } = await service("logs", "list", "--all", "--json");
    const logs = JSON.parse(stdout) as RequestLog[];
    expect(logs.map(({ id }) => id)).toContain(last);
    expect(logs.map(({ path }) => path)).not.toContain("/v1/test_clock");
  });

  it("filters by time", async () => {
    const id = await provoke();
    const ids = async (...args: string[]) => (await service("logs", "list", "-q", ...args)).stdout.trim().split("\n");
    expect(await ids("--since", "1h")).toContain(id);
    expect(await ids("--until", "1h")).not.toContain(id);
  });

  it("hides successful reads of commands, but not those of a filter that asks for them", async () => {
    const own = await provoke("/v1/orders");
    expect((await service("customers", "list")).exitCode).toBe(0);
    expect((await service("customers", "get", "cus_4Vf8aTqz0bKm2sNw9XyRcd")).exitCode).toBe(3);
    const list = async (...args: string[]) => {
      const { stdout } = await service("logs", "list", "--json", ...args);
      return (JSON.parse(stdout) as RequestLog[]).map(({ id, status, client }) => ({ id, status, client }));
    };
    const [failed, next] = await list("--limit", "2");
    expect(failed).toMatchObject({ status: 404, client: "service-cli" });
    expect(next!.id).toBe(own);
    const isRead = ({ status, client }: { status: number; client: string | null }) =>
      status === 200 && client === "service-cli";
    for (const filter of [["--own-reads"], ["--method", "GET"]])
      expect((await list(...filter)).some(isRead)).toBe(true);
    const session = runInTerminal(["logs", "list", "--limit", "2"], { env: cli.platform.env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("To show them, pass --own-reads.");
  });

  it("filters by method, path, status and key", async () => {
    const { stdout } = await service("keys", "create", "--scope", "customers:read", "--json");
    const { id, key } = JSON.parse(stdout) as { id: string; key: string };
    const api = apiOf(cli.platform.baseUrl, key);
    await api("GET", "/v1/customers");
    await api("POST", "/v1/customers", { email: "ada@example.com" });
    const list = async (...args: string[]) => {
      const result = await service("logs", "list", "--key", id, "--json", ...args);
      expect(result).toMatchObject({ exitCode: 0, stderr: "" });
      return (JSON.parse(result.stdout) as RequestLog[]).map(({ method, status }) => `${method} ${status}`);
    };
    expect(await list()).toEqual(["POST 403", "GET 200"]);
    expect(await list("--method", "get")).toEqual(["GET 200"]);
    expect(await list("--status", "403")).toEqual(["POST 403"]);
    expect(await list("--path", "/v1/customers", "--limit", "1")).toEqual(["POST 403"]);
    expect(await list("--path", "/v1/cust*")).toEqual(["POST 403", "GET 200"]);
    expect(await list("--path", "/v1/customers*", "--status", "4xx")).toEqual(["POST 403"]);
    expect(await list("--path", "*", "--method", "get", "--limit", "1")).toEqual(["GET 200"]);
    expect(await list("--path", "/v1/orders")).toEqual([]);
    expect(await list("--path", "/v1/orders*")).toEqual([]);
  });

  it("draws a table on a terminal", async () => {
    await ask("GET", "/v1/customers/nobody");
    const session = runInTerminal(["logs", "list", "--status", "404"], { env: cli.platform.env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/ID +STATUS +METHOD +PATH +ERROR +DURATION +CREATED/);
    expect(session.text()).toMatch(/404 +GET +\/v1\/customers\/\{id\} +not_found +[\d.]+ ms/);
  });

  it.each([
    ["--method", "PUT", "is not one of GET, HEAD, POST, PATCH, DELETE"],
    ["--status", "99", "must be a status code such as 404"],
  ])("rejects %s %s", async (flag, value, message) => {
    const { exitCode, stdout, stderr } = await service("logs", "list", flag, value);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("service logs tail", () => {
  it("prints each request once, as the API's own object, except its own requests", async () => {
    const tail = tailLogs("--json");
    await tail.begun(() => provoke());
    const asked: string[] = [];
    for (let i = 0; i < 120; i++) asked.push(await ask("GET", `/v1/${i % 2 === 0 ? "orders" : "payments"}`));
    const seen = () => tail.lines.map((line) => JSON.parse(line) as RequestLog);
    await tail.until(() => asked.every((id) => seen().some((log) => log.id === id)));
    const ids = seen().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(ids.toSorted());
    expect(seen().map(({ path }) => path)).not.toContain("/v1/request_logs");
    const { stdout } = await service("logs", "list", "--limit", "100", "--json");
    expect(JSON.parse(stdout)).toContainEqual(seen().at(-1));
    expect(tail.stderr()).toBe("");
  });

  it("hides successful GET requests of commands unless --all is passed", async () => {
    const [tail, whole] = [tailLogs("--json"), tailLogs("--json", "--all")];
    await Promise.all([tail.begun(() => provoke()), whole.begun(() => provoke())]);
    expect((await service("customers", "list")).exitCode).toBe(0);
    expect((await service("customers", "get", "cus_4Vf8aTqz0bKm2sNw9XyRcd")).exitCode).toBe(3);
    expect((await service("customers", "create", "--email", "tail@example.com")).exitCode).toBe(0);
    const commandsIn = ({ lines }: typeof tail) =>
      lines
        .map((line) => JSON.parse(line) as RequestLog)
        .filter(({ client }) => client === "service-cli")
        .map(({ method, status }) => `${method} ${status}`);
    await tail.until(() => commandsIn(tail).includes("POST 201"));
    await whole.until(() => commandsIn(whole).includes("POST 201"));
    expect(commandsIn(tail)).toEqual(["GET 404", "POST 201"]);
    expect(commandsIn(whole)).toEqual(expect.arrayContaining(["GET 200", "GET 404", "POST 201"]));
  });

  it("accepts the filters of the list", async () => {
    const tail = tailLogs("--status", "404", "--quiet");
    await tail.begun(() => provoke("/v1/orders/nothing"));
    await ask("GET", "/v1/orders");
    const last = await ask("GET", "/v1/orders/nothing");
    await tail.until(() => tail.lines.includes(last));
    const { stdout } = await service("logs", "list", "--all", "--json");
    const logs = JSON.parse(stdout) as RequestLog[];
    expect(new Set(tail.lines.map((line) => logs.find(({ id }) => id === line)!.status))).toEqual(new Set([404]));
  });

  it.each([
    ["SIGINT", 0],
    ["SIGTERM", 143],
  ] as const)("exits on %s with %i", async (signal, exitCode) => {
    const tail = tailLogs("--json");
    await tail.begun(() => provoke());
    expect(await tail.interrupt(signal)).toBe(exitCode);
  });

  it.each([60, 80, 140])("fits a line with the whole ID into %i columns, until Ctrl-C", async (columns) => {
    const session = runInTerminal(["logs", "tail"], { env: cli.platform.env, columns });
    await session.waitFor("Following API requests. Press Ctrl-C to stop.");
    const id = await ask("POST", "/v1/orders/ord_0352BNAZLiDRVpAWRYCwcT/complete");
    await session.waitFor(new RegExp(`404 {2}POST {4}/v1\\S*e {2}.*${id}`));
    session.type(CTRL_C);
    expect(await session.ended).toBe(0);
    const line = session
      .text()
      .split("\n")
      .find((text) => text.includes("404  POST"))!;
    expect(line.slice(line.search(/\d\d:/)).length).toBeLessThanOrEqual(columns);
    expect(line.includes("not_found")).toBe(columns === 140);
  });

  it("aligns the columns of its lines", async () => {
    const session = runInTerminal(["logs", "tail"], { env: cli.platform.env, columns: 120 });
    await session.waitFor("Following API requests. Press Ctrl-C to stop.");
    const ids = [await ask("POST", "/v1/orders/ord_0352BNAZLiDRVpAWRYCwcT/complete"), await ask("GET", "/v1/orders")];
    for (const id of ids) await session.waitFor(id);
    session.type(CTRL_C);
    expect(await session.ended).toBe(0);
    const lines = session.text().split("\n");
    const [first, second] = ids.map((id) => lines.find((line) => line.endsWith(id))!.match(/\d\d:.*$/)![0].length);
    expect(first).toBe(second);
    for (const id of ids) expect(session.text()).toMatch(new RegExp(` ms {2}${id}`));
  });
});
