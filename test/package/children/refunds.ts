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
])("refunds of %s", (_name, platforms) => {
  let apis: Api[];
  beforeAll(() => {
    const [first] = platforms();
    apis = platforms().map(({ baseUrl }) => apiOf(baseUrl, first!.sandboxKey));
  });

  it("never exceed the payment together, however many are created at once", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { body: payment } = await apis[0]!("POST", "/v1/payments", { amount: 1999, currency: "EUR" });
      const refund = { amount: 500, currency: "EUR", payment: payment.id };
      const responses = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) => apis[index % apis.length]!("POST", "/v1/refunds", refund)),
      );
      const created = responses.filter(({ status }) => status === 201);
      expect(created).toHaveLength(3);
      const rejected = responses.filter(({ status }) => status === 400);
      expect(rejected).toHaveLength(AT_ONCE - 3);
      expect(rejected[0]!.body.detail).toBe("amount exceeds what is left of the payment.");
      expect((await apis[0]!("GET", `/v1/refunds?payment=${payment.id}`)).body.data).toHaveLength(3);
    }
  });

  it("have a reference of their own, regardless of case, however many are created at once", async () => {
    const { body: payment } = await apis[0]!("POST", "/v1/payments", { amount: 1999, currency: "EUR" });
    const refund = { amount: 1, currency: "EUR", payment: payment.id };
    const responses = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        apis[index % apis.length]!("POST", "/v1/refunds", { ...refund, reference: index % 2 === 0 ? "RF-1" : "rf-1" }),
      ),
    );
    const { id } = responses.find(({ status }) => status === 201)!.body;
    const taken = {
      status: 409,
      body: {
        code: "already_exists",
        detail: expect.stringMatching(new RegExp(`^The reference rf-1 belongs to refund ${id}\\.$`, "i")),
        existing: id,
        errors: [{ pointer: "/reference", code: "taken", detail: "another refund has this reference" }],
      },
    };
    const rejected = responses.filter(({ status }) => status !== 201);
    expect(rejected).toMatchObject(Array.from({ length: AT_ONCE - 1 }, () => taken));
    const { body: other } = await apis[0]!("POST", "/v1/refunds", refund);
    expect(await apis[0]!("PATCH", `/v1/refunds/${other.id}`, { reference: "Rf-1" })).toMatchObject(taken);
    expect((await apis[0]!("PATCH", `/v1/refunds/${id}`, { reference: "Rf-1" })).body.reference).toBe("Rf-1");
    expect((await apis[0]!("PATCH", `/v1/refunds/${id}`, { reference: null })).body.reference).toBeNull();
    expect((await apis[0]!("PATCH", `/v1/refunds/${other.id}`, { reference: "RF-1" })).status).toBe(200);
  });

  it("have one of the allowed reasons, and an existing date", async () => {
    const { body: payment } = await apis[0]!("POST", "/v1/payments", { amount: 1999, currency: "EUR" });
    const refund = { amount: 1, currency: "EUR", payment: payment.id };
    const given = { reason: "duplicate", due: "2026-12-24" };
    expect((await apis[0]!("POST", "/v1/refunds", { ...refund, ...given })).body).toMatchObject(given);
    const wrong = { ...refund, amount: 0, reason: "none", due: "2026-02-30" };
    const { body } = await apis[0]!("POST", "/v1/refunds", wrong);
    expect(body.errors).toEqual([
      { pointer: "/amount", code: "out_of_range", detail: "must be at least 1" },
      { pointer: "/reason", code: "not_allowed", detail: "must be one of requested, duplicate, fraudulent" },
      { pointer: "/due", code: "invalid_format", detail: "must be a date of the form YYYY-MM-DD" },
    ]);
  });
});

it("the command creates refunds, and triggers their events", async () => {
  const { env } = single;
  const triggered = await runCli(["trigger", "refund.succeeded", "--json"], { env });
  expect(triggered).toMatchObject({ exitCode: 0, stderr: "" });
  for (const _time of ["first", "second"])
    expect(await runCli(["trigger", "refund.updated"], { env })).toMatchObject({ exitCode: 0 });
  const { stdout } = await runCli(["refunds", "list", "--status", "succeeded", "--json"], { env });
  const [{ id, payment, amount, reference }] = JSON.parse(stdout) as [
    { id: string; payment: string; amount: number; reference: string },
  ];
  expect(amount).toBe(1999);
  await apiOf(single.baseUrl, single.sandboxKey)("POST", `/v1/payments/${payment}/succeed`);
  const flags = ["--amount", "1", "--currency", "eur", "--payment", payment, "--reason", "other"];
  expect((await runCli(["refunds", "create", ...flags], { env })).stderr).toContain(
    "is not one of requested, duplicate, fraudulent",
  );
  const taken = ["--amount", "1", "--currency", "eur", "--payment", payment, "--reference", reference.toUpperCase()];
  expect((await runCli(["refunds", "create", ...taken], { env })).stderr).toContain(
    `To see the existing refund: service refunds get ${id}`,
  );
  const { exitCode, stderr } = await runCli(["refunds", "create", "--amount", "0"], { env });
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--amount: must be at least 1"),
  });
});
