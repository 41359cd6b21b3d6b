import { beforeAll, beforeEach, expect, it } from "vitest";
import { post, proves } from "./support/authorization-server.ts";
import { Browser, type Visit } from "./support/browser.ts";
import { embeddedPlatform } from "./support/embedded-platform.ts";
import { type OurServer, ourServer } from "./support/our-server.ts";

const platform = embeddedPlatform();
let server: OurServer;

beforeAll(async () => {
  server = await ourServer(platform);
});
// Forget earlier guesses and authorization requests.
beforeEach(() => platform.advance(300_000));

interface Device {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
}

const begin = async (more: Record<string, string> = {}): Promise<Device> =>
  (await post(server.endpoints.device, { scope: "read_customers", ...proves(server, "public"), ...more })).body;

const poll = (device: Device) =>
  post(server.endpoints.token, {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: device.device_code,
    ...proves(server, "public"),
  });

const type = async (user_code: string, browser = server.browser): Promise<Visit> =>
  browser.trySubmit(await browser.get("/oauth/device"), { user_code });

it("the device page redirects to the sign-in page first", async () => {
  const visit = await new Browser(platform.baseUrl).get((await begin()).verification_uri_complete);
  expect(visit.text).toContain("<h1>Sign in</h1>");
});

it("the device page fills in the code of the complete URL, but still asks for confirmation", async () => {
  const device = await begin();
  const page = await server.browser.get(device.verification_uri_complete);
  expect(page.text).toContain(`value="${device.user_code}"`);
  expect((await poll(device)).body.error).toBe("authorization_pending");
});

it("the device page shows the code again for comparison", async () => {
  const device = await begin({ environment: "live" });
  const { text } = await type(device.user_code);
  expect(text).toMatch(new RegExp(`Your device shows</dt>\\s*<dd class="code">${device.user_code}</dd>`));
  expect(text).toContain("Service CLI");
  expect(text).toContain("Live");
});

it.each([
  ["lower case", (code: string) => code.toLowerCase()],
  ["spaces", (code: string) => ` ${code.slice(0, 2)} ${code.slice(2)} `],
  ["no dash", (code: string) => code.replace("-", "")],
])("the device page accepts a code with %s", async (_how, spell) => {
  expect((await type(spell((await begin()).user_code))).text).toContain("wants access to");
});

it("the device page delays even a valid code after 5 wrong codes within a minute", async () => {
  const device = await begin();
  for (const wrong of ["BCDF-GHJK", "", "AEIO-UAEI", "🎉", "BCDF-GHJKL"]) {
    expect((await type(wrong)).status).toBe(400);
  }
  const rejected = await type(device.user_code);
  expect(rejected.status).toBe(429);
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  const direct = await server.browser.trySubmit(rejected, { user_code: device.user_code, decision: "approve" });
  expect(direct.status).toBe(429);
  platform.advance(60_000);
  expect((await type(device.user_code)).status).toBe(200);
});

it("the device page does not approve a guess without a lookup within the limit", async () => {
  const visits: number[] = [];
  const page = await server.browser.get("/oauth/device");
  for (let guess = 0; guess < 7; guess++) {
    visits.push((await server.browser.trySubmit(page, { user_code: "BCDFGHJK", decision: "approve" })).status);
  }
  expect(visits).toEqual([400, 400, 400, 400, 400, 429, 429]);
});

it("a device code expires after 10 minutes, for the user and the device", async () => {
  const device = await begin();
  platform.advance(600_000);
  expect((await type(device.user_code)).status).toBe(400);
  expect((await poll(device)).body.error).toBe("expired_token");
});

it("each early poll lengthens the interval by 5 seconds", async () => {
  const device = await begin();
  const error = async () => (await poll(device)).body.error as string;
  expect(await error()).toBe("authorization_pending");
  platform.advance(5000);
  expect(await error()).toBe("authorization_pending");
  expect(await error()).toBe("slow_down");
  platform.advance(6000);
  expect(await error()).toBe("slow_down");
  platform.advance(15_000);
  expect(await error()).toBe("authorization_pending");
});

it("the device page rejects another site's form", async () => {
  const device = await begin();
  const forged = await server.browser.post("/oauth/device", {
    user_code: device.user_code,
    decision: "approve",
    csrf: "A".repeat(22),
  });
  expect(forged.status).toBe(403);
  expect((await poll(device)).body.error).toBe("authorization_pending");
});

it("the device page uses the requested environment", async () => {
  const device = await begin({ environment: "live" });
  await server.decideDevice(device.user_code, "approve");
  const { body } = await poll(device);
  const me = await fetch(`${platform.baseUrl}/v1/me`, { headers: { Authorization: `Bearer ${body.access_token}` } });
  expect(await me.json()).toMatchObject({ environment: "live", scopes: ["customers:read"] });
});

it("the number of new device sign-ins is limited", async () => {
  const responses = await Promise.all(
    Array.from({ length: 70 }, () =>
      post(server.endpoints.device, { scope: "read_customers", ...proves(server, "public") }),
    ),
  );
  const rejected = responses.filter(({ status }) => status === 429);
  expect(rejected.length).toBeGreaterThan(0);
  expect(rejected[0]!.headers.get("retry-after")).toMatch(/^\d+$/);
});
