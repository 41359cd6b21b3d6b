import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Work } from "./application.ts";
import { readBody } from "./read-body.ts";

/** The flaw of an otherwise correct receiver. */
export type Flaw =
  | "parses before verifying"
  | "looks at no timestamp"
  | "throws on unequal lengths"
  | "reads the first v1 only"
  | "knows the current secret only"
  | "has no dedupe"
  | "has a dedupe that races"
  | "responds after a minute"
  | "never responds to a rejected delivery"
  | "responds 500 to every rejected delivery"
  | "takes everything";

/** A receiver written from the specification, without the library. */
export function handWritten(work: Work, secrets: readonly string[], flaw?: Flaw): RequestListener {
  const processedIds = new Set<string>();

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (flaw !== "takes everything" && !isValid(request.headers["service-signature"], body)) {
      if (flaw === "never responds to a rejected delivery") return;
      const status = flaw === "responds 500 to every rejected delivery" ? 500 : 400;
      return void response.writeHead(status).end("bad signature");
    }
    const { id } = JSON.parse(body.toString("utf8")) as { id: string };
    if (flaw === "has no dedupe") work.act(id);
    else if (flaw === "has a dedupe that races") await actUnlessSeen(id);
    else work.once(id);
    // Long after the check's 10 s, so that a busy machine cannot make it arrive in time.
    if (flaw === "responds after a minute") await delay(60_000, undefined, { ref: false });
    response.writeHead(200).end("ok");
  }

  async function actUnlessSeen(id: string): Promise<void> {
    const isKnown = processedIds.has(id);
    // A database takes some time for both queries.
    await delay(25);
    if (isKnown) return;
    work.act(id);
    processedIds.add(id);
  }

  function isValid(header: string | string[] | undefined, raw: Buffer): boolean {
    if (typeof header !== "string") return false;
    const pairs = header.split(",").map((pair) => pair.split("=") as [string, string?]);
    const t = pairs.find(([name]) => name === "t")?.[1];
    const values = pairs.filter(([name]) => name === "v1").map(([, value = ""]) => value);
    if (t === undefined || !/^\d+$/.test(t)) return false;
    const isFresh = Math.abs(Date.now() / 1000 - Number(t)) <= 300;
    if (!isFresh && flaw !== "looks at no timestamp") return false;
    const body = flaw === "parses before verifying" ? JSON.stringify(JSON.parse(raw.toString("utf8"))) : raw;
    const known = flaw === "knows the current secret only" ? secrets.slice(0, 1) : secrets;
    const received = flaw === "reads the first v1 only" ? values.slice(0, 1) : values;
    return known.some((secret) => {
      const expected = createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex");
      return received.some((value) => areEqual(expected, value));
    });
  }

  function areEqual(expected: string, received: string): boolean {
    if (received.length !== expected.length && flaw !== "throws on unequal lengths") return false;
    return timingSafeEqual(Buffer.from(expected), Buffer.from(received));
  }

  return (request, response) =>
    void receive(request, response).catch(() => {
      response.writeHead(500).end("something went wrong");
    });
}
