import { beforeEach, describe, expect, it } from "vitest";
import { startListener } from "../support/listener.ts";
import { explained, plain } from "./support/explained.ts";

/** Paths that respond with 500. */
const failing = new Set<string>();
/** Paths that no longer respond as `RESPONSES` says. */
const repaired = new Set<string>();
const RESPONSES: Record<string, [status: number, body: string, headers?: Record<string, string>]> = {
  "/redirects": [302, "", { Location: "/moved" }],
  "/signature": [400, "signature mismatch"],
};
const world = explained(({ path }, response) => {
  const [status, body, headers] = (repaired.has(path) ? undefined : RESPONSES[path]) ?? [
    failing.has(path) ? 500 : 204,
    "",
  ];
  response.writeHead(status, headers).end(body);
});
beforeEach(async () => {
  failing.clear();
  await world.clear();
});

const host = () => world.receiver.url.replace("http://", "");
const succeeded = (event: string) =>
  expect.poll(async () => (await world.deliveries(`event=${event}&status=succeeded`)).length).toBe(1);
const newest = async () => (await world.service(["why"])).stdout;

describe("service why after an event was sent to a listener's application again", () => {
  it("says that the replay it advised delivered the event, and turns to another failure", async () => {
    failing.add("/hooks");
    const url = `${world.receiver.url}/hooks`;
    const listener = await startListener(world.env, ["--forward-to", url, "--retries", "0"]);
    const { event } = await world.order(0);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await listener.interrupt();
    const { fix } = await world.why(event.id);
    failing.clear();
    expect((await world.run(fix)).exitCode).toBe(0);
    await succeeded(event.id);
    expect(plain(await world.why(event.id))).toMatchObject({ code: "delivered", fix: null });
    expect(await world.deliveries(`event=${event.id}`)).toHaveLength(1);
    expect(await newest()).not.toContain(event.id);
  });

  it("forwards to the target of the delivery, although a later session has another one", async () => {
    failing.add("/first");
    const args = ["--forward-to", `${world.receiver.url}/first`, "--retries", "0"];
    const first = await startListener(world.env, args);
    const { event } = await world.order(0);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await first.interrupt();
    const later = await startListener(world.env, ["--forward-to", `${world.receiver.url}/later`]);
    await later.interrupt();
    expect((await world.why(event.id)).fix).toBe(`service events replay ${event.id} --forward-to ${host()}/first`);
  });

  it.each([
    ["/redirects", "redirect"],
    ["/signature", "signature_rejected"],
  ])("advises commands after which an endpoint at %s works, and the delivery arrives", async (path, code) => {
    const { body: endpoint } = await world.api("POST", "/v1/webhook_endpoints", {
      url: world.receiver.url + path,
      events: ["order.*"],
    });
    const { event } = await world.order();
    const answer = await world.why(event.id);
    expect(answer.code).toBe(code);
    const [, afterwards] = /after the repair: `(.+?)`/.exec(answer.action!) ?? [];
    const run = async (command: string | null) => {
      const env = { SERVICE_WEBHOOK_SECRET: endpoint.secret as string };
      expect((await world.run(command, { env })).exitCode).toBe(0);
    };
    if (afterwards === undefined) repaired.add(path);
    await run(answer.fix);
    if (afterwards !== undefined) {
      // Nothing was sent before the receiver was repaired.
      expect((await world.why(event.id)).code).toBe(code);
      expect((await world.deliveries(`event=${event.id}`))[0]).toMatchObject({ attempt_count: 1 });
      repaired.add(path);
      await run(afterwards);
    }
    await succeeded(event.id);
    expect((await world.why(event.id)).code).toBe("delivered");
  });

  it("counts a replay that is being retried as the receiver that it is", async () => {
    failing.add("/retried");
    const url = `${world.receiver.url}/retried`;
    const first = await startListener(world.env, ["--forward-to", url, "--retries", "0"]);
    const { event } = await world.order(0);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await first.interrupt();
    const next = await startListener(world.env, ["--forward-to", url, "--retries", "10"]);
    await world.service(["events", "replay", event.id]);
    await next.record(({ event: name }) => name === "forwarded");
    await expect
      .poll(async () => plain(await world.why(event.id)).summary)
      .toMatch(/^Your application responded with 500; the listener's next attempt is due (at T|now)$/);
    await next.interrupt();
  });

  it("keeps the time of the first success when the event is sent again", async () => {
    const listener = await startListener(world.env, ["--forward-to", `${world.receiver.url}/twice`]);
    const { event } = await world.order(0);
    await succeeded(event.id);
    await world.service(["events", "replay", event.id]);
    const attempts = async () => (await world.deliveries(`event=${event.id}`))[0]!.attempt_count;
    await expect.poll(attempts).toBe(2);
    await listener.interrupt();
    expect(plain(await world.why(event.id)).summary).toBe("Delivered by a listener in N ms; resent at T: 204");
  });

  it("counts a replay to another target for the delivery that failed", async () => {
    failing.add("/old");
    const args = ["--forward-to", `${world.receiver.url}/old`, "--retries", "0"];
    const first = await startListener(world.env, args);
    const { event } = await world.order(0);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await first.interrupt();
    const later = await startListener(world.env, ["--forward-to", `${world.receiver.url}/new`]);
    expect((await world.why(event.id)).fix).toBe(`service events replay ${event.id} --forward-to ${host()}/old`);
    await world.service(["events", "replay", event.id]);
    await succeeded(event.id);
    const summary = expect.stringMatching(/^Delivered by a listener .+ the event, with attempt 2$/);
    expect(plain(await world.why(event.id))).toMatchObject({ code: "delivered", summary });
    expect(await newest()).not.toContain(event.id);
    await later.interrupt();
  });
});
