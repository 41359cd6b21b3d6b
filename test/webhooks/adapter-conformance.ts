import { once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SignatureError, type WebhookEvent, type WebhookOptions } from "../../src/webhooks/index.ts";
import { EVENT, headerOf, NOW, OTHER_SECRET, PAYLOAD, rejection, SECRET } from "./deliveries.ts";
import { openDelivery, type Receiver, readToEnd } from "./receiver-server.ts";

/** Starts a receiver in one framework. Its handler calls `onEvent`, then responds with 204. */
export interface AdapterUnderTest {
  name: string;
  start: (options: WebhookOptions, onEvent: (event: WebhookEvent) => unknown) => Promise<Receiver>;
}

const OPTIONS: WebhookOptions = { secrets: SECRET, now: () => NOW };

type Body = string | Buffer<ArrayBuffer>;

export async function deliver(
  { url }: Receiver,
  body: Body,
  header: string | undefined = headerOf(body),
  headers: Record<string, string> = { "content-type": "application/json" },
): Promise<{ status: number; type: string | null; problem: Record<string, unknown> }> {
  const signature: Record<string, string> = header === "" ? {} : { "Service-Signature": header };
  const response = await fetch(url, { method: "POST", body, headers: { ...headers, ...signature } });
  const text = await response.text();
  const type = response.headers.get("content-type");
  return { status: response.status, type, problem: type?.includes("json") === true ? JSON.parse(text) : {} };
}

/** Describes the behavior of every adapter on a real socket. */
export function describeAdapter({ name, start }: AdapterUnderTest): void {
  describe(`the ${name} adapter`, () => {
    it("passes a verified event to the handler, which responds", async () => {
      const receivedIds: WebhookEvent[] = [];
      const receiver = await start(OPTIONS, (event) => receivedIds.push(event));
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
      expect(receivedIds).toEqual([EVENT]);
    });

    it.each([
      ["odd spacing and escapes", '{ "id" :\t"evt_1",\r\n "a": "\\/\\u00e9" }\n'],
      ["unicode", '{"id":"evt_1","name":"Zoë 🐶 日本"}'],
      ["a large number", '{"id":"evt_1","n":12345678901234567890}'],
      ["exactly 1 MiB", `{"id":"evt_1","a":"${"x".repeat(1_048_576 - 21)}"}`],
    ])("verifies the raw bytes of a body with %s", async (_name, payload) => {
      const onEvent = vi.fn<(event: WebhookEvent) => void>();
      const receiver = await start(OPTIONS, onEvent);
      expect(await deliver(receiver, payload)).toMatchObject({ status: 204 });
      expect(onEvent.mock.calls).toEqual([[JSON.parse(payload)]]);
    });

    it.each([
      ["no content type", {}],
      ["the content type text/plain", { "content-type": "text/plain" }],
      ["a charset", { "content-type": "application/json; charset=utf-8" }],
      ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ])("accepts a delivery with %s", async (_name, headers: Record<string, string>) => {
      const receiver = await start(OPTIONS, () => undefined);
      // A Buffer, because fetch adds a content type to text.
      expect(await deliver(receiver, Buffer.from(PAYLOAD), headerOf(PAYLOAD), headers)).toMatchObject({ status: 204 });
    });

    it("reads a body that arrives in pieces", async () => {
      const onEvent = vi.fn<(event: WebhookEvent) => void>();
      const receiver = await start(OPTIONS, onEvent);
      const payload = '{"id":"evt_1","name":"Zoë 🐶"}';
      const head = ["Transfer-Encoding: chunked", "Connection: close", `Service-Signature: ${headerOf(payload)}`];
      const socket = await openDelivery(receiver, head);
      const respond = readToEnd(socket);
      for (const byte of Buffer.from(payload)) {
        socket.write(Buffer.concat([Buffer.from("1\r\n"), Buffer.of(byte), Buffer.from("\r\n")]));
        await new Promise(setImmediate);
      }
      socket.write("0\r\n\r\n");
      expect(await respond).toMatch(/^HTTP\/1\.1 204 /);
      expect(onEvent.mock.calls).toEqual([[JSON.parse(payload)]]);
    });

    it("keeps concurrent deliveries apart", async () => {
      const receivedIds = new Set<string>();
      const receiver = await start(OPTIONS, (event) => receivedIds.add(event.id));
      const ids = Array.from({ length: 30 }, (_, index) => `evt_${index}`);
      const results = await Promise.all(ids.map(async (id) => deliver(receiver, JSON.stringify({ id }))));
      expect(results.every(({ status }) => status === 204)).toBe(true);
      expect([...receivedIds].sort()).toEqual([...ids].sort());
    });
  });

  describe(`the ${name} adapter rejects`, () => {
    it.each([
      ["no header", PAYLOAD, "", "header_missing"],
      ["a malformed header", PAYLOAD, "t=1,v1", "header_malformed"],
      ["another secret", PAYLOAD, headerOf(PAYLOAD, NOW, OTHER_SECRET), "signature_mismatch"],
      ["another body", `${PAYLOAD} `, headerOf(PAYLOAD), "signature_mismatch"],
      ["an old t", PAYLOAD, headerOf(PAYLOAD, NOW - 301), "timestamp_too_old"],
      ["a t ahead", PAYLOAD, headerOf(PAYLOAD, NOW + 301), "timestamp_in_future"],
      ["an empty v1", PAYLOAD, `t=${NOW},v1=`, "signature_malformed"],
      ["a body that is not JSON", "hello", headerOf("hello"), "payload_not_json"],
      ["an empty body", "", headerOf(""), "payload_not_json"],
    ])("%s with 400 and problem details", async (_name, body, header, code) => {
      const onEvent = vi.fn<() => void>();
      const receiver = await start(OPTIONS, onEvent);
      const { status, type, problem } = await deliver(receiver, body, header);
      expect([status, type]).toEqual([400, expect.stringMatching(/^application\/problem\+json(;|$)/)]);
      expect(problem).toEqual({ title: expect.any(String), status: 400, code, detail: expect.any(String) });
      expect(onEvent).not.toHaveBeenCalled();
    });

    it("a header that was sent twice", async () => {
      const onEvent = vi.fn<() => void>();
      const receiver = await start(OPTIONS, onEvent);
      const line = `Service-Signature: ${headerOf(PAYLOAD)}`;
      const length = `Content-Length: ${Buffer.byteLength(PAYLOAD)}`;
      const socket = await openDelivery(receiver, [length, "Connection: close", line, line]);
      socket.write(PAYLOAD);
      expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 400 [^]*"timestamp_repeated"/);
      expect(onEvent).not.toHaveBeenCalled();
    });

    it("a body over the limit with 413, and accepts the next delivery", async () => {
      const onEvent = vi.fn<(event: WebhookEvent) => void>();
      const receiver = await start({ ...OPTIONS, limit: PAYLOAD.length }, onEvent);
      const tooLarge = PAYLOAD + " ";
      expect(await deliver(receiver, tooLarge)).toMatchObject({ status: 413, problem: { code: "body_too_large" } });
      expect(await deliver(receiver, "x".repeat(3_000_000))).toMatchObject({ status: 413 });
      expect(onEvent).not.toHaveBeenCalled();
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    });

    it("a chunked body over the limit with 413", async () => {
      const onEvent = vi.fn<() => void>();
      const receiver = await start({ ...OPTIONS, limit: 1000 }, onEvent);
      const head = ["Transfer-Encoding: chunked", `Service-Signature: ${headerOf(PAYLOAD)}`];
      const socket = await openDelivery(receiver, head);
      socket.write(`800\r\n${"x".repeat(0x800)}\r\n`);
      const [respond] = (await once(socket, "data")) as [Buffer];
      expect(respond.toString()).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
      expect(onEvent).not.toHaveBeenCalled();
    });

    it("a delivery whose client disconnects in the middle of the body", async () => {
      const onEvent = vi.fn<(event: WebhookEvent) => void>();
      const receiver = await start(OPTIONS, onEvent);
      // The received part of the announced body is a whole signed event, which must not count as complete.
      const head = [`Content-Length: ${PAYLOAD.length + 100}`, `Service-Signature: ${headerOf(PAYLOAD)}`];
      for (const leave of ["end", "destroy"] as const) {
        const socket = await openDelivery(receiver, head);
        socket.write(PAYLOAD);
        await new Promise(setImmediate);
        socket[leave]();
        await readToEnd(socket);
      }
      expect(await deliver(receiver, '{"id":"evt_next"}')).toMatchObject({ status: 204 });
      expect(onEvent.mock.calls).toEqual([[{ id: "evt_next" }]]);
    });
  });

  describe(`the options of the ${name} adapter`, () => {
    it("allow two secrets, either of which may sign", async () => {
      const receiver = await start({ ...OPTIONS, secrets: [SECRET, OTHER_SECRET] }, () => undefined);
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
      expect(await deliver(receiver, PAYLOAD, headerOf(PAYLOAD, NOW, OTHER_SECRET))).toMatchObject({ status: 204 });
    });

    it.each([
      ["a function", (current: () => string[]) => current],
      ["an async function", (current: () => string[]) => async () => Promise.resolve(current())],
    ])("allow %s for secrets, called at each delivery", async (_name, wrap) => {
      let current = [SECRET];
      const receiver = await start({ ...OPTIONS, secrets: wrap(() => current) }, () => undefined);
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
      current = [OTHER_SECRET];
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ problem: { code: "signature_mismatch" } });
      expect(await deliver(receiver, PAYLOAD, headerOf(PAYLOAD, NOW, OTHER_SECRET))).toMatchObject({ status: 204 });
    });

    it("lead to 500 with the reason if the function returns no secret", async () => {
      const receiver = await start({ ...OPTIONS, secrets: () => [] }, () => undefined);
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 500, problem: { code: "no_secrets" } });
    });

    it("lead to 500 if the function throws", async () => {
      const secrets = (): never => {
        throw new Error("vault is sealed");
      };
      const onEvent = vi.fn<() => void>();
      const receiver = await start({ ...OPTIONS, secrets }, onEvent);
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 500 });
      expect(onEvent).not.toHaveBeenCalled();
    });

    it("pass the error of each rejected delivery to onError, and respond even if that fails", async () => {
      const codes: unknown[] = [];
      const onError = (error: unknown): never => {
        codes.push((error as SignatureError).code);
        throw new Error("the log is full");
      };
      let secrets: string[] = [SECRET];
      const receiver = await start({ ...OPTIONS, secrets: () => secrets, onError }, () => undefined);
      expect(await deliver(receiver, PAYLOAD, "")).toMatchObject({ status: 400 });
      secrets = [];
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 500 });
      expect(codes).toEqual(["header_missing", "no_secrets"]);
    });

    it("print a misconfiguration without onError, but not what anyone can send", async () => {
      const printed = vi.spyOn(console, "error").mockReturnValue();
      onTestFinished(() => printed.mockRestore());
      const receiver = await start({ ...OPTIONS, secrets: () => undefined }, () => undefined);
      await deliver(receiver, PAYLOAD);
      expect(printed.mock.calls).toEqual([[expect.objectContaining({ code: "no_secrets" })]]);
      printed.mockClear();
      await deliver(await start(OPTIONS, () => undefined), PAYLOAD, "");
      expect(printed.mock.calls).toEqual([]);
    });

    it("are checked when the adapter is created", async () => {
      const wrong = async (options: unknown): Promise<string> =>
        start(options as WebhookOptions, () => undefined).then(
          () => "started",
          (error: unknown) => (error instanceof SignatureError ? error.code : String(error)),
        );
      expect(await wrong({ secrets: undefined })).toBe("no_secrets");
      expect(await wrong({ secrets: "" })).toBe("empty_secret");
      expect(await wrong({ secrets: SECRET, tolerance: Number.NaN })).toBe("invalid_tolerance");
      expect(await wrong({ secrets: SECRET, limit: 0 })).toBe("invalid_limit");
      expect(await wrong({ secrets: SECRET, limit: "1mb" })).toBe("invalid_limit");
    });

    it("include the tolerance and the clock", async () => {
      const receiver = await start({ secrets: SECRET, tolerance: 10, now: () => NOW + 11 }, () => undefined);
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ problem: { code: "timestamp_too_old" } });
      expect(await deliver(receiver, PAYLOAD, headerOf(PAYLOAD, NOW + 1))).toMatchObject({ status: 204 });
    });
  });

  describe(`the handler of the ${name} adapter`, () => {
    it.each([
      [
        "throws",
        () => {
          throw new Error("boom");
        },
      ],
      ["rejects", async () => Promise.reject(new Error("boom"))],
      [
        "fails with a SignatureError of its own",
        () => {
          throw rejection(() => {
            throw new SignatureError("no_secrets", "boom");
          });
        },
      ],
    ])("leads to 500 if it %s, and serves the next delivery", async (_name, onEvent: () => unknown) => {
      let calls = 0;
      const receiver = await start(OPTIONS, () => {
        calls += 1;
        return calls === 1 ? onEvent() : undefined;
      });
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 500 });
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    });
  });
}
