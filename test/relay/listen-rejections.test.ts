import { describe, expect, it } from "vitest";
import { ListenError } from "../../src/relay/disconnection.ts";
import { FakePlatform } from "./support/fake-platform.ts";
import { startRun } from "./support/start-run.ts";
import { startReceiver } from "./support/receivers.ts";
import { bye } from "./support/frames.ts";
import { respond, PROBLEM } from "./support/upgrade-response.ts";

describe("an upgrade that is permanently rejected", () => {
  it.each([
    [401, "unauthorized"],
    [403, "forbidden"],
    [400, "rejected"],
    [404, "rejected"],
    [407, "rejected"],
    [426, "rejected"],
  ])("ends the run: %i is %s", async (status, code) => {
    const problem = { ...PROBLEM, status };
    const platform = await FakePlatform.start({
      intercept: (_request, stream) => respond(stream, status, "application/problem+json", JSON.stringify(problem)),
    });
    const { run, reports } = startRun(platform);
    const { error } = await run.ended;
    expect(error).toBeInstanceOf(ListenError);
    expect(error).toMatchObject({ code, status, problem, message: expect.stringContaining("The key was revoked.") });
    expect(platform.upgrades).toHaveLength(1);
    expect(reports.all.map(({ event }) => event)).toEqual(["summary"]);
  });

  it.each([
    ["application/problem+json", "{"],
    ["application/problem+json", "[1]"],
    ["application/problem+json", "null"],
    ["text/html", "<h1>Sign in</h1>"],
    ["application/problem+json", JSON.stringify({ ...PROBLEM, detail: "x".repeat(100_000) })],
  ])("reports the status if the body is not problem details: %s", async (type, body) => {
    const platform = await FakePlatform.start({ intercept: (_request, stream) => respond(stream, 403, type, body) });
    const { error } = await startRun(platform).run.ended;
    expect(error).toMatchObject({ code: "forbidden", status: 403, problem: undefined });
  });

  it("ends a connected run after forwards in flight", async () => {
    let revoked = false;
    const platform = await FakePlatform.start({
      intercept: (_request, stream) => revoked && respond(stream, 401, "text/plain", "no"),
    });
    const pending: (() => void)[] = [];
    const receiver = await startReceiver((response) => pending.push(() => response.end()));
    const { run, reports } = startRun(platform, { target: receiver.url });
    await reports.wait("ready");
    platform.append();
    await receiver.received(1);
    revoked = true;
    platform.cut();
    await platform.until(() => platform.upgrades.length === 2);
    pending[0]!();
    const { error, summary } = await run.ended;
    expect(error).toMatchObject({ status: 401 });
    expect(summary).toMatchObject({ received: 1, forwarded: 1 });
  });
});

describe("the credential", () => {
  it("is not used after the run has ended", async () => {
    const platform = await FakePlatform.start();
    let deliver: (value: string) => void = () => {};
    const { run } = startRun(platform, { authorization: () => new Promise((resolve) => (deliver = resolve)) });
    await run.stop();
    deliver("Bearer late");
    await startRun(platform).reports.wait("ready");
    expect(platform.upgrades.map(({ headers }) => headers.authorization)).toEqual(["Bearer token"]);
  });

  it("is requested for each connection", async () => {
    const platform = await FakePlatform.start();
    let requests = 0;
    const { reports } = startRun(platform, { authorization: async () => `Bearer ${(requests += 1)}` });
    await reports.wait("ready");
    platform.cut();
    await platform.until(() => platform.sessions.length === 2);
    expect(platform.upgrades.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
  });

  it("is replaced once after a 401, and a second 401 ends the run", async () => {
    const problem = JSON.stringify({ ...PROBLEM, status: 401 });
    const platform = await FakePlatform.start({
      intercept: (request, stream) =>
        request.headers.authorization !== "Bearer good" && respond(stream, 401, "application/problem+json", problem),
    });
    const stored = ["Bearer good", "Bearer bad"];
    const rejections: (string | undefined)[] = [];
    const { run, reports } = startRun(platform, {
      authorization: async (rejected) => {
        rejections.push(rejected);
        return rejected === undefined ? "Bearer old" : stored.shift()!;
      },
    });
    await reports.wait("ready");
    platform.cut();
    expect((await run.ended).error).toMatchObject({ code: "unauthorized", status: 401 });
    expect(rejections).toEqual([undefined, "Bearer old", undefined, "Bearer old"]);
    expect(platform.upgrades.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer old",
      "Bearer good",
      "Bearer old",
      "Bearer bad",
    ]);
  });

  it("is replaced, with a message, after the platform closed the connection because of it", async () => {
    const platform = await FakePlatform.start();
    const { run, reports } = startRun(platform, {
      authorization: async (rejected) => (rejected === undefined ? "Bearer old" : "Bearer new"),
    });
    await reports.wait("ready");
    platform.session.send(bye("invalid_credential"));
    await reports.wait("restored");
    expect(reports.all.map(({ event }) => event)).toEqual(["ready", "lost", "restored"]);
    await run.stop();
  });

  it("is requested again after a temporary failure", async () => {
    const platform = await FakePlatform.start();
    const results = [new Error("the network is down"), "Bearer a\nb", "Bearer token"];
    const { reports, run } = startRun(platform, {
      authorization: async () => {
        const next = results.shift() ?? new ListenError("unauthorized", "signed out");
        if (next instanceof Error) throw next;
        return next;
      },
    });
    await reports.wait("ready");
    expect(reports.of("retrying")).toMatchObject([
      { reason: { code: "authorization", message: expect.stringContaining("the network is down") } },
      { reason: { code: "authorization" } },
    ]);
    platform.cut();
    expect((await run.ended).error).toMatchObject({ code: "unauthorized", message: "signed out" });
  });
});

describe("a permanent goodbye", () => {
  it.each([
    ["revoked_credential", "unauthorized", 401],
    ["insufficient_scope", "forbidden", 403],
    ["sandbox_only", "forbidden", 403],
  ])("ends the run: %s", async (reason, code, status) => {
    const platform = await FakePlatform.start();
    const { reports, run } = startRun(platform);
    await reports.wait("ready");
    platform.session.send(bye(reason));
    expect((await run.ended).error).toMatchObject({ code, status, message: expect.stringContaining("later") });
    expect(platform.sessions).toHaveLength(1);
  });
});
