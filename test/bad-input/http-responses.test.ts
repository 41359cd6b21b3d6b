import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { type RunningListener, startListener } from "../support/listener.ts";
import { RESPONSES } from "./http-responses.ts";

const ours = apiOnPlatform();

/** A first attempt: the client that sent it and the number of the case. */
const REQUEST = /^POST \/(platform|relay) [^]*"case":(\d+)\}[^]*\}$/;

/** Sends the bytes of a case as its response, and records which connections are reused. */
class Receiver {
  readonly server: Server;
  readonly sockets = new Set<Socket>();
  /** `platform 3`: the connection carried another request after the response of case 3. */
  readonly reused = new Set<string>();

  constructor() {
    this.server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on("error", () => socket.destroy());
      let received = "";
      let last: string | undefined;
      socket.on("data", (bytes) => {
        received += bytes.toString("latin1");
        const [, client = "", index = ""] = REQUEST.exec(received) ?? [];
        if (index === "") return;
        received = "";
        if (last !== undefined) this.reused.add(last);
        last = `${client} ${index}`;
        const { bytes: response, closes = false } = RESPONSES[Number(index)]!;
        if (closes) socket.end(response, "latin1");
        else socket.write(response, "latin1");
      });
    });
  }

  async listen(): Promise<string> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

const receiver = new Receiver();
let listener: RunningListener;
let events: string[];

beforeAll(async () => {
  const { api, platform } = ours;
  const url = await receiver.listen();
  expect((await api("POST", "/v1/webhook_endpoints", { url: `${url}/platform`, events: ["*"] })).status).toBe(201);
  listener = await startListener(platform.env, ["--forward-to", `${url}/relay`]);
  events = await Promise.all(
    RESPONSES.map(async (_response, index) => {
      const { body } = await api("POST", "/v1/events", { type: "order.completed", data: { case: index } });
      return String(body.id);
    }),
  );
});
afterAll(async () => {
  await listener.interrupt();
  receiver.close();
});

interface Attempt {
  status_code: number | null;
  error: string | null;
  response_excerpt: string | null;
}

/** Returns the first attempts of an event: the endpoint's delivery and the listener's. */
async function attemptsOf(event: string): Promise<{ platform?: Attempt; relay?: Attempt }> {
  const { data } = (await ours.api("GET", `/v1/deliveries?event=${event}`)).body;
  const found: { platform?: Attempt; relay?: Attempt } = {};
  for (const { id, endpoint } of data) {
    const [first] = (await ours.api("GET", `/v1/deliveries/${id}`)).body.attempts;
    if (first !== undefined) found[endpoint === null ? "relay" : "platform"] = first;
  }
  return found;
}

/** Returns the verdict for an attempt's error, or the error itself. */
function verdictOf({ status_code: status, error, response_excerpt: body }: Attempt): unknown {
  if (status !== null) return { status, body: body ?? "" };
  if (/^invalid_response|invalid HTTP response/.test(error!)) return "invalid";
  return /^connection_closed|before the response was complete/.test(error!) ? "cut" : error!;
}

describe("a receiver's response is judged the same by `listen` and by the platform's deliveries", () => {
  it.each(RESPONSES.map((response, index) => ({ ...response, index })))(
    "$what",
    { timeout: 60_000 },
    async ({ index, verdict }) => {
      let attempts: Awaited<ReturnType<typeof attemptsOf>> = {};
      const both = async () => Object.keys((attempts = await attemptsOf(events[index]!))).toSorted();
      await expect.poll(both, { timeout: 30_000 }).toEqual(["platform", "relay"]);
      expect(verdictOf(attempts.relay!), "relay").toEqual(verdict);
      expect(verdictOf(attempts.platform!), "platform").toEqual(verdict);
    },
  );

  it("does not reuse a connection after an ambiguous response", () => {
    const reused = RESPONSES.flatMap(({ what, verdict, isLast = false }, index) => {
      const mustClose = isLast || typeof verdict === "string";
      const clients = ["relay", "platform"].filter((name) => receiver.reused.has(`${name} ${index}`));
      return mustClose ? clients.map((name) => `${name} ${what}`) : [];
    });
    expect(reused).toEqual([]);
    expect(receiver.reused.size).toBeGreaterThan(0);
  });
});
