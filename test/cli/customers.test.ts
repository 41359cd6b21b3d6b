import { describe, expect, it } from "vitest";
import type { Customer } from "../../src/webhooks/event-objects.ts";
import { json as respond, startServer } from "../client/support/scripted-server.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { CUSTOMER, listOf, TIME } from "../support/api-objects.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

let serial = 0;
const newEmail = (): string => `customer-${++serial}@example.com`;
const newCustomer = (): Promise<Customer> => json("customers", "create", "--email", newEmail());

describe("service customers create", () => {
  it("prints the API's own object with --json", async () => {
    const email = newEmail();
    const args = [
      "--email",
      email,
      "--name",
      "Ada Lovelace",
      "--phone",
      "+442071838750",
      "--metadata",
      "plan=pro",
      "--metadata",
      "a=b=c",
    ];
    expect(await json("customers", "create", ...args)).toEqual({
      id: expect.stringMatching(/^cus_[0-9A-Za-z]{22}$/),
      object: "customer",
      email,
      name: "Ada Lovelace",
      phone: "+442071838750",
      metadata: { plan: "pro", a: "b=c" },
      livemode: false,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
  });

  it("prints one line per field in a pipe, and nothing on stderr", async () => {
    const email = newEmail();
    const { exitCode, stdout, stderr } = await service(["customers", "create", "--email", email]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual([
      "id",
      "email",
      "name",
      "phone",
      "metadata",
      "environment",
      "created",
      "",
    ]);
    expect(stdout).toContain(`\nemail\t${email}\n`);
  });

  it("prints only the ID with --quiet", async () => {
    const { stdout } = await service(["customers", "create", "--email", newEmail(), "-q"]);
    expect(stdout).toMatch(/^cus_[0-9A-Za-z]{22}\n$/);
  });

  it("creates only one customer per idempotency key", async () => {
    const args = ["customers", "create", "--email", newEmail(), "--idempotency-key", "once", "--json"];
    const first = await service(args);
    expect(first.exitCode).toBe(0);
    expect(await service(args)).toEqual(first);
  });

  it("shows which customer has the email address", async () => {
    const { id, email } = await newCustomer();
    const { exitCode, stdout, stderr } = await service(["customers", "create", "--email", email.toUpperCase()]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^Error: /);
    expect(stderr).toMatch(/ {2}409 email_taken, request req_/);
    expect(stderr).toMatch(new RegExp(`To see the existing customer: service customers get ${id}\\n$`));
  });

  it("prints the platform's problem details with --json", async () => {
    const { exitCode, stdout, stderr } = await service([
      "customers",
      "create",
      "--email",
      "no..body@example.com",
      "--json",
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      status: 400,
      code: "invalid_request",
      request_id: expect.stringMatching(/^req_/),
      errors: [{ pointer: "/email" }],
    });
  });

  it("accepts an empty metadata value, and preserves every character of other values", async () => {
    const metadata = { empty: "", text: 'Zoë 🎉 "quoted"\n' };
    const pairs = Object.entries(metadata).flatMap(([key, value]) => ["--metadata", `${key}=${value}`]);
    expect(await json("customers", "create", "--email", newEmail(), ...pairs)).toMatchObject({
      metadata,
    });
  });
});

describe("service customers get, update, delete", () => {
  it("retrieves a customer", async () => {
    const customer = await newCustomer();
    expect(await json("customers", "get", customer.id)).toEqual(customer);
  });

  it("changes only the given fields", async () => {
    const { id, email } = await newCustomer();
    await json("customers", "update", id, "--name", "Ada", "--metadata", "plan=pro", "--metadata", "trial=yes");
    expect(await json("customers", "update", id, "--name", "", "--metadata", "trial=")).toMatchObject({
      id,
      email,
      name: null,
      metadata: { plan: "pro" },
    });
  });

  it("rejects an update without changes", async () => {
    const { id } = await newCustomer();
    expect(await service(["customers", "update", id])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("No changes specified"),
    });
  });

  it("deletes without a prompt in the sandbox", async () => {
    const { id } = await newCustomer();
    expect(await json("customers", "delete", id)).toEqual({ id, object: "customer", deleted: true });
    const { exitCode, stdout, stderr } = await service(["customers", "get", id]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
    expect(stderr).toContain("404 not_found");
    expect(stderr).toMatch(
      /^Error: The customer \w+ was deleted from the sandbox at \S+Z\n(.*\n)+.*: service logs get req_\w+\n$/,
    );
  });

  it("requires --yes for a deletion in live mode without a terminal", async () => {
    const live = { env: { SERVICE_API_KEY: cli.platform.liveKey } };
    const { stdout } = await service(["customers", "create", "--email", newEmail(), "--live", "-q"], live);
    const id = stdout.trim();
    expect(await service(["customers", "delete", id, "--live"], live)).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringContaining("--yes is required"),
    });
    expect(await service(["customers", "delete", id, "--live", "--yes", "-q"], live)).toMatchObject({
      exitCode: 0,
      stdout: `${id}\n`,
    });
  });

  it("requires --yes for service api in live mode, too", async () => {
    const live = { env: { SERVICE_API_KEY: cli.platform.liveKey } };
    expect(await service(["api", "DELETE", "/v1/customers/cus_x", "--live"], live)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--yes is required"),
    });
  });
});

describe("service customers list", () => {
  it("lists newest first, over several pages", async () => {
    const created: string[] = [];
    for (let i = 0; i < 3; i++) created.push((await newCustomer()).id);
    const all = await json<Customer[]>("customers", "list", "--all");
    expect(all.slice(0, 3).map(({ id }) => id)).toEqual(created.toReversed());
    expect(await json<Customer[]>("customers", "list", "--limit", "2")).toEqual(all.slice(0, 2));
  });

  it("filters by address and by time", async () => {
    const customer = await newCustomer();
    expect(await json("customers", "list", "--email", customer.email.toUpperCase())).toEqual([customer]);
    expect(await json("customers", "list", "--created-after", "2999-01-01")).toEqual([]);
    expect(await json<Customer[]>("customers", "list", "--created-after", "1h")).toContainEqual(customer);
    expect(await json("customers", "list", "--created-before", "1h")).toEqual([]);
  });

  it("prints tab-separated lines without a header in a pipe", async () => {
    const { id, email, created } = await newCustomer();
    const { stdout, stderr } = await service(["customers", "list", "--email", email]);
    expect({ stdout, stderr }).toEqual({ stdout: `${id}\t${email}\t\t${created}\n`, stderr: "" });
  });

  it("prints nothing and exits with 0 for an empty list", async () => {
    const args = ["customers", "list", "--email", "nobody@example.com"];
    expect(await service(args)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await service([...args, "--json"])).toEqual({ exitCode: 0, stdout: "[]\n", stderr: "" });
  });

  it("keeps control characters of stored text out of the terminal", async () => {
    const name = "a\u001b[31mred\ttab\nline\u202ereversed\u009b";
    const list = listOf({ ...CUSTOMER, name });
    const server = await startServer(respond(200, list));
    const { stdout } = await service(["customers", "list"], { env: { SERVICE_BASE_URL: server.url } });
    expect(stdout).toBe(
      String.raw`cus_1	a@example.com	a\u001b[31mred\ttab\nline\u202ereversed\u009b	${TIME}` + "\n",
    );
    const json = await service(["customers", "list", "--json"], { env: { SERVICE_BASE_URL: server.url } });
    expect(json.stdout).not.toMatch(/[\u0080-\u009f\u202e]/);
    expect(JSON.parse(json.stdout)).toEqual(list.data);
  });
});
