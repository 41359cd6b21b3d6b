import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Scheme, SCHEMES, sign, verify } from "../../src/webhooks/schemes.ts";
import { freePort } from "../support/free-port.ts";
import { BIN, createConfigDir } from "../support/run-cli.ts";
import { openScreen, type Screen, type ScreenOptions } from "../support/screen.ts";
import { type AnyReceiver, type ArrivedRequest, startAnyReceiver } from "./support/any-receiver.ts";
import { rowsOf, selectedRow, UP } from "./support/listen-screen.ts";

const SECRET = "stripe-secret";
const BODY = '{"id":"evt_1","type":"charge.succeeded","data":{"amount":12345678901234567890}}';

interface Capturing {
  screen: Screen;
  receiver: AnyReceiver;
  /** Sends a delivery with these headers; by default, one of Stripe that was signed a year ago. */
  post: (body: string, headers?: Record<string, string>) => Promise<void>;
}

const old = (body: string) => sign({ scheme: "stripe", payload: body, secrets: SECRET, timestamp: 1_000_000_000 });

async function captureTo(url: string, args: readonly string[] = [], options: ScreenOptions = {}) {
  const port = await freePort();
  const command = ["webhooks", "capture", "--port", String(port), "--forward-to", url, ...args];
  const screen = openScreen(process.execPath, [BIN, ...command], { columns: 120, ...options });
  await screen.shows("● Capturing");
  return { screen, port };
}

async function capture(args: readonly string[], options: ScreenOptions = {}): Promise<Capturing> {
  const receiver = await startAnyReceiver((response) => response.end("thanks"));
  const { screen, port } = await captureTo(receiver.url, args, options);
  return {
    screen,
    receiver,
    post: async (body, headers = old(body)) => {
      const url = `http://127.0.0.1:${port}/sent?to=here`;
      expect((await fetch(url, { method: "POST", body, headers: { "X-Custom": "Value", ...headers } })).status).toBe(
        200,
      );
    },
  };
}

/** An editor that replaces one text by another. */
function editorOf(text: string, replacement: string): Record<string, string> {
  const file = join(createConfigDir(), "editor.mjs");
  const change = `readFileSync(file, "utf8").replace(${JSON.stringify(text)}, ${JSON.stringify(replacement)}).replace(/\\n?$/, "\\n")`;
  writeFileSync(
    file,
    `import { readFileSync, writeFileSync } from "node:fs"; const file = process.argv[2]; writeFileSync(file, ${change});`,
  );
  return { EDITOR: `"${process.execPath}" "${file}"` };
}

const requestsIn = (receiver: AnyReceiver, count: number): Promise<readonly ArrivedRequest[]> =>
  expect
    .poll(() => receiver.requests.length)
    .toBe(count)
    .then(() => receiver.requests);

const timestampOf = (scheme: "stripe" | "github", { body, headers }: ArrivedRequest) =>
  verify({ scheme, payload: body, headers, secrets: SECRET, tolerance: 1e10 }).timestamp!;

describe("the screen of service webhooks capture", () => {
  const signed = ["--scheme", "stripe", "--secret", SECRET];

  it("lists deliveries, and shows headers and whether the signature is valid in the details", async () => {
    const { screen, post } = await capture(signed, { columns: 80, rows: 30 });
    await screen.shows(/Waiting for events[^]* webhooks send \d+ --scheme stripe --secret-file FILE/);
    await post(BODY, sign({ scheme: "stripe", payload: BODY, secrets: SECRET }));
    await screen.shows(/❯ [\d:]+ +200 +charge\.succeeded +[\d.]+ m?s +evt_1/);
    await post(BODY);
    await screen.shows("2 received  2 forwarded");
    expect(selectedRow(screen)).toContain("invalid signature");
    screen.type("\r");
    await screen.shows(/Signature invalid: the timestamp is \d+ s old/);
    await screen.shows(/Received [\d: ]+ at \/sent\?to=here/);
    await screen.shows("X-Custom: Value");
    await screen.shows('"amount": 12345678901234567890');
    screen.type("\u001b[D");
    await screen.shows("Signature valid");
  });

  it("offers no keys that need a platform, and explains this in the help", async () => {
    const { screen, post } = await capture([], { rows: 50 });
    await post(BODY);
    await screen.shows("1 forwarded");
    screen.type("to?");
    await screen.shows(/e +Edit the payload[^]*To keep all of them, pass --record/);
    await screen.shows("Resend, with the original signature");
    expect(screen.text()).not.toMatch(/fixture|dashboard/);
    screen.type("?/evt_2\r");
    await screen.shows("No event matches the filter.");
    screen.type("q");
    expect(await screen.ended).toBe(0);
    await screen.shows("Summary  1 received");
    expect(screen.isAlternate()).toBe(false);
    expect(screen.text()).not.toContain("Ready");
  });

  it("resends with the original signature, or with a fresh one if there is a secret", async () => {
    for (const [args, isFresh] of [
      [[], false],
      [signed, true],
    ] as const) {
      const { screen, receiver, post } = await capture(args);
      await post(BODY);
      await screen.shows("1 forwarded");
      screen.type("r");
      await screen.shows(/❯ .* 200 .* resent/);
      const [, again] = await requestsIn(receiver, 2);
      expect({ body: again!.body.toString(), custom: again!.headers["x-custom"] }).toEqual({
        body: BODY,
        custom: "Value",
      });
      expect(timestampOf("stripe", again!) > 1_000_000_000).toBe(isFresh);
    }
  });

  it.each([
    ["a forged", sign({ scheme: "stripe", payload: BODY, secrets: "another" })],
    ["no", {}],
  ])("resends a delivery with %s signature as it was received, with a message", async (_what, headers) => {
    const { screen, receiver, post } = await capture(signed);
    await post(BODY, headers);
    await screen.shows("1 forwarded");
    screen.type("r");
    await screen.shows("Resent evt_1 as it was received: its signature is not valid");
    const [first, again] = await requestsIn(receiver, 2);
    expect(again!.headers["stripe-signature"]).toBe(first!.headers["stripe-signature"]);
  });

  it("does not sign another provider's delivery like the platform's", async () => {
    const { screen, receiver, post } = await capture(["--secret", SECRET], { columns: 160 });
    await screen.shows("signatures of Service (for those of a provider, pass --scheme)");
    await post(BODY);
    await screen.shows("1 forwarded");
    expect(selectedRow(screen)).toContain("signature of Stripe");
    screen.type("\r");
    await screen.shows("this is a signature of Stripe, not of Service: pass --scheme stripe");
    screen.type("e");
    await screen.shows(/Cannot edit: Stripe signs this delivery[^]*--scheme stripe --secret-file FILE/);
    expect(receiver.requests).toHaveLength(1);
  });

  it("suggests --forward-to if there is nothing to resend to", async () => {
    const port = await freePort();
    const screen = openScreen(process.execPath, [BIN, "webhooks", "capture", "--port", String(port)], { columns: 120 });
    await screen.shows("● Capturing");
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: BODY });
    await screen.shows("1 received");
    screen.type("r");
    await screen.shows("Cannot resend: start again with --forward-to");
  });

  it("counts deliveries that still waited when it exited", async () => {
    const { screen, port } = await captureTo((await startAnyReceiver()).url);
    screen.type("p");
    await screen.shows("Paused");
    const waiting = fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: BODY }).catch(() => {});
    await screen.shows("1 received");
    screen.type("q");
    await waiting;
    expect(await screen.ended).toBe(0);
    await screen.shows("Summary  1 received, 0 forwarded, 0 failed, 1 not forwarded");
  });

  it("shows JSON tokens as they were sent, and notes the added indentation", async () => {
    const { screen, post } = await capture([], { rows: 40 });
    await post(String.raw`{"id":"evt_1","a":"caf\u00e9","a":"\/","n":1.10,"o":{},"l":[]}`, {});
    await screen.shows("1 forwarded");
    screen.type("\r");
    await screen.shows(
      /Request {2}JSON, indented[^]*"a": "caf\\u00e9",[^]*"a": "\\\/",[^]*"n": 1\.10,[^]*"o": \{\},[^]*"l": \[\]/,
    );
  });

  it("removes a message once the filter changes", async () => {
    const { screen, post } = await capture([]);
    await post(BODY);
    await screen.shows("1 forwarded");
    screen.type("r");
    await screen.shows("Resent 1: 200");
    screen.type("/charge\r");
    await screen.shows("filter: charge (1)");
    expect(screen.text()).not.toContain("Resent 1");
  });

  it("edits a payload, and resends it with the original headers and a fresh signature", async () => {
    const env = editorOf("12345678901234567890", "12345678901234567891");
    const { screen, receiver, post } = await capture(signed, { env });
    await post(BODY);
    await screen.shows("1 forwarded");
    screen.type("e");
    await screen.shows(/❯ .* 200 +charge\.succeeded .* edited and resent/);
    const [, edited] = await requestsIn(receiver, 2);
    expect(edited!.body.toString()).toBe(BODY.replace("12345678901234567890", "12345678901234567891"));
    expect(edited!.headers).toMatchObject({ "x-custom": "Value" });
    expect(timestampOf("stripe", edited!)).toBeGreaterThan(1_000_000_000);
  });

  it("opens the exact payload in the editor, and sends the saved bytes unchanged", async () => {
    const body = '{ "id":"evt_1",\r\n\t"type": "a.b", "pi": 3.10, "url":"https:\\/\\/example.com" }';
    const { screen, receiver, post } = await capture(signed, { env: editorOf("3.10", "3.140") });
    await post(body);
    await screen.shows("1 forwarded");
    screen.type("e");
    const [, edited] = await requestsIn(receiver, 2);
    expect(edited!.body.toString()).toBe(body.replace("3.10", "3.140"));
  });

  it("sends nothing if the payload is unchanged", async () => {
    for (const body of [BODY, `${BODY}\n`, "a=b"]) {
      const editor = body.endsWith("\n") ? { EDITOR: "true" } : editorOf("", "");
      const { screen, receiver, post } = await capture([], { env: editor });
      await post(body, {});
      await screen.shows("1 forwarded");
      screen.type("e");
      await screen.shows("Nothing was sent: the payload is unchanged");
      expect(receiver.requests).toHaveLength(1);
    }
  });

  it("shows a long type completely, and breaks details between words", async () => {
    const type = "customer.subscription.updated";
    for (const columns of [80, 120]) {
      const { screen, post } = await capture(signed, { columns });
      await post(JSON.stringify({ id: "evt_1", type }));
      await screen.shows(new RegExp(`200 +${type} +[\\d.]+ m?s `));
      screen.type("\r");
      if (columns === 80) await screen.shows(/tolerance 300 s: check *\n +the receiver's clock/);
    }
  });

  it("prints one period after a sentence of the response", async () => {
    let text = "Bad signature.";
    const receiver = await startAnyReceiver((response) => response.writeHead(400).end(text));
    const { screen, port } = await captureTo(receiver.url);
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: BODY });
    await screen.shows(/Bad signature\. The delivery has no signature of a known provider/);
    text = "Is it the raw body? \n If not";
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: BODY });
    await screen.shows(/Is it the raw body\? The delivery has no signature/);
  });

  it("explains why it cannot sign an edited payload without a secret, and edits unsigned payloads", async () => {
    const { screen, receiver, post } = await capture([], { env: editorOf("a=b", "a=c") });
    await post("a=b", {});
    await screen.shows("1 forwarded");
    await post("{}", sign({ scheme: "github", payload: "{}", secrets: SECRET, id: "d-1" }));
    await screen.shows("2 forwarded");
    screen.type("e");
    await screen.shows(/Cannot edit: GitHub signs this delivery[^]*--scheme github --secret-file FILE/);
    screen.type(`${UP}e`);
    await screen.shows(/❯ .* edited and resent/);
    const [, , edited] = await requestsIn(receiver, 3);
    expect(edited!.body.toString()).toBe("a=c");
    expect(rowsOf(screen)).toHaveLength(3);
  });

  it("reports the header whose ID cannot be signed again", async () => {
    const { screen, post } = await capture(["--scheme", "github", "--secret", SECRET]);
    const { header } = (SCHEMES.github as Scheme).id!;
    await post("{}", { ...sign({ scheme: "github", payload: "{}", secrets: SECRET, id: "x" }), [header!]: "a b" });
    await screen.shows("1 forwarded");
    screen.type("r");
    await screen.shows(/`id` must be .* X-GitHub-Delivery/);
  });

  it("suggests a command that sends a valid delivery, or one without a signature", async () => {
    const file = join(createConfigDir(), "secret.txt");
    writeFileSync(file, SECRET);
    const { screen } = await capture(["--scheme", "stripe", "--secret-file", file], { columns: 200 });
    await screen.shows(` --scheme stripe --secret-file ${file}`);
    const { screen: plain } = await capture([]);
    await plain.shows(/curl --data-binary @event.json http:\/\/127.0.0.1:\d+\//);
  });

  it.each([80, 120])("fits a long type and ID into lines of %i columns", async (columns) => {
    const port = await freePort();
    const screen = openScreen(process.execPath, [BIN, "webhooks", "capture", "--port", String(port), "--no-ui"], {
      columns,
    });
    await screen.shows("Press Ctrl-C to stop");
    const body = '{"id":"evt_1NG8Du2eZvKYlo2CUI79vXWy","type":"customer.subscription.updated"}';
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
    await screen.shows(/→ +customer\.subscription\.updated +evt_\S*o2CUI79vXWy$/m);
  });

  it("prints lines with --no-ui", async () => {
    const port = await freePort();
    const args = [BIN, "webhooks", "capture", "--port", String(port), "--no-ui"];
    const screen = openScreen(process.execPath, args, { columns: 100 });
    await screen.shows("Press Ctrl-C to stop");
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: BODY });
    await screen.shows(/→ +charge\.succeeded/);
    expect(screen.isAlternate()).toBe(false);
  });
});
