import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import { listen as listenOn } from "../client/support/scripted-server.ts";
import { freePort } from "../support/free-port.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import type { Screen, ScreenOptions } from "../support/screen.ts";
import {
  DOWN,
  ESCAPE,
  LEFT,
  listenOnScreen,
  PAGE_DOWN,
  RIGHT,
  rowsOf,
  selectedRow,
  UP,
} from "./support/listen-screen.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const cli = cliOnPlatform();
let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver({ status: 200, body: "thanks" });
});
afterAll(() => receiver.close());

const listen = (args: readonly string[] = [], options: ScreenOptions = {}): Promise<Screen> =>
  listenOnScreen(["--forward-to", receiver.url, "--retries", "0", ...args], { env: cli.platform.env, ...options });

async function trigger(type: string): Promise<string> {
  const { stdout, exitCode } = await cli.service(["trigger", type, "-q"]);
  expect(exitCode).toBe(0);
  return stdout.trim();
}

const until = (condition: () => boolean) => expect.poll(condition).toBe(true);
const isSelected = (screen: Screen, id: string) => until(() => selectedRow(screen)?.includes(id) === true);

describe("the list of service listen", () => {
  it("explains an empty list, and grows with the events", async () => {
    const screen = await listen();
    await screen.shows("Waiting for events");
    await screen.shows(/secret +whsec_/);
    const first = await trigger("customer.created");
    await screen.shows(new RegExp(`❯ [\\d:]+ +200 +customer.created +[\\d.]+ m?s +${first}`));
    await screen.shows("1 received  1 forwarded  0 failed");
    const second = await trigger("customer.deleted");
    await isSelected(screen, second);
    expect(rowsOf(screen).map((row) => row.slice(2).split(/ +/)[2])).toContain("customer.deleted");
  });

  it("shows the sandbox's time and how far it is ahead, as the test clock advances", async () => {
    const screen = await listen();
    await screen.shows("Waiting for events");
    expect(screen.text()).not.toContain("clock +");
    expect((await cli.service(["clock", "advance", "26h"])).exitCode).toBe(0);
    const first = await trigger("customer.created");
    await isSelected(screen, first);
    await screen.shows("● Connected  clock +1d 2h  sandbox");
    const [, hour] = /(\d\d):\d\d:\d\d/.exec(selectedRow(screen)!)!;
    const { created } = JSON.parse((await cli.service(["events", "get", first, "--json"])).stdout);
    expect(Number(hour)).toBe(new Date(created).getHours());
    const later = await listen();
    await later.shows("clock +1d 2h");
  });

  it("follows the newest event unless another one is selected", async () => {
    const screen = await listen(["--events", "customer.created"]);
    const ids = [await trigger("customer.created"), await trigger("customer.created")];
    await isSelected(screen, ids[1]!);
    screen.type(UP);
    await isSelected(screen, ids[0]!);
    const third = await trigger("customer.created");
    await screen.shows(third);
    expect(selectedRow(screen)).toContain(ids[0]);
    screen.type("j");
    await isSelected(screen, ids[1]!);
    screen.type(`k${DOWN}G`);
    await isSelected(screen, third);
    const fourth = await trigger("customer.created");
    await isSelected(screen, fourth);
    screen.type("g");
    await isSelected(screen, ids[0]!);
  });

  it("marks the selected row with a symbol and reversed colors, or only the symbol with NO_COLOR", async () => {
    const screen = await listen([], { columns: 82 });
    await trigger("customer.created");
    await screen.shows("❯");
    const marked = screen.lines().findIndex((line) => line.startsWith("❯"));
    expect([0, 81].map((column) => screen.isInverse(marked, column))).toEqual([true, true]);
    expect(screen.isInverse(marked + 1, 0)).toBe(false);
    const plain = await listen([], { env: { ...cli.platform.env, NO_COLOR: "1" } });
    await trigger("customer.created");
    await plain.shows(/❯ [\d:]+ +200/);
    expect(plain.output()).not.toMatch(/\u001b\[[\d;]*[1-9]m/);
  });

  it("scrolls if there are more rows than lines, and keeps the selected row visible", async () => {
    const screen = await listen(["--events", "webhook_endpoint.ping"], { columns: 80, rows: 12 });
    const { stdout } = await cli.service(["trigger", "webhook_endpoint.ping", "--count", "9", "-q"]);
    const ids = stdout.trim().split("\n");
    await screen.shows("9 forwarded");
    expect(rowsOf(screen)).toHaveLength(6);
    screen.type("g");
    await until(() => screen.text().includes("3 newer ↓"));
    expect(rowsOf(screen)[0]).toMatch(/^❯/);
    for (let i = 0; i < 7; i += 1) screen.type(DOWN);
    await screen.shows("1 newer ↓");
    expect(selectedRow(screen)).toBeDefined();
    expect(ids.filter((id) => screen.text().includes(id))).toHaveLength(6);
  });

  it("empties with c, and keeps counting", async () => {
    const screen = await listen();
    await trigger("customer.created");
    await screen.shows("1 forwarded");
    screen.type("c");
    await screen.shows("Waiting for events");
    await screen.shows("1 received  1 forwarded");
    await trigger("customer.created");
    await screen.shows("2 forwarded");
    expect(rowsOf(screen)).toHaveLength(1);
  });

  it("forwards nothing while it is paused with p", async () => {
    const screen = await listen();
    screen.type("p");
    await screen.shows("‖ Paused");
    const id = await trigger("customer.created");
    await screen.shows(new RegExp(`… +customer.created +${id}`));
    await screen.shows("0 forwarded  0 failed  1 waiting");
    screen.type("p");
    await screen.shows(new RegExp(`200 +customer.created .*${id}`));
    await screen.shows("● Connected");
  });

  it("shows the number of an attempt next to the type on 80 columns, and the whole ID", async () => {
    const hangingUp = await listenOn(createServer((request) => request.socket.destroy()));
    const screen = await listenOnScreen(["--forward-to", hangingUp], { env: cli.platform.env, columns: 80 });
    const id = await trigger("customer.created");
    await screen.shows(new RegExp(`closed ↻ customer\\.created ×2 .* ${id}`));
  });

  it("shows events that match no target as not forwarded", async () => {
    const screen = await listenOnScreen([], { env: cli.platform.env });
    await screen.shows("events are not forwarded");
    const id = await trigger("customer.created");
    await screen.shows(new RegExp(`❯ [\\d:]+ +– +customer.created +${id}`));
  });
});

describe("the details of service listen", () => {
  it("show request and response with their headers and bodies, and scroll", async () => {
    const screen = await listen([], { columns: 80, rows: 24 });
    const id = await trigger("customer.created");
    await screen.shows("1 forwarded");
    screen.type("\r");
    await screen.shows(new RegExp(`DETAILS 1 of 1 +lines 1–18 of \\d+\\n customer.created  ${id}`));
    await screen.shows(`POST ${receiver.url}`);
    await screen.shows("Service-Signature: t=");
    await screen.shows(`   "id": "${id}"`);
    expect(screen.text()).not.toContain("thanks");
    screen.type(PAGE_DOWN);
    screen.type(PAGE_DOWN);
    screen.type(PAGE_DOWN);
    await screen.shows(/Response 200\n[^]*connection: keep-alive\n[^]*thanks/);
    screen.type("g");
    await screen.shows("lines 1–18");
    screen.type(DOWN);
    await screen.shows("lines 2–19");
    screen.type("k");
    await screen.shows("lines 1–18");
    screen.type(ESCAPE);
    await screen.shows("TIME      STATUS");
  });

  it("are next to the list in a wide terminal, and change with the selected event", async () => {
    const screen = await listen(["--events", "customer.*"], { columns: 120, rows: 40 });
    const first = await trigger("customer.created");
    await screen.shows("1 forwarded");
    const second = await trigger("customer.deleted");
    await screen.shows(new RegExp(`200 .*${second}`));
    screen.type("\r");
    await screen.shows(new RegExp(`│ customer.deleted {2}${second}`));
    screen.type(LEFT);
    screen.type(LEFT);
    await screen.shows(new RegExp(`│ customer.created {2}${first}`));
    expect(selectedRow(screen)).toContain("customer.created");
    // New events do not change what is read.
    await trigger("customer.created");
    await screen.shows("4 received");
    await screen.shows(first);
    screen.type(RIGHT);
    await until(() => !screen.text().includes(first));
  });

  it("show the attempts before the last, the failure and what to do about it", async () => {
    const failing = await startScriptedReceiver("hang up", { status: 401, body: "no" });
    try {
      const args = ["--forward-to", failing.url, "--retries", "1"];
      const screen = await listenOnScreen(args, { env: cli.platform.env, rows: 50 });
      await trigger("webhook_endpoint.ping");
      await screen.shows("0 forwarded  1 failed");
      screen.type("\r");
      await screen.shows(
        /Attempt 1 [\d:]+ {2}closed in [\d.]+ m?s\n Attempt 2 [\d:]+ {2}401 in .*\n Hint: If the receiver/,
      );
      await screen.shows(/Response 401\n[^]*no\n[^]*Request {2}JSON, indented\n POST/);
    } finally {
      await failing.close();
    }
  });

  it("obey the filter: R resends only what is shown", async () => {
    const args = ["--forward-to", `127.0.0.1:${await freePort()}`, "--retries", "0"];
    const screen = await listenOnScreen(args, { env: cli.platform.env });
    await trigger("customer.created");
    await trigger("order.created");
    await screen.shows(/ [23] failed/);
    screen.type("/type:customer\r");
    await screen.shows("filter: type:customer (1)");
    screen.type("R");
    await screen.shows(/refused +customer\.created ×\d/);
    expect(rowsOf(screen)).toHaveLength(1);
    screen.type("/");
    screen.type("\u0015type:nope\r");
    await screen.shows("filter: type:nope (0)");
    screen.type("R");
    await screen.shows(/Nothing to resend: the filter hides [23] failed events/);
    expect(screen.text()).toContain("No event matches the filter.");
    screen.type("r");
    await screen.shows("No event is selected");
    screen.type(`${ESCAPE}p`);
    await screen.shows(/^ +p resume /m);
  });

  it("close once the receiver is back, and R resends all failed events", async () => {
    const port = await freePort();
    const args = ["--forward-to", `127.0.0.1:${port}`, "--retries", "0"];
    const screen = await listenOnScreen(args, { env: cli.platform.env });
    await screen.shows(`Nothing listens on 127.0.0.1:${port} yet.`);
    const other = await listenOnScreen(args, { env: cli.platform.env });
    await other.shows("● Connected  1 other session");
    await screen.shows("● Connected  1 other session");
    await screen.shows("One other session is listening; each receives every event");
    const lost = [await trigger("customer.created"), await trigger("customer.created")];
    await screen.shows("0 forwarded  2 failed");
    await screen.shows("r resend  R all  w why");
    const back = createServer((_request, response) => void response.writeHead(204).end());
    try {
      await new Promise<void>((resolve) => void back.listen(port, "127.0.0.1", resolve));
      await trigger("customer.created");
      await screen.shows("2 failed; R resends them");
      expect(screen.text()).not.toContain("Nothing listens");
      screen.type("R");
      await screen.shows("Resent 2: 2 × 204");
      await screen.shows("3 forwarded  0 failed  2 resolved by resend");
      for (const id of lost) await screen.shows(new RegExp(`204 +customer\\.created ×\\d .*${id}`));
      screen.type("R");
      await screen.shows("Nothing to resend: no failure is left");
      const list = (event: string) => cli.json<Delivery[]>("deliveries", "list", "--event", event);
      for (const id of lost) {
        await expect.poll(async () => (await list(id))[0]?.status).toBe("succeeded");
        expect((await list(id))[0]).toMatchObject({ attempt_count: 3, target: `http://127.0.0.1:${port}/` });
      }
      screen.type("q");
      await screen.shows(/3 received, 3 forwarded, 0 failed, 2 resolved by\s+resend/);
    } finally {
      back.closeAllConnections();
      back.close();
    }
  });
});

describe("the filter of service listen", () => {
  it("applies while it is typed, to everything in the details, and is shown as active", async () => {
    const screen = await listen(["--events", "customer.*"]);
    const email = "filtered@example.com";
    await cli.service(["customers", "create", "--email", email]);
    await screen.shows("1 forwarded");
    const deleted = await trigger("customer.deleted");
    await screen.shows(new RegExp(`200 .*${deleted}`));
    const all = rowsOf(screen).length;
    screen.type("/DELETED");
    await screen.shows("Filter: DELETED_");
    await until(() => rowsOf(screen).length === 1 && selectedRow(screen)?.includes(deleted) === true);
    screen.type(ESCAPE);
    await until(() => rowsOf(screen).length === all);
    screen.type(`/${email}\r`);
    await screen.shows(`filter: ${email} (1)`);
    expect(selectedRow(screen)).toContain("customer.created");
    await trigger("customer.deleted");
    await screen.shows(`${all + 2} received`);
    expect(rowsOf(screen)).toHaveLength(1);
    screen.type(ESCAPE);
    await until(() => rowsOf(screen).length === all + 2);
    screen.type("/customer !deleted thanks");
    await until(() => rowsOf(screen).every((row) => row.includes("customer.created")));
    screen.type("\u0015nothing has this");
    await screen.shows("No event matches the filter.");
    await screen.shows("words, or type: id: status: body: to name where; ! excludes: !status:2");
    screen.type("\u0015stauts:500");
    await screen.shows('Unknown key "stauts". Keys: type, id, status, body');
  });

  it("excludes words only in the columns, and searches for prefixed words in one field", async () => {
    const screen = await listen();
    const [order, customer] = [await trigger("order.created"), await trigger("customer.created")];
    await screen.shows(new RegExp(`200 .*${customer}`));
    await screen.shows(new RegExp(`200 .*${order}`));
    const only = async (filter: string, ...ids: string[]): Promise<void> => {
      screen.type(`/\u0015${filter}\r`);
      await screen.shows(`filter: ${filter} (${ids.length})`);
      expect(ids.filter((id) => rowsOf(screen).some((row) => row.includes(id)))).toEqual(ids);
    };
    // The payload of a customer's event contains "email", that of an order's event "amount".
    await only(`!amount type:created id:${order}`, order);
    await only(`body:amount id:${order}`, order);
    await only(`!body:amount id:${order}`);
    await only(`status:2xx id:${customer}`, customer);
    await only(`!status:2 id:${customer}`);
    // Each payload has a field of this name.
    await only(`created id:${order}`, order);
    await only(`livemode id:${order}`);
    await only(`body:livemode id:${order}`, order);
  });

  it("accepts pasted text, which elsewhere triggers no keys", async () => {
    const screen = await listen(["--events", "customer.*"]);
    await trigger("customer.created");
    await screen.shows("1 forwarded");
    screen.type("\u001b[200~q\u001b[201~/\u001b[200~no such\r\nthing\u001b[201~");
    await screen.shows("Filter: no such thing_");
  });

  it("keeps the selected row although its new status does not match, until another row is selected", async () => {
    const held: ServerResponse[] = [];
    const url = await listenOn(
      createServer((request, response) => {
        request.resume().on("end", () => (held.length === 2 ? response.writeHead(500).end() : held.push(response)));
      }),
    );
    const screen = await listenOnScreen(["--forward-to", url, "--retries", "0"], { env: cli.platform.env });
    const [first, second] = [await trigger("customer.created"), await trigger("customer.created")];
    await until(() => held.length === 2);
    const third = await trigger("customer.created");
    await screen.shows("1 failed");
    screen.type("/!204\r");
    await screen.shows("!204");
    screen.type(UP);
    await isSelected(screen, second);
    for (const response of held) response.writeHead(204).end();
    await screen.shows("2 forwarded");
    await until(() => rowsOf(screen).length === 2);
    expect(selectedRow(screen)).toContain(second);
    expect(screen.text()).not.toContain(first);
    screen.type(DOWN);
    await isSelected(screen, third);
    await until(() => rowsOf(screen).length === 1);
  });
});

describe("a reset of the sandbox on the screen of service listen", () => {
  it("shows how many waiting events were dropped", async () => {
    const held: ServerResponse[] = [];
    const server = createServer((request, response) => void request.resume().on("end", () => held.push(response)));
    const screen = await listenOnScreen(
      ["--forward-to", await listenOn(server), "--concurrency", "1", "--timeout", "5m"],
      {
        env: cli.platform.env,
        columns: 160,
      },
    );
    for (let i = 0; i < 3; i += 1) await trigger("customer.created");
    await screen.shows("3 waiting");
    await cli.service(["sandbox", "reset"]);
    await screen.shows("dropped 2 waiting events, which no longer exist");
    await screen.shows(/ 1 waiting$/m);
    await until(() => rowsOf(screen).filter((row) => row.includes(" – ")).length === 2);
    held[0]!.writeHead(204).end();
    await screen.shows("1 forwarded");
    expect(screen.text()).not.toContain("1 waiting");
    expect(held).toHaveLength(1);
  });
});

describe("a paste into service listen", () => {
  it("triggers no keys if it is longer than 64 KiB, and later keys work", async () => {
    const screen = await listen([], { rows: 50 });
    screen.type(`\u001b[200~${"q".repeat(200_000)}\u001b[201~?`);
    await screen.shows("The list shows the last");
  });
});

describe("the help of service listen", () => {
  it("lists keys and limits", async () => {
    const screen = await listen([], { rows: 50 });
    screen.type("?");
    await screen.shows(/e +Edit the payload/);
    await screen.shows("The list shows the last 1,000 deliveries");
    await screen.shows(/secret +whsec_/);
    screen.type("?");
    await screen.shows("Waiting for events");
  });

  it("returns to the details that it was opened over", async () => {
    const screen = await listen([], { rows: 50 });
    await trigger("customer.created");
    await screen.shows("❯");
    screen.type("\r");
    await screen.shows("thanks");
    screen.type("?");
    await screen.shows("The list shows the last");
    screen.type(ESCAPE);
    await screen.shows("thanks");
  });
});
