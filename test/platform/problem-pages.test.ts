import { expect, it } from "vitest";
import { ERRORS, type ErrorCode } from "../../src/contract/errors.ts";
import { apiOf } from "../support/api.ts";
import { kitPlatform } from "../testing/kit.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];

const platform = kitPlatform();

const open = (path: string) => fetch(new URL(path, platform.baseUrl));

it.each(CODES)("%s has a page with its meaning, cause, fix and an example", async (code) => {
  const response = await open(`/problems/${code}`);
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  for (const part of [ERRORS[code].title, "Why it happens", "What to do", "application/problem+json"]) {
    expect(text).toContain(part);
  }
  const [, shown = ""] = /<pre[^>]*><code>(.*?)<\/code>/s.exec(text)!;
  const example = shown.replaceAll(/<[^>]*>/g, "").replaceAll(/&#(\d+);/g, (_, n) => String.fromCharCode(n));
  expect(JSON.parse(example.slice(example.indexOf("{")))).toMatchObject({
    type: `${platform.baseUrl}/problems/${code}`,
    status: ERRORS[code].status,
    code,
    detail: expect.stringMatching(/\S/),
  });
});

it("an error response links to its page", async () => {
  const rejection = await apiOf(platform.baseUrl, undefined)("GET", "/v1/customers");
  const page = await fetch(rejection.body.type);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain(rejection.body.title);
});

it("/problems leads to the list of every error code", async () => {
  const response = await open("/problems");
  expect(new URL(response.url).pathname).toBe("/docs/guides/errors.html");
  const text = await response.text();
  for (const code of CODES) expect(text).toContain(`href="/problems/${code}"`);
});

it.each(["blocked_target", "signature_mismatch"])("the code %s leads to its row in the list", async (code) => {
  const { status, headers } = await fetch(`${platform.baseUrl}/problems/${code}`, { redirect: "manual" });
  expect([status, headers.get("location")]).toEqual([308, `/docs/guides/errors.html#${code}`]);
});

it("the page of an error code links to the guide that explains more", async () => {
  const [, guide] = /<a href="([^"]+)">Reverse proxies</.exec(await (await open("/problems/upgrade_required")).text())!;
  expect((await open(guide!)).status).toBe(200);
});

it("the pages of error codes lead from one to the next, and have a description for search engines", async () => {
  const visited = [];
  for (let next: string | undefined = "/problems/invalid_request"; next !== undefined;) {
    const text = await (await open(next)).text();
    expect(text).toMatch(/<meta name="description" content="[^"`[]{20,}"/);
    visited.push(next);
    next = /rel="next" href="([^"]+)"/.exec(text)?.[1];
  }
  expect(visited.toSorted()).toEqual(CODES.map((code) => `/problems/${code}`).sort());
});

it("the page of an unknown error code is a 404 that does not repeat the code", async () => {
  for (const name of ["nonsense", "toString", "__proto__", "%3Cscript%3E"]) {
    const response = await open(`/problems/${name}`);
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain(decodeURIComponent(name));
  }
});

it("the page of an error code allows no inline content and no other origins", async () => {
  const policy = (await open("/problems/not_found")).headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});
