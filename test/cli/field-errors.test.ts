import { describe, expect, it } from "vitest";
import { cliOnPlatform } from "../support/cli-on-platform.ts";

const cli = cliOnPlatform();

const failure = async (...args: string[]): Promise<string[]> => {
  const { exitCode, stderr } = await cli.service(args);
  expect(exitCode).toBe(2);
  return stderr.split("\n");
};

describe("an error about a field", () => {
  it.each([
    [
      ["endpoints", "create", "--url", "https://user:word@example.com/hooks", "--events", "order.*"],
      /^Error: --url: must /,
    ],
    [["keys", "create", "--scope", "orders:read", "--ip-allow", "nowhere"], /^Error: --ip-allow: must be an address/],
    [["customers", "list", "--since", "1h", "--until", "2h"], /^Error: --since: must be before --until/],
    [["customers", "create", "--email", "ada..@example.com"], /^Error: --email: must be an email address/],
    [
      ["sandbox", "save", "two customers"],
      /^Error: name: must be a name of 1 to 64 letters, digits, dots, hyphens and underscores/,
    ],
    [["api", "POST", "/v1/customers", "-f", "email=ada"], /^Error: email: must be an email address/],
  ])("names the flag that was typed: %j", async (args, expected) => {
    expect((await failure(...args))[0]).toMatch(expected);
  });

  it("is listed once, with all others", async () => {
    const lines = await failure("orders", "create", "--amount", "1", "--currency", "XXX", "--customer", "cus_1");
    expect(lines.filter((line) => /--customer: /.test(line))).toHaveLength(1);
    expect(lines.filter((line) => /--currency: /.test(line))).toHaveLength(1);
    expect(lines.join("\n")).not.toContain("more error");
  });

  it("is the API's error with --json", async () => {
    const { stderr } = await cli.service(["customers", "create", "--email", "ada..@example.com", "--json"]);
    expect(JSON.parse(stderr)).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/email" }] });
  });
});
