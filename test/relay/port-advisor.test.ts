import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { PortAdvisor } from "../../src/relay/port-advisor.ts";
import { type Clock, systemClock } from "../../src/network/clock.ts";
import { freePort } from "../support/free-port.ts";

/** On a busy machine, a probe may take long. */
const patient: Clock = { ...systemClock, after: () => () => {} };

/** Returns the advice at the start of a session that forwards to these ports. */
async function hintsFor(ports: readonly number[], clock: Clock = patient): Promise<string[]> {
  const hints: string[] = [];
  const expected = ports.map((port) => new URL(`http://localhost:${port}/`));
  const advisor = new PortAdvisor({
    clock,
    except: [],
    expected,
    report: (report) => report.event === "hint" && hints.push(report.message),
  });
  await advisor.checkExpected();
  return hints;
}

it("listen reports a port that is closed when the session is ready, but not an open port", async () => {
  const server = createServer();
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  const { port } = server.address() as AddressInfo;
  const closed = await freePort();
  expect(await hintsFor([port, closed])).toEqual([
    expect.stringMatching(`^Nothing listens on localhost:${closed} yet\\.`),
  ]);
  server.close();
});

it("listen does not report a port as closed that a busy machine has not probed in time", async () => {
  const impatient: Clock = {
    ...systemClock,
    after: (_milliseconds, callback) => {
      queueMicrotask(callback);
      return () => {};
    },
  };
  expect(await hintsFor([await freePort()], impatient)).toEqual([]);
});
