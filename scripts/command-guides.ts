/** What docs/commands.md adds to the help of commands: the guide of each, and what some of them print. */
import { exampleIdOf } from "../src/cli/resource/resource.ts";
import { nounOf, type ObjectKind, RESOURCES, shownFieldsOf } from "../src/contract/resources.ts";

/** A sentence for each command that a guide describes, by its name. */
export const COMMAND_GUIDES: Readonly<Record<string, string>> = {
  dev: "Guide: [Local development](dev.md)",
  serve: "Guides: [Local development](dev.md), [Deploying](deploying.md)",
  customers: "Guide: [Objects](concepts.md#objects)",
  orders: "Guide: [Objects](concepts.md#objects)",
  payments: "Guide: [Objects](concepts.md#objects)",
  endpoints: "Guides: [Receiving webhooks](receiving-webhooks.md), [Endpoint health](concepts.md#endpoint-health)",
  deliveries: "Guides: [Deliveries](concepts.md#deliveries), [Bulk operations](concepts.md#bulk-operations)",
  expect: "Guide: [Assertions on events](testing-receivers.md#assertions-on-events)",
  why: "Guides: [Why something failed](concepts.md#why-something-failed), [Tutorial](tutorial.md#4-ask-why)",
  listen:
    "Guides: [Forwarding to localhost](concepts.md#forwarding-to-localhost), [Testing receivers](testing-receivers.md)",
  trigger: "Guides: [Tutorial](tutorial.md#3-trigger-an-event), [Fixtures](testing-receivers.md#the-application)",
  events: "Guides: [Events and deliveries](concepts.md#events-and-deliveries), [Replays](concepts.md#replays)",
  webhooks: "Guides: [Testing receivers](testing-receivers.md), [Testing webhooks of other providers](providers.md)",
  clock: "Guide: [The test clock](concepts.md#the-test-clock)",
  sandbox: "Guide: [Start each test from a known state](test-states.md)",
  faults: "Guide: [Testing a client with faults](faults.md)",
  login: "Guide: [Signing in](authentication.md#signing-in)",
  logout: "Guide: [Signing in](authentication.md#signing-in)",
  whoami: "Guide: [Authentication](authentication.md)",
  doctor: "Guide: [Troubleshooting](troubleshooting.md)",
  profiles: "Guide: [Profiles](authentication.md#profiles)",
  config: "Guide: [Environment variables](authentication.md#environment-variables)",
  keys: "Guide: [API keys](authentication.md#api-keys)",
  apps: "Guide: [Sign in with service](sign-in-with-service.md)",
  logs: "Guides: [Troubleshooting](troubleshooting.md#anything-else), [what is logged](security.md#logs)",
  mcp: "Guide: [MCP](mcp.md)",
  db: "Guides: [Backup and restore](backup.md), [PostgreSQL](postgresql.md)",
};

interface Output {
  command: string;
  /** What the examples cannot start: test/docs/command-outputs.test.ts compares the output. */
  needs?: string;
  prints: string;
}

/** What a command prints on a terminal, by its path. test/docs/fences.test.ts runs them in the order of the page. */
export const COMMAND_OUTPUTS: Readonly<Record<string, Output>> = {
  ...created("customer", "--email grace@example.com --name 'Grace Hopper'", {
    email: "grace@example.com",
    name: "Grace Hopper",
  }),
  ...created("order", "--amount 1999 --currency EUR", { status: "pending", amount: "19.99", currency: "EUR" }),
  ...created("payment", "--amount 1999 --currency EUR", { status: "pending", amount: "19.99", currency: "EUR" }),
  "service expect": {
    command: "service expect order.completed -- service trigger order.completed",
    prints: `201  POST /v1/orders  ord_0354TncB4QRFt0WZkAG5DC  25 ms
200  POST /v1/orders/ord_0354TncB4QRFt0WZkAG5DC/complete  6 ms
✓ Triggered order.completed evt_0354TncBkplzi3oQU2uJhm
✓ order.completed as expected`,
  },
  "service why": {
    command: "service why evt_0354TncBkplzi3oQU2uJhm",
    prints: `Cause: No endpoint subscribes to order.completed, and no listener is connected.
There are no endpoints
Forward the event to your application:
  service events replay evt_0354TncBkplzi3oQU2uJhm --forward-to localhost:3000

Request   POST /v1/orders/ord_0354TncB4QRFt0WZkAG5DC/complete  200  3 ms
          req_0354TncBWv17mmHWnxN6uq  2026-11-26T20:49:10Z
Object    ord_0354TncB4QRFt0WZkAG5DC  completed
Event     order.completed  evt_0354TncBkplzi3oQU2uJhm
          2026-11-26T20:49:10Z`,
  },
  "service trigger": {
    command: "service trigger order.completed",
    prints: `201  POST /v1/orders  ord_0354TnZNqjqXwZwQ1t3ekR  20 ms
200  POST /v1/orders/ord_0354TnZNqjqXwZwQ1t3ekR/complete  5 ms
✓ Triggered order.completed evt_0354TnZP7D3X8Jc4aHCiCV`,
  },
  "service webhooks check": {
    command: "service webhooks check localhost:3000/webhooks",
    needs: "a receiver",
    prints: `Receiver  http://localhost:3000/webhooks

Accepting
  ✓ Accepts a valid delivery                            204 in 47 ms
  ✓ Responds within 10 s                                response in 47 ms
  ✓ Accepts an unknown event type with 2xx              204 in 7 ms
  ✓ Accepts events in any order                         204 in 12 ms
  ✓ Accepts a repeated delivery with 2xx                204 in 5 ms

Raw body
  ✓ Accepts a body with odd spacing                     204 in 9 ms
  ✓ Accepts a body with non-ASCII characters            204 in 6 ms
  ✓ Accepts a body with escaped slashes                 204 in 2 ms
  ✓ Accepts a body with very large and unusual numbers  204 in 6 ms
  ✓ Accepts a body of 1 MiB                             204 in 24 ms

Rejecting
  ✓ Rejects a delivery without a signature              400 in 37 ms
  ✓ Rejects a malformed header                          400 in 35 ms
  ✓ Rejects a signature made with another secret        400 in 33 ms
  ✓ Rejects a body that was changed after signing       400 in 33 ms
  ✓ Rejects a signature (v1) of the wrong length        400 in 32 ms
  ✓ Rejects a signature (v1) that is not hex            400 in 23 ms
  ✓ Rejects an empty signature (v1)                     400 in 21 ms

Time
  ✓ Rejects a timestamp (t) that is 301 s old           400 in 7 ms
  ✓ Rejects a timestamp (t) that is 301 s ahead         400 in 7 ms
  ✓ Accepts a timestamp (t) that is 299 s old           204 in 6 ms

Rotation
  ✓ Accepts two signatures (v1), its own first          204 in 4 ms
  ✓ Accepts two signatures (v1), its own second         204 in 1 ms
  – Accepts the previous secret alone
      Configure two secrets in the receiver, and pass both to this check
  ✓ Ignores unknown schemes                             204 in 1 ms

Duplicates
  – Processes a repeated event once
      Responses do not show what a receiver has done: pass --probe URL or --effects
  – Processes concurrent duplicates once

Load
  ✓ Handles a burst of 100 without a 5xx                all responses within 578 ms

Grade B  24 passed, 0 failed, 3 skipped
Nothing failed, but 3 could not run: each says what it needs.`,
  },
  "service clock show": {
    command: "service clock show",
    prints: `Now     2026-11-26T20:49:11Z
Offset  none: real time`,
  },
  "service faults add": {
    command: "service faults add 'POST /v1/orders*' --status 503 --times 5",
    prints: `✓ Added fault flt_0354TnecqY4rhI4ktyZRWk
ID        flt_0354TnecqY4rhI4ktyZRWk
Request   POST /v1/orders*
Effect    status 503
Rate      1
Injected  0 of 5
Created   2026-11-26T20:49:12Z  (just now)`,
  },
  "service faults clear": { command: "service faults clear", prints: "✓ Removed 1 fault" },
  "service api": {
    command: "service api GET /v1/versions",
    prints: `{
  "object": "list",
  "data": [
    "2026-11-01"
  ],
  "latest": "2026-11-01",
  "pinned": "2026-11-01"
}`,
  },
};

/** Returns what `create` with these flags prints of an object with these values. */
function created(kind: ObjectKind, flags: string, values: Readonly<Record<string, string>>): Record<string, Output> {
  const id = exampleIdOf(kind);
  const rows = [
    ["ID", id],
    ...shownFieldsOf(kind).map(([name, { label }]) => [label, values[name] ?? "–"]),
    ["Metadata", "–"],
    ["Environment", "sandbox"],
    ["Created", "2026-11-26T20:49:07Z  (just now)"],
  ] as [label: string, value: string][];
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`);
  const command = `service ${RESOURCES[kind].command.name} create`;
  const prints = [`✓ Created ${nounOf(kind)} ${id}`, ...lines].join("\n");
  return { [command]: { command: `${command} ${flags}`, prints } };
}
