import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { runCli } from "../support/run-cli.ts";
import { servePlatform } from "../support/platform.ts";

const on = apiOnPlatform();

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(on.platform.baseUrl + path, { headers, redirect: "manual" });

describe("the well-known addresses", () => {
  it("lead browsers from / to the dashboard, and programs to an index whose links all work", async () => {
    const browser = await get("/", { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect([browser.status, browser.headers.get("location")]).toEqual([303, "/dashboard"]);
    for (const accept of ["*/*", "application/json"]) {
      const index = await get("/", { Accept: accept });
      expect([index.status, index.headers.get("vary")]).toEqual([200, "Accept"]);
      const { links } = (await index.json()) as { links: Record<string, string> };
      expect(Object.keys(links)).toEqual(["api_reference", "openapi", "errors", "dashboard", "oauth_metadata"]);
      for (const link of Object.values(links)) expect((await fetch(link)).status, link).toBe(200);
    }
  });

  it("include an icon", async () => {
    const icon = await get("/favicon.ico");
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    expect(await icon.text()).toMatch(/^<svg /);
  });

  it("include a valid llms.txt: a title, a summary, and sections of links that all work", async () => {
    const reply = await get("/llms.txt");
    expect(reply.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const text = await reply.text();
    expect(text).toMatch(/^# .+\n\n> .+\n/);
    const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, link]) => link!);
    const own = links.filter((link) => link.startsWith(on.platform.baseUrl));
    expect(own).toContain(`${on.platform.baseUrl}/docs/guides/tutorial.md`);
    expect(own.length).toBeGreaterThan(25);
    for (const link of own) expect((await fetch(link)).status, link).toBe(200);
  });

  it("include no security.txt without a contact", async () => {
    const reply = await get("/.well-known/security.txt");
    expect([reply.status, reply.headers.get("content-type")]).toEqual([404, "application/problem+json; charset=utf-8"]);
  });

  it.each([
    ["mailto:security@shop.example", { email: "security@shop.example" }],
    ["https://shop.example/security", { url: "https://shop.example/security" }],
  ])("include the operator's contact %s", async (uri, described) => {
    const platform = await servePlatform(["--contact", uri]);
    try {
      const reply = await fetch(`${platform.baseUrl}/.well-known/security.txt`);
      expect(reply.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const lines = (await reply.text()).trimEnd().split("\n");
      const fields = Object.fromEntries(lines.map((line) => line.split(/: (.*)/)));
      expect(fields).toMatchObject({
        Contact: uri,
        Canonical: `${platform.baseUrl}/.well-known/security.txt`,
      });
      const days = (Date.parse(fields["Expires"]) - Date.now()) / 86_400_000;
      expect(days).toBeGreaterThan(100);
      expect(days).toBeLessThan(365);
      const { info } = (await (await fetch(`${platform.baseUrl}/openapi.json`)).json()) as { info: object };
      expect(info).toMatchObject({ contact: described });
    } finally {
      await platform.stop();
    }
  });

  it.each(["security@shop.example", "http://shop.example", "mailto:", "javascript:alert(1)", "https://a b"])(
    "reject the contact %j",
    async (contact) => {
      const { exitCode, stderr } = await runCli(["serve", "--ephemeral", "--port", "0", "--contact", contact]);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("--contact must be a mailto: or https: URI");
    },
  );
});
