import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { requestSignInLink } from "../../src/platform/admin.ts";
import { listenTo } from "../platform/delivery/support/listen-socket.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { type Api, apiOf } from "../support/api.ts";
import { it as inBrowser, startChromium } from "../support/chromium.ts";
import { runCli } from "../support/run-cli.ts";
import { type ServedPlatform, servePlatformOn } from "../support/platform.ts";

/**
 * Creates three events with a pending delivery each. The stored body of the second is overwritten while the platform is
 * stopped.
 */
const folder = mkdtempSync(join(tmpdir(), "service-damage-"));
const file = join(folder, "platform.db");
const WAIT = { timeout: 60_000, interval: 20 };
const MARKER = "the-text-that-is-overwritten";

let receiver: ScriptedReceiver;
let accepts = false;
let platform: ServedPlatform;
let key: string;
let api: Api;
const ids: Record<"before" | "damaged" | "after", string> = { before: "", damaged: "", after: "" };

beforeAll(async () => {
  receiver = await startScriptedReceiver((_request, response) => void response.writeHead(accepts ? 200 : 500).end());
  const first = await servePlatformOn(file, 0);
  key = first.sandboxKey;
  api = apiOf(first.baseUrl, key);
  const endpoint = await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  expect(endpoint.status).toBe(201);
  for (const name of ["before", "damaged", "after"] as const) {
    const note = name === "damaged" ? MARKER : name;
    const created = await api("POST", "/v1/events", { type: "order.completed", data: { note } });
    expect(created.status).toBe(201);
    ids[name] = created.body.id;
  }
  await vi.waitFor(async () => {
    expect((await deliveries()).map((delivery) => delivery.attempt_count)).toEqual([1, 1, 1]);
  }, WAIT);
  expect(await first.stop()).toBe(0);
  overwrite(MARKER);
  platform = await servePlatformOn(file, 0);
  api = apiOf(platform.baseUrl, key);
  receiver.received.length = 0;
  accepts = true;
});
afterAll(async () => {
  await platform.stop();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Replaces every occurrence of the text in the file by quotation marks, which breaks the surrounding JSON. */
function overwrite(text: string): void {
  const bytes = readFileSync(file);
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1), found++) bytes.fill('"', at, at + 4);
  expect(found).toBeGreaterThan(0);
  writeFileSync(file, bytes);
}

async function deliveries(): Promise<{ id: string; event: string; status: string; attempt_count: number }[]> {
  return (await api("GET", "/v1/deliveries")).body.data;
}

const problem = () => ({
  status: 500,
  body: { code: "event_damaged", detail: expect.stringContaining(`${ids.damaged} is damaged`) },
});

describe("an event whose stored body is damaged", () => {
  it("results in a logged 500 that contains its ID", async () => {
    expect(await api("GET", `/v1/events/${ids.damaged}`)).toMatchObject(problem());
    expect(await api("POST", `/v1/events/${ids.damaged}/replay`, {})).toMatchObject(problem());
    expect(platform.lines.join("\n")).toContain(`The stored event ${ids.damaged} is damaged`);
    expect(await api("GET", `/v1/events/${ids.before}`)).toMatchObject({ status: 200, body: { id: ids.before } });
  });

  it("is marked in lists, which continue after it", async () => {
    const shown = {
      id: ids.damaged,
      object: "event",
      type: "order.completed",
      created: expect.any(String),
      data: null,
      damaged: true,
    };
    for (const filter of ["", "&type=order.*", `&query=${ids.damaged}`]) {
      const { status, body } = await api("GET", `/v1/events?limit=100${filter}`);
      expect(status).toBe(200);
      expect(body.data.find(({ id }: { id: string }) => id === ids.damaged)).toEqual(shown);
    }
    const { body: first } = await api("GET", "/v1/events?limit=2");
    const { body: second } = await api("GET", `/v1/events?limit=2&cursor=${first.next_cursor}`);
    const listed = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
    expect(listed.slice(0, 3)).toEqual([ids.after, ids.damaged, ids.before]);
  });

  it("is marked by the CLI, which lists the others", async () => {
    const env = { SERVICE_BASE_URL: platform.baseUrl, SERVICE_API_KEY: key };
    const { stdout, exitCode } = await runCli(["events", "list"], { env });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`${ids.damaged}.*\\(damaged\\)`));
    expect(stdout).toContain(ids.before);
  });

  inBrowser("is marked in the dashboard, among the others", async () => {
    const browser = await startChromium();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto((await requestSignInLink(file)).sign_in_url);
    await page.goto(`${platform.baseUrl}/dashboard/sandbox/events`);
    const row = (id: string) => page.getByRole("row").filter({ has: page.locator(`a[href$="${id}"]`) });
    await row(ids.damaged).getByText("Damaged").waitFor();
    expect(await row(ids.before).getByText("Damaged").count()).toBe(0);
  });

  it("is a gap for a listener, which receives the events around it", async () => {
    const listener = await listenTo(platform.baseUrl, key, "?after=-600");
    await listener.until(2);
    const received = listener.frames.flatMap((frame) => {
      if (frame.frame === "events") return frame.events.map(({ id }) => id);
      return frame.frame === "gap" ? [`gap ${frame.from} ${frame.to}`] : [];
    });
    expect(received).toEqual([ids.before, `gap ${ids.damaged} ${ids.damaged}`, ids.after]);
    await listener.close();
  });

  it("is a gap in an event stream, which continues with the next event", async () => {
    const stop = new AbortController();
    const response = await fetch(`${platform.baseUrl}/v1/events/stream?after=-600`, {
      headers: { Authorization: `Bearer ${key}` },
      signal: stop.signal,
    });
    let text = "";
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk).toString("utf8");
      if (text.includes(ids.after)) break;
    }
    stop.abort();
    const received = [...text.matchAll(/^id: (\S+)\ndata|^event: gap\ndata: (.*)$/gm)].map(([, id, gap]) => id ?? gap);
    expect(received).toEqual([ids.before, JSON.stringify({ from: ids.damaged, to: ids.damaged }), ids.after]);
  });

  it("is not delivered, and its delivery fails with the reason", async () => {
    expect((await advanceClock(api, 120)).status).toBe(200);
    await receiver.until(2);
    const outcomes = Object.fromEntries((await deliveries()).map(({ event, status }) => [event, status]));
    expect(outcomes).toEqual({ [ids.before]: "succeeded", [ids.damaged]: "failed", [ids.after]: "succeeded" });
    expect(receiver.received.map(({ event }) => event).toSorted()).toEqual([ids.before, ids.after].toSorted());
    const failed = (await deliveries()).find(({ event }) => event === ids.damaged);
    const { body } = await api("GET", `/v1/deliveries/${failed?.id}`);
    expect(body.attempts.at(-1)).toMatchObject({ status_code: null, error: expect.stringMatching(/^event_damaged: /) });
    expect(await api("POST", `/v1/deliveries/${failed?.id}/retry`, {})).toMatchObject(problem());
    const env = { SERVICE_BASE_URL: platform.baseUrl, SERVICE_API_KEY: key };
    const { stdout } = await runCli(["why", failed!.id, "--json"], { env });
    const [finding] = JSON.parse(stdout).findings;
    expect(finding).toMatchObject({ code: "event_damaged", fix: "service db check" });
    expect(finding.summary).toContain("The stored event is damaged");
    const alone = await runCli(["why", ids.damaged], { env });
    expect(alone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`${ids.damaged} is damaged`) });
  });
});
