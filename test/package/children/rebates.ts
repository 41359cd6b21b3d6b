// The tests of the resource that CONTRIBUTING.md adds, which guide.test.ts runs in a copy of the repository.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, apiOf } from "../../support/api.ts";
import { type RunningPlatform, startNode, startPlatform } from "../../support/platform.ts";
import { type PostgresServer, usePostgres } from "../../support/postgres.ts";
import { runCli } from "../../support/run-cli.ts";

const ROUNDS = 5;
const AT_ONCE = 12;

let server: PostgresServer & { remove(): Promise<void> };
let nodes: RunningPlatform[];
let single: RunningPlatform;

beforeAll(async () => {
  server = await usePostgres();
  const database = await server.createDatabase();
  nodes = [await startNode(database), await startNode(database)];
  single = await startPlatform();
});
afterAll(async () => {
  await Promise.all([...nodes, single].map((node) => node.stop()));
  await server.remove();
});

describe.each([
  ["a process on SQLite", () => [single]],
  ["two processes on PostgreSQL", () => nodes],
])("rebates of %s", (_name, platforms) => {
  let apis: Api[];
  beforeAll(() => {
    const [first] = platforms();
    apis = platforms().map(({ baseUrl }) => apiOf(baseUrl, first!.sandboxKey));
  });

  it("never exceed the payment together, however many are created at once", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { body: payment } = await apis[0]!("POST", "/v1/payments", { amount: 1999, currency: "EUR" });
      const rebate = { amount: 500, currency: "EUR", payment: payment.id };
      const responses = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) => apis[index % apis.length]!("POST", "/v1/rebates", rebate)),
      );
      const created = responses.filter(({ status }) => status === 201);
      expect(created).toHaveLength(3);
      const rejected = responses.filter(({ status }) => status === 400);
      expect(rejected).toHaveLength(AT_ONCE - 3);
      expect(rejected[0]!.body.detail).toBe("amount exceeds what is left of the payment.");
      expect((await apis[0]!("GET", `/v1/rebates?payment=${payment.id}`)).body.data).toHaveLength(3);
    }
  });

  it("have a reference of their own, regardless of case, however many are created at once", async () => {
    const { body: payment } = await apis[0]!("POST", "/v1/payments", { amount: 1999, currency: "EUR" });
    const rebate = { amount: 1, currency: "EUR", payment: payment.id };
    const responses = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        apis[index % apis.length]!("POST", "/v1/rebates", { ...rebate, reference: index % 2 === 0 ? "RB-1" : "rb-1" }),
      ),
    );
    const { id } = responses.find(({ status }) => status === 201)!.body;
    const taken = {
      status: 409,
      body: {
        code: "already_exists",
        detail: expect.stringMatching(new RegExp(`^The reference rb-1 belongs to rebate ${id}\\.$`, "i")),
        existing: id,
        errors: [{ pointer: "/reference", code: "taken", detail: "another rebate has this reference" }],
      },
    };
    const rejected = responses.filter(({ status }) => status !== 201);
    expect(rejected).toMatchObject(Array.from({ length: AT_ONCE - 1 }, () => taken));
    const { body: other } = await apis[0]!("POST", "/v1/rebates", rebate);
    expect(await apis[0]!("PATCH", `/v1/rebates/${other.id}`, { reference: "Rb-1" })).toMatchObject(taken);
    expect((await apis[0]!("PATCH", `/v1/rebates/${id}`, { reference: "Rb-1" })).body.reference).toBe("Rb-1");
    expect((await apis[0]!("PATCH", `/v1/rebates/${id}`, { reference: null })).body.reference).toBeNull();
    expect((await apis[0]!("PATCH", `/v1/rebates/${other.id}`, { reference: "RB-1" })).status).toBe(200);
  });

  it("have one of the allowed reasons, and an existing date", async () => {
    const { body: payment } = await apis[0]!("POST", "/v1/payments", { amount: 1999, currency: "EUR" });
    const rebate = { amount: 1, currency: "EUR", payment: payment.id };
    const given = { reason: "loyalty", due: "2026-12-24" };
    expect((await apis[0]!("POST", "/v1/rebates", { ...rebate, ...given })).body).toMatchObject(given);
    const wrong = { ...rebate, amount: 0, reason: "none", due: "2026-02-30" };
    const { body } = await apis[0]!("POST", "/v1/rebates", wrong);
    expect(body.errors).toEqual([
      { pointer: "/amount", code: "out_of_range", detail: "must be at least 1" },
      { pointer: "/reason", code: "not_allowed", detail: "must be one of volume, loyalty, delay" },
      { pointer: "/due", code: "invalid_format", detail: "must be a date of the form YYYY-MM-DD" },
    ]);
  });
});

it("the command creates rebates, and triggers their events", async () => {
  const { env } = single;
  const triggered = await runCli(["trigger", "rebate.succeeded", "--json"], { env });
  expect(triggered).toMatchObject({ exitCode: 0, stderr: "" });
  for (const _time of ["first", "second"])
    expect(await runCli(["trigger", "rebate.updated"], { env })).toMatchObject({ exitCode: 0 });
  const { stdout } = await runCli(["rebates", "list", "--status", "succeeded", "--json"], { env });
  const [{ id, payment, amount, reference }] = JSON.parse(stdout) as [
    { id: string; payment: string; amount: number; reference: string },
  ];
  expect(amount).toBe(1999);
  await apiOf(single.baseUrl, single.sandboxKey)("POST", `/v1/payments/${payment}/succeed`);
  const flags = ["--amount", "1", "--currency", "eur", "--payment", payment, "--reason", "other"];
  expect((await runCli(["rebates", "create", ...flags], { env })).stderr).toContain(
    "is not one of volume, loyalty, delay",
  );
  const taken = ["--amount", "1", "--currency", "eur", "--payment", payment, "--reference", reference.toUpperCase()];
  expect((await runCli(["rebates", "create", ...taken], { env })).stderr).toContain(
    `To see the existing rebate: service rebates get ${id}`,
  );
  const { exitCode, stderr } = await runCli(["rebates", "create", "--amount", "0"], { env });
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--amount: must be at least 1"),
  });
});
