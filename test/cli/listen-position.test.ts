import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../support/free-port.ts";
import { spawnListener, startListener } from "../support/listener.ts";
import { servePlatformOn } from "../support/platform.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { listening, createFolder } from "./support/listening.ts";

const on = listening();
const { got, trigger } = on;

describe("--since last", () => {
  it("resumes where the same listener stopped, across a restart of the platform", async () => {
    const database = join(createFolder(), "on.platform.db");
    const port = await freePort();
    const first = await servePlatformOn(database, port);
    const env = { ...first.env };
    const args = [
      "--forward-to",
      on.receiver.url,
      "--events",
      "customer.created",
      "--since",
      "last",
      "--secret",
      on.secret,
    ];
    const listener = await startListener(env, args);
    const handled = await trigger("customer.created", 5, env);
    await got(handled);
    await listener.interrupt();
    const missed = await trigger("customer.created", 3, env);
    await first.stop();
    const second = await servePlatformOn(database, port);
    const again = await startListener(env, args);
    await got(missed);
    await again.interrupt();
    const received = again.records.filter(({ event }) => event === "received").map(({ id }) => String(id));
    expect(received.sort()).toEqual(missed.sort());
    await second.stop();
  });

  it("still delivers events that an earlier start without it skipped with a warning", async () => {
    const env = { ...on.platform.env, SERVICE_CONFIG_DIR: createConfigDir() };
    const args = ["--forward-to", on.receiver.url, "--secret", on.secret];
    const skipped = /Events arrived since this listener last ran; they are skipped. To receive them, pass --since evt_/;
    const first = await startListener(env, args);
    await got(await trigger("customer.created", 2, env));
    await first.interrupt();
    expect(first.stderr()).not.toMatch(skipped);
    const inTime = await startListener(env, args);
    await inTime.interrupt();
    expect(inTime.stderr()).not.toMatch(skipped);
    const missed = await trigger("customer.created", 1, env);
    const late = await startListener(env, args);
    await expect.poll(late.stderr).toMatch(skipped);
    await late.interrupt();
    const again = await startListener(env, [...args, "--since", "last"]);
    await got(missed);
    await again.interrupt();
  });

  it("names no event that the sandbox does not have, as after a reset", async () => {
    const env = { ...on.platform.env, SERVICE_CONFIG_DIR: createConfigDir() };
    const args = ["listen", "--forward-to", on.receiver.url];
    const first = await startListener(env, args.slice(1));
    await got(await trigger("customer.created", 1, env));
    await first.interrupt();
    expect(await runCli(["sandbox", "reset", "--yes"], { env })).toMatchObject({ exitCode: 0 });
    for (const isEmpty of [true, false]) {
      if (!isEmpty) await trigger("customer.created", 1, env);
      const { stderr, exitCode } = await runCli([...args, "--", process.execPath, "-e", "0"], { env });
      expect(exitCode).toBe(0);
      expect(stderr).not.toContain("skipped");
    }
  });

  it("does not warn about events that another session is forwarding", async () => {
    const env = { ...on.platform.env, SERVICE_CONFIG_DIR: createConfigDir() };
    let requests = 0;
    const slow = createServer((_request, response) => {
      if ((requests += 1) === 1) response.end();
    }).listen(0, "127.0.0.1");
    await once(slow, "listening");
    onTestFinished(() => slow.close().closeAllConnections());
    const args = ["--forward-to", `127.0.0.1:${(slow.address() as AddressInfo).port}`];
    const first = await startListener(env, args);
    await trigger("customer.created", 1, env);
    await first.record(({ event, status }) => event === "forwarded" && status === 200);
    await first.interrupt();
    const busy = await spawnListener(env, args);
    await trigger("customer.created", 1, env);
    await expect.poll(() => requests).toBe(2);
    const beside = await startListener(env, args);
    await beside.interrupt();
    expect(beside.stderr()).not.toContain("they are skipped");
    await busy.kill();
  });

  it("stores the position of each listener separately and privately", async () => {
    const env = { ...on.platform.env, SERVICE_CONFIG_DIR: createConfigDir() };
    for (const events of ["customer.created", "customer.deleted"]) {
      const listener = await startListener(env, ["--events", events]);
      await listener.interrupt();
    }
    const kept = join(env.SERVICE_CONFIG_DIR, "listen");
    const names = readdirSync(kept);
    expect(names).toHaveLength(2);
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    for (const name of names) {
      expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600);
      expect(JSON.parse(readFileSync(join(kept, name), "utf8"))).toMatchObject({
        cursor: expect.stringMatching(/^evt_/),
      });
      expect(readFileSync(join(kept, name), "utf8")).not.toContain(on.platform.sandboxKey);
    }
  });

  it("keeps the newest 50 positions", async () => {
    const env = { ...on.platform.env, SERVICE_CONFIG_DIR: createConfigDir() };
    const kept = join(env.SERVICE_CONFIG_DIR, "listen");
    mkdirSync(kept, { mode: 0o700 });
    const old = Array.from({ length: 60 }, (_, index) => join(kept, `old-${index}.json`));
    for (const [index, file] of old.entries()) {
      writeFileSync(file, "{}");
      const seconds = Date.now() / 1000 - 60 - index;
      utimesSync(file, seconds, seconds);
    }
    const listener = await startListener(env, []);
    await listener.interrupt();
    const names = readdirSync(kept);
    expect(names.filter((name) => name.startsWith("old-")).toSorted()).toEqual(
      old
        .slice(0, 50)
        .map((file) => basename(file))
        .toSorted(),
    );
    expect(names).toHaveLength(51);
  });

  it("starts now, with a warning, if there is no position", async () => {
    const { stderr, exitCode } = await runCli(["listen", "--since", "last", "--", "true"], { env: on.platform.env });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("has not run before");
  });
});
