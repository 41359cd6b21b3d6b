import { describe, expect, it } from "vitest";
import { kitPlatform } from "../testing/kit.ts";
import { runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";

const platform = kitPlatform();

const REDIRECT = "https://reports.example.com/oauth/callback";
const service = (...args: string[]) => runCli(args, { env: platform.env });

async function json(...args: string[]): Promise<Record<string, string>> {
  const { exitCode, stdout, stderr } = await service(...args, "--json");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, string>;
}

const create = (...flags: string[]) =>
  json("apps", "create", "--name", "Reports", "--redirect-uri", REDIRECT, ...flags);

/** Returns the token endpoint's error for a client with this proof. A wrong secret is `invalid_client`. */
async function errorFor({ client_id = "" }: Record<string, string>, secret: string | undefined): Promise<unknown> {
  const form = { grant_type: "authorization_code", code: "x", client_id, ...(secret && { client_secret: secret }) };
  const response = await fetch(`${platform.baseUrl}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
  return ((await response.json()) as { error: unknown }).error;
}

describe("service apps", () => {
  it("creates an app and shows its secret once", async () => {
    const app = await create();
    expect(app).toMatchObject({ object: "oauth_app", name: "Reports", redirect_uris: [REDIRECT], public: false });
    expect(await errorFor(app, app["client_secret"])).not.toBe("invalid_client");
    expect((await service("apps", "get", app["id"]!, "--json")).stdout).not.toContain(app["client_secret"]);
  });

  it("creates a public app without a secret", async () => {
    expect(await create("--public")).toMatchObject({ public: true, client_secret: null });
  });

  it("lists, updates and deletes apps", async () => {
    const { id } = await create();
    await json(
      "apps",
      "update",
      id!,
      "--name",
      "Monthly",
      "--redirect-uri",
      "https://a.example.com/cb",
      "--redirect-uri",
      "https://b.example.com/cb",
    );
    const { stdout } = await service("apps", "list");
    expect(stdout).toContain(`${id}\tMonthly\thttps://a.example.com/cb https://b.example.com/cb\t`);
    expect(await json("apps", "delete", id!)).toMatchObject({ deleted: true });
    expect((await service("apps", "get", id!)).exitCode).toBe(3);
  });

  it("rotates the secret and invalidates the old one immediately", async () => {
    const app = await create();
    const terminal = runInTerminal(["apps", "rotate-secret", app["id"]!], { env: platform.env });
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain("The client secret is shown only once: store it now.");
    const [fresh] = /cs_\w{49}/.exec(terminal.text())!;
    expect(await errorFor(app, app["client_secret"])).toBe("invalid_client");
    expect(await errorFor(app, fresh)).not.toBe("invalid_client");
  });

  it.each([
    [["create", "--redirect-uri", REDIRECT], "--name"],
    [["create", "--name", "Reports"], "--redirect-uri"],
    [["create", "--name", "Reports", "--redirect-uri", REDIRECT, "--quiet"], "--json --jq .client_secret"],
    [["update", "app_0000000000000000000000"], "No changes specified"],
  ])("rejects apps %j as a usage error", async (args, message) => {
    const { exitCode, stderr } = await service("apps", ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  it("explains why a redirect URI is invalid", async () => {
    const { exitCode, stderr } = await service(
      "apps",
      "create",
      "--name",
      "X",
      "--redirect-uri",
      "http://example.com/cb",
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--redirect-uri: must be https");
  });
});
