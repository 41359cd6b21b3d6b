import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { requestSignInLink } from "../../src/platform/admin.ts";
import { duration } from "../../src/dashboard/format.ts";
import { verify } from "../../src/webhooks/index.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { obtainTokens } from "../platform/oauth/support/authorization-server.ts";
import { Browser } from "../platform/oauth/support/browser.ts";
import { ourServer } from "../platform/oauth/support/our-server.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { apiOf } from "../support/api.ts";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

const partner = generateKeyPairSync("ec", { namedCurve: "P-256" });
let board: Board;
let receiver: ScriptedReceiver;

beforeAll(async () => {
  const leakKeys = join(mkdtempSync(join(tmpdir(), "service-leaks-")), "keys.json");
  const key = partner.publicKey.export({ type: "spki", format: "pem" });
  writeFileSync(leakKeys, JSON.stringify({ public_keys: [{ key_identifier: "first", key, is_current: true }] }));
  [board, receiver] = await Promise.all([openBoard({ leakKeys }), startScriptedReceiver()]);
  await board.page.getByText("Quick start").waitFor();
});
// A dialog that a failed test left open would make the next ones fail too.
beforeEach(() => board.restart());
afterAll(async () => {
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

/** Returns the secret that a dialog shows once, and closes the dialog. */
async function secretIn(dialog: Locator): Promise<string> {
  const secret = (await dialog.locator(".copy-line code").first().textContent())!;
  await dialog.getByRole("button", { name: "Done" }).click();
  return secret.replace("SERVICE_WEBHOOK_SECRET=", "");
}

/** Chooses an entry of the page's menu of further actions. */
async function more(name: string): Promise<void> {
  await board.page.getByRole("button", { name: "More", exact: true }).click();
  await board.page.getByRole("menuitem", { name }).click();
}

const rowOf = (text: string) => board.page.getByRole("row").filter({ hasText: text });

describe("endpoints", () => {
  it("are created, pinged, and rotated with an overlap that counts down while both secrets sign", async () => {
    const { page } = board;
    await board.menu("Endpoints");
    await page.getByRole("button", { name: "Create endpoint" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("URL").fill("ftp://nowhere");
    await form.getByRole("button", { name: "Create endpoint" }).click();
    await form.locator(".field-error").waitFor();
    await form.getByLabel("URL").fill(`${receiver.url}/hook`);
    await form.getByLabel("Selected events").check();
    await form.getByLabel("customer.created").check();
    await form.getByRole("button", { name: "Create endpoint" }).click();
    const old = await secretIn(page.getByRole("dialog", { name: "signing secret" }));

    const ping = async () => {
      await page.getByRole("button", { name: "Send test event" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
      await page.locator(".toast", { hasText: "/hook: 200" }).last().waitFor();
    };
    await ping();
    await receiver.until(1, "/hook");
    await page.getByRole("region", { name: "Deliveries to this endpoint" }).getByText("delivered").waitFor();

    await more("Rotate secret");
    await page.getByLabel("Overlap").selectOption("1 hour");
    await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
    const fresh = await secretIn(page.getByRole("dialog", { name: "The new signing secret" }));
    await expect.poll(() => page.locator(".countdown").textContent()).toMatch(/^59 min \d+ s$/);
    await ping();
    await receiver.until(2, "/hook");
    const { body, headers } = receiver.at("/hook")[1]!;
    for (const secrets of [old, fresh]) {
      expect(verify({ payload: body, header: headers["service-signature"], secrets }).type).toBe(
        "webhook_endpoint.ping",
      );
    }
  });

  it("have a menu of more actions that works with the keyboard, and closes on Escape or a click outside", async () => {
    const { page, api } = board;
    const target = { url: `${receiver.url}/menu`, events: ["order.*"] };
    const { id } = (await api("POST", "/v1/webhook_endpoints", target)).body;
    await board.show(`sandbox/endpoints/${id}`);
    const button = page.getByRole("button", { name: "More", exact: true });
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await button.press("Enter");
    await expect.poll(focused).toBe("Edit");
    await page.keyboard.press("ArrowUp");
    expect(await focused()).toBe("Delete");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("Edit");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("menu").count()).toBe(0);
    expect(await focused()).toBe("More");
    expect(await button.getAttribute("aria-expanded")).toBe("false");
    await button.click();
    await page.getByRole("heading", { level: 1 }).click();
    await expect.poll(() => page.getByRole("menu").count()).toBe(0);
    await button.press("Enter");
    await expect.poll(focused).toBe("Edit");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("More");
  });

  it("wait while they are disabled, and are deleted after a confirmation", async () => {
    const { page, api } = board;
    const { id } = (await api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/idle`, events: ["order.*"] }))
      .body;
    await board.show(`sandbox/endpoints/${id}`);
    await more("Disable");
    const confirmation = page.getByRole("dialog", { name: "Disable this endpoint?" });
    await confirmation.press("Escape");
    await expect.poll(() => confirmation.count()).toBe(0);
    expect((await api("GET", `/v1/webhook_endpoints/${id}`)).body.status).toBe("enabled");
    await more("Disable");
    await confirmation.getByRole("button", { name: "Disable endpoint" }).click();
    await page
      .locator(".answer")
      .getByText(/was disabled by owner@localhost at/)
      .waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send test event" }).count()).toBe(0);
    await more("Enable without replay");
    await page.getByRole("button", { name: "Send test event" }).waitFor();
    await page.getByText("none in this time").waitFor();

    await more("Delete");
    await page.getByRole("dialog").press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect((await api("GET", `/v1/webhook_endpoints/${id}`)).status).toBe(200);
    await more("Delete");
    await page.getByRole("button", { name: "Delete endpoint" }).click();
    await page.getByText(`Deleted ${id}`).waitFor();
    expect((await api("GET", `/v1/webhook_endpoints/${id}`)).status).toBe(404);
  });
});

describe("API keys", () => {
  it("can have exactly the scopes that operations require", async () => {
    const { page, platform } = board;
    const openapi = await (await fetch(`${platform.baseUrl}/openapi.json`)).text();
    const required = [...openapi.matchAll(/Requires the scope `([a-z_:]+)`/g)].map(([, scope]) => scope!);
    await board.menu("API keys");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByLabel("Permissions").selectOption("chosen");
    const boxes = page.getByRole("table", { name: "Scopes" }).getByRole("checkbox");
    const offered = await boxes.evaluateAll((all) => all.map((box) => box.getAttribute("aria-label")));
    expect(new Set(offered)).toEqual(new Set([...required, "listen:read"]));
  });

  it("are created with scopes from a table, a range and an expiry, shown once, edited, rolled and revoked", async () => {
    const { page, platform } = board;
    await board.menu("API keys");
    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog");
    await form.getByRole("button", { name: "Create key" }).click();
    await form.getByText("Enter a name").waitFor();
    await form.getByText("Choose at least one scope.").waitFor();
    await form.getByLabel("Name").fill("Importer");
    await form.getByLabel("customers:read").check();
    await form.getByLabel("IP allowlist").fill("127.0.0.0/8");
    await form.getByLabel("Expires").fill("2099-01-01T00:00");
    await form.getByRole("button", { name: "Create key" }).click();
    const first = await secretIn(page.getByRole("dialog", { name: "The new API key" }));
    expect(first).toMatch(/^rk_sandbox_/);
    expect(await page.content()).not.toContain(first);
    const status = async (key: string, path = "/v1/customers") =>
      (await apiOf(platform.baseUrl, key)("GET", path)).status;
    expect(await status(first)).toBe(200);
    expect(await status(first, "/v1/orders")).toBe(403);

    await page.getByRole("link", { name: "Importer" }).click();
    await page.getByRole("region", { name: "API requests of this key" }).getByText("/v1/orders").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    const expiry = await form.getByLabel("Expires").inputValue();
    expect(expiry).toBe("2099-01-01T00:00");
    await form.getByLabel("Name").fill("Importer of orders");
    await form.getByLabel("orders:read").check();
    await form.getByRole("button", { name: "Save" }).click();
    await page.locator(".facts").getByText("customers:read, orders:read", { exact: true }).waitFor();
    expect(await status(first, "/v1/orders")).toBe(200);
    await page.getByRole("link", { name: "API keys" }).first().click();

    await rowOf("Importer").getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("button", { name: "Rotate key" }).click();
    const second = await secretIn(page.getByRole("dialog", { name: "The new API key" }));
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    const active = rowOf("Importer").filter({ hasText: "active" });
    await active.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await expect.poll(() => active.count()).toBe(0);
    expect(await status(second)).toBe(401);
  });

  it("show whether and where they were found in public", async () => {
    const { page, platform, api } = board;
    const { key } = (await api("POST", "/v1/api_keys", { name: "Spilled" })).body;
    const url = "https://code.example/repo/.env#L3";
    const body = JSON.stringify([{ token: key, type: "service_api_key", url, source: "content" }]);
    await apiOf(platform.baseUrl, undefined)("POST", "/v1/leaked_keys/report", body, {
      "Github-Public-Key-Identifier": "first",
      "Github-Public-Key-Signature": sign("sha256", Buffer.from(body), partner.privateKey).toString("base64"),
    });
    await board.menu("API keys");
    await page.getByRole("heading", { name: "Found in public" }).waitFor();
    await page.getByText(`found at ${url}`).waitFor();
    await rowOf("Spilled").getByText("leaked").waitFor();
  });
});

describe("OAuth apps", () => {
  it("are created, edited, rotated and deleted", async () => {
    const { page, api } = board;
    await board.menu("OAuth apps");
    await page.getByRole("button", { name: "Register app" }).click();
    await page.getByLabel("Name").fill("Books");
    await page.getByLabel("Redirect URIs").fill("https://books.example/callback");
    await page.getByRole("dialog").getByRole("button", { name: "Register app" }).click();
    const first = await secretIn(page.getByRole("dialog", { name: "The client secret of Books" }));
    await rowOf("Books").getByRole("link", { name: "Books" }).click();
    await page.getByText("https://books.example/callback", { exact: true }).waitFor();
    await page.getByText(`${board.platform.baseUrl}/oauth/token`).waitFor();
    await page.getByRole("button", { name: "Rotate secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
    const second = await secretIn(page.getByRole("dialog", { name: "The client secret of Books" }));
    expect([first, second]).toEqual([expect.stringMatching(/^cs_/), expect.stringMatching(/^cs_/)]);
    expect(second).not.toBe(first);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Name").fill("Ledgers");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Ledgers" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete app" }).click();
    await page.getByRole("heading", { name: "OAuth apps" }).waitFor();
    await expect.poll(() => rowOf("Ledgers").count()).toBe(0);
    const { data } = (await api("GET", "/v1/oauth_apps")).body;
    expect(data.map(({ name }: { name: string }) => name)).not.toContain("Ledgers");
  });
});

it("the browser does not interpret text as markup or script", async () => {
  const outcomes = await board.page.evaluate(`(() => {
    const tried = (sink) => { try { sink(); return "ran"; } catch (error) { return error.name; } };
    return [
      tried(() => { document.createElement("div").innerHTML = "<b>x</b>"; }),
      tried(() => { document.createElement("script").text = "1"; }),
      tried(() => { document.createElement("script").src = "/x.js"; }),
      tried(() => trustedTypes.createPolicy("mine", {})),
    ];
  })()`);
  expect(outcomes).toEqual(["TypeError", "TypeError", "TypeError", "TypeError"]);
  // Removes only errors of this kind. Others fail the test at the end of the file.
  const isExpected = (complaint: string) => complaint.includes("Trusted");
  await expect.poll(() => board.complaints.filter(isExpected).length).toBe(4);
  board.complaints.splice(0, Infinity, ...board.complaints.filter((complaint) => !isExpected(complaint)));
});

describe("the team, sessions and grants", () => {
  it("a user is invited, joins by the link, and is removed", async () => {
    const { page } = board;
    await board.menu("Team & access");
    await page.getByText("You have no password yet.").waitFor();
    await page.getByRole("button", { name: "Invite" }).click();
    await page.getByLabel("Email").fill("grace@example.com");
    await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
    const dialog = page.getByRole("dialog", { name: /^Invitation of / });
    const earlier = (await dialog.locator(".copy-line code").textContent())!;
    expect((await fetch(earlier)).status).toBe(200);
    await dialog.getByRole("button", { name: "Done" }).click();
    const invited = rowOf("grace@example.com");
    await invited.getByText("Invited").waitFor();
    await invited.getByText(/^Invitation expires in \d+ (d|h)|^Invitation expires \d/).waitFor();
    await invited.getByRole("button", { name: "New link" }).click();
    const link = (await dialog.locator(".copy-line code").textContent())!;
    await dialog.getByRole("button", { name: "Done" }).click();
    expect((await fetch(earlier)).status).toBe(410);
    const grace = new Browser(board.platform.baseUrl);
    await grace.submit(await grace.get(link), { password: "correct horse battery" });
    const cookie = [...grace.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { Cookie: cookie, "Service-Environment": "sandbox", Origin: board.platform.baseUrl };
    const key = await apiOf(board.platform.baseUrl, undefined)("POST", "/v1/api_keys", { name: "Left" }, headers);
    expect(key.status).toBe(201);
    await board.menu("Overview");
    await board.menu("Team & access");
    await rowOf("grace@example.com").getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    const left = page.getByRole("dialog", { name: "API keys that still work" });
    await left.getByText(key.body.id).waitFor();
    await expect.poll(() => rowOf("grace@example.com").count()).toBe(0);
    await left.getByRole("link", { name: "Sandbox keys" }).click();
    await page.getByRole("row").filter({ hasText: key.body.last4 }).getByText("active").waitFor();
    expect((await fetch(link)).status).toBe(410);
  });

  it("another browser is signed out, and shows it immediately", async () => {
    const { page } = board;
    const elsewhere = await board.signInElsewhere();
    const [other] = elsewhere.pages();
    await other!.getByRole("heading", { name: "Overview" }).waitFor();
    await board.menu("Overview");
    await board.menu("Team & access");
    const sessions = page.getByRole("region", { name: "Your sessions" });
    // The newest entry.
    await sessions.getByRole("button", { name: "Sign out" }).first().click();
    await other!.getByText("You are signed out").waitFor();
    await elsewhere.close();
  });

  it("an app's access is revoked", async () => {
    const { page, platform } = board;
    const { sign_in_url: signInUrl } = await requestSignInLink(platform.database);
    const server = await ourServer({ ...platform, signInUrl });
    const { access_token: token } = await obtainTokens(server, "public");
    await board.menu("Overview");
    await board.menu("Team & access");
    await rowOf("Service CLI").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke access" }).click();
    await page.getByText("No authorized apps").waitFor();
    expect(await server.works(token)).toBe(false);
  });
});

describe("request log and test clock", () => {
  it("finds a call by method and status", async () => {
    const { page, api } = board;
    await api("POST", "/v1/customers", { email: "twice@example.com" });
    await api("POST", "/v1/customers", { email: "twice@example.com" });
    await board.menu("Request log");
    await page.getByLabel("Method").selectOption("POST");
    await page.getByLabel("Status").fill("4xx");
    await rowOf("email_taken").waitFor();
    await page.getByLabel("Status").fill("409");
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await rowOf("email_taken").getByRole("link", { name: "POST /v1/customers" }).press("Enter");
    await page.getByText('"email": "twice@example.com"').waitFor();
    await page.getByText('"code": "email_taken"').waitFor();
    await page.locator(".facts").getByText("127.0.0.1").waitFor();
    expect(await page.content()).not.toContain(board.platform.sandboxKey);
  });

  it("links a request to its event", async () => {
    const { page, api } = board;
    const created = await api("POST", "/v1/customers", { email: "cause@example.com" });
    const id = created.headers.get("request-id");
    // The log is written after the response.
    await expect.poll(async () => (await api("GET", `/v1/request_logs/${id}`)).status).toBe(200);
    await board.show(`sandbox/logs/${id}`);
    await page.getByText("POST /v1/customers succeeded with 201.").waitFor();
    await page.locator(".facts").getByRole("link", { name: /^evt_/ }).click();
    await page.getByRole("heading", { name: "customer.created" }).waitFor();
    await board.show("sandbox/logs/req_0000000000000000000000");
    await page.getByText("Request not found").waitFor();
  });

  it("an advance runs three days of retries immediately", async () => {
    const { page, api } = board;
    await api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:1/closed", events: ["*"] });
    await api("POST", "/v1/customers", { email: "late@example.com" });
    const { offset_seconds: before } = (await api("GET", "/v1/test_clock")).body;
    await board.menu("Sandbox tools");
    await page.getByRole("button", { name: "+ 3 days" }).click();
    const dialog = page.getByRole("dialog", { name: "Advance the clock by 3 days?" });
    await dialog.getByText(/^\d+ deliver(y comes|ies come) due by then/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect((await api("GET", "/v1/test_clock")).body.offset_seconds).toBe(before);
    await page.getByRole("button", { name: "+ 3 days" }).click();
    await dialog.getByRole("button", { name: "Advance 3 days" }).click();
    await page.getByText(/^\d+ attempts during the advance: 0 succeeded, \d+ failed\.$/).waitFor();
    const ahead = duration(before + 3 * 86_400);
    await page.getByText(`${ahead} ahead of real time`).waitFor();
    await page.locator(".bar").getByText(`${ahead} ahead`).waitFor();
    await page.getByLabel("By", { exact: true }).fill("2");
    await page.getByLabel("Unit").selectOption("hours");
    await page.getByRole("button", { name: "Advance", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Advance 2 hours" }).click();
    await page.getByText(`${duration(before + 3 * 86_400 + 7_200)} ahead of real time`).waitFor();
    await board.menu("Request log");
    await page.getByText("Request times are real times, which the test clock does not affect.").waitFor();
    await board.menu("Deliveries");
    await page.getByLabel("Status").selectOption("failed");
    await page.getByRole("link", { name: "customer.created" }).first().press("Enter");
    await page.getByText("Failed; no more retries").waitFor();
    // Attempts with the same outcome are one entry.
    const attempt = page.locator(".timeline > li").filter({ hasText: "refused" });
    await attempt.getByText(/^Attempts 1 to \d+$/).waitFor();
    await expect.poll(() => attempt.count()).toBe(1);
  });

  it("a signing secret of more than 90 days is highlighted", async () => {
    const { page, api } = board;
    await api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:1/aging", events: ["order.*"] });
    await board.menu("Endpoints");
    await page.getByRole("link", { name: "/aging" }).waitFor();
    await expect.poll(() => page.getByText("older than 90 days").count()).toBe(0);
    await advanceClock(api, 90 * 86_400);
    await page.getByText(/signing secrets? (is|are) older than 90 days/).waitFor();
    await page.getByRole("link", { name: "/aging" }).press("Enter");
    await page.getByText("The signing secret is older than 90 days.").waitFor();
  });
});

it("signing out ends the session", async () => {
  const { platform } = board;
  const context = await board.signInElsewhere();
  const [page] = context.pages() as [Page];
  await page.locator("#menu").getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${platform.baseUrl}/sign-in`);
  await page.goto(`${platform.baseUrl}/dashboard/sandbox/keys`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
});
