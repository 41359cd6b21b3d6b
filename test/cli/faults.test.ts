import { beforeEach, describe, expect, it } from "vitest";
import type { Fault } from "../../src/contract/schemas/fault.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";

const cli = cliOnPlatform();
const { json, service } = cli;
beforeEach(async () => {
  expect((await service(["faults", "clear"])).exitCode).toBe(0);
});

const add = (...args: string[]): Promise<Fault> => json("faults", "add", ...args);

describe("service faults", () => {
  it("adds faults of each effect, lists and removes them", async () => {
    const first = await add("POST /v1/orders*", "--status", "503", "--times", "5", "--rate", "0.2");
    expect(first).toMatchObject({
      match: { method: "POST", path: "/v1/orders*" },
      effect: "status",
      status: 503,
      rate: 0.2,
      times: 5,
    });
    expect(await add("/v1/customers/{id}", "--delay", "2s")).toMatchObject({
      match: { method: null },
      effect: "delay",
      delay_ms: 2000,
    });
    expect(await add("get /v1/orders", "--disconnect")).toMatchObject({
      match: { method: "GET" },
      effect: "disconnect",
    });
    expect(await add("POST /v1/payments", "--lose-response")).toMatchObject({ effect: "lose_response" });
    expect(await add("GET /v1/payments", "--truncate")).toMatchObject({ effect: "truncate" });
    const listed = await service(["faults", "list"]);
    expect(listed.stdout.split("\n")[0]).toMatch(/^flt_\w+\tPOST \/v1\/orders\*\tstatus 503\t0\.2\t0 of 5\t/);
    expect(listed.stdout).toContain("\tPOST /v1/payments\tlose response\t1\t0\t");
    const remove = ["faults", "remove", first.id];
    expect((await service([...remove, "--dry-run"])).stdout).toMatch(`/v1/faults/${first.id}\n`);
    expect(await service(remove)).toMatchObject({ exitCode: 0, stdout: `id\t${first.id}\ndeleted\ttrue\n` });
    expect(await json("faults", "list")).toHaveLength(4);
    expect(await service(["faults", "clear", "--json"])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("flt_"),
    });
    expect(await json("faults", "list")).toEqual([]);
  });

  it("makes requests of the command fail, too", async () => {
    await add("GET /v1/customers", "--status", "500");
    const { exitCode, stderr } = await service(["customers", "list"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("The fault flt_");
  });

  it("says in a pipe that the command itself has retried", async () => {
    const { stderr } = await service(["faults", "add", "GET /v1/customers", "--status", "503", "--times", "1"]);
    expect(stderr).toContain("This CLI retries a failed request 3 times, which uses up the fault");
    const listed = await service(["customers", "list"]);
    expect(listed.exitCode).toBe(0);
    expect(listed.stderr).toMatch(/^Retried once: The fault flt_\w+ /m);
    await add("GET /v1/customers", "--status", "503", "--times", "1");
    expect((await service(["customers", "list", "-q"])).stderr).toBe("");
  });

  it("is named as the cause of a failed request by `service why` and `service logs get`", async () => {
    for (const flags of [["--status", "503"], ["--disconnect"]]) {
      await service(["faults", "clear"]);
      const { id, effect } = await add("POST /v1/orders", ...flags);
      const args = ["orders", "create", "--amount", "1", "--currency", "EUR"];
      expect((await service(args)).exitCode).not.toBe(0);
      const [log] = await json<{ id: string }[]>(
        "logs",
        "list",
        "--path",
        "/v1/orders",
        "--method",
        "POST",
        "--limit",
        "1",
      );
      const why = await service(["why", log!.id]);
      expect(why.stdout).toContain(`fault ${id}`);
      if (effect === "status") expect(why.stdout).toContain(`service faults remove ${id}`);
      expect((await service(["logs", "get", log!.id])).stdout).toContain(`fault\t${effect} ${id}`);
    }
  });

  it.each([
    [["POST /v1/orders"], 2, "No effect specified"],
    [["POST /v1/orders", "--status", "503", "--truncate"], 2, "A fault has one effect"],
    [["orders", "--status", "503"], 2, "must be a method and a path, such as 'POST /v1/orders*'"],
    [["/v1/orders", "--status", "503", "--rate", "1.5"], 2, "--rate: must be a number from 0 to 1"],
    [["/v1/orders", "--status", "404"], 2, '--status: "404" is not one of 429, 500, 502, 503'],
    [
      ["/v1/order", "--status", "503"],
      2,
      "request: matches no operation that can get a fault; did you mean /v1/orders?",
    ],
    [["PUT /v1/orders", "--status", "503"], 2, "must be one of GET, POST, PATCH, DELETE"],
    [["/v1/orders", "--status", "503", "--live"], 2, "Only the sandbox has faults"],
  ])("rejects %j", async (args, exitCode, message) => {
    expect(await service(["faults", "add", ...args])).toMatchObject({
      exitCode,
      stderr: expect.stringContaining(message),
    });
  });
});
