/** What commands print, for docs/commands.md. */
import { exampleIdOf } from "../src/cli/resource/resource.ts";
import { nounOf, type ObjectKind, RESOURCES, shownFieldsOf } from "../src/contract/resources.ts";

export interface Output {
  command: string;
  /** What runs in another terminal while the command waits. Ctrl-C ends the command then. */
  meanwhile?: string;
  prints: string;
}

/**
 * What a command prints on a terminal, by its path. test/docs/command-outputs.test.ts runs all of them in this order on an
 * empty platform. The receiver at example.com responds to the first attempt of order.completed with 500.
 */
export const COMMAND_OUTPUTS: Readonly<Record<string, Output>> = {
  "service demo": {
    command: "service demo --once",
    prints: `Platform    $ service serve --ephemeral --port 0
              ✓ http://127.0.0.1:39371 with an empty database

Receiver    $ nodeWebhook({ secrets }) from "service-cli/webhooks"
              ✓ http://127.0.0.1:37059/webhooks accepts verified events only

Sign in     $ service login --api-key-stdin
              ✓ acct_0354no89zcUwUoxNmK2qrn, sandbox

Customer    $ service customers create --email ada@example.com
              ✓ cus_0354no9xPY1aBsP1KLcbiR ada@example.com

Listen      $ service listen --forward-to http://127.0.0.1:37059/webhooks
              ✓ forwarding sandbox events to this machine, signed

Trigger     $ service trigger order.completed
              ✓ evt_0354noCa6gpqaS1voDveWa received; signature verified

              {
                "id": "evt_0354noCa6gpqaS1voDveWa",
                "object": "event",
                "type": "order.completed",
                "created": "2026-11-27T10:24:31Z",
                "livemode": false,
                "data": {
                  "object": {
                    "id": "ord_0354noCXfbqNcS1WyWZmy3",
                    "object": "order",
                    "amount": 1999,
                    "currency": "EUR",
                    "status": "completed",
                    "customer": null,
                    "metadata": {},
                    "livemode": false,
                    "created": "2026-11-27T10:24:31Z"
                  }
                },
                "request": {
                  "id": "req_0354noCa0WE4jBLb8Ihu7V"
                }
              }

✓ Every step succeeded.`,
  },
  ...created("customer", "--email grace@example.com --name 'Grace Hopper'", {
    email: "grace@example.com",
    name: "Grace Hopper",
  }),
  "service customers list": {
    command: "service customers list",
    prints: `ID                          EMAIL              NAME          CREATED
cus_4Vf8aTqz0bKm2sNw9XyRcd  grace@example.com  Grace Hopper  2s ago`,
  },
  ...created("order", "--amount 1999 --currency EUR", { status: "pending", amount: "19.99", currency: "EUR" }),
  "service orders complete": {
    command: "service orders complete ord_4Vf8aTqz0bKm2sNw9XyRcd",
    prints: `✓ Order ord_4Vf8aTqz0bKm2sNw9XyRcd completed
ID           ord_4Vf8aTqz0bKm2sNw9XyRcd
Status       completed
Amount       19.99
Currency     EUR
Customer     –
Metadata     –
Environment  sandbox
Created      2026-11-27T10:24:36Z  (just now)`,
  },
  ...created("payment", "--amount 1999 --currency EUR", { status: "pending", amount: "19.99", currency: "EUR" }),
  "service payments fail": {
    command: "service payments fail pay_4Vf8aTqz0bKm2sNw9XyRcd --failure-code insufficient_funds",
    prints: `✓ Payment pay_4Vf8aTqz0bKm2sNw9XyRcd failed
ID            pay_4Vf8aTqz0bKm2sNw9XyRcd
Status        failed
Amount        19.99
Currency      EUR
Order         –
Failure code  insufficient_funds
Metadata      –
Environment   sandbox
Created       2026-11-27T10:24:38Z  (2 seconds ago)`,
  },
  "service payments list": {
    command: "service payments list --status failed",
    prints: `ID                          STATUS  AMOUNT  CURRENCY  FAILURE CODE        CREATED
pay_4Vf8aTqz0bKm2sNw9XyRcd  failed   19.99  EUR       insufficient_funds  3s ago`,
  },
  "service endpoints create": {
    command: "service endpoints create --url https://example.com/webhooks --events 'order.*'",
    prints: `✓ Created webhook endpoint we_0354noS7bIaUBD6MG2OnrX
ID           we_0354noS7bIaUBD6MG2OnrX
Status       enabled
URL          https://example.com/webhooks
Events       order.*
Description  –
Headers      –
Environment  sandbox
Created      2026-11-27T10:24:41Z  (just now)
Secret       whsec_…

The secret is shown only once: store it in your receiver now.
Test the endpoint:
  service endpoints ping we_0354noS7bIaUBD6MG2OnrX`,
  },
  "service endpoints list": {
    command: "service endpoints list",
    prints: `ID                         STATUS   URL                           EVENTS   SECRET CREATED  CREATED
we_0354noS7bIaUBD6MG2OnrX  enabled  https://example.com/webhooks  order.*  2s ago          2s ago`,
  },
  "service endpoints ping": {
    command: "service endpoints ping we_0354noS7bIaUBD6MG2OnrX",
    prints: `✓ 204 in 32 ms: webhook_endpoint.ping evt_0354noVWq4S6rTDFqvzijV`,
  },
  "service trigger": {
    command: "service trigger order.completed",
    prints: `201  POST /v1/orders  ord_0354noWiXBQEVJWzuuNykD  65 ms
200  POST /v1/orders/ord_0354noWiXBQEVJWzuuNykD/complete  11 ms
✓ Triggered order.completed evt_0354noWlSYB9qXq7IxNZzZ`,
  },
  "service deliveries list": {
    command: "service deliveries list",
    prints: `ID                          STATUS     TYPE                   RESPONSE  ATTEMPTS  CREATED
dlv_0354noWlSYBVHBI9lvdvjL  pending    order.completed        500              1  just now
dlv_0354noWiXBQxSZdZ99jqlQ  succeeded  order.created          204              1  just now
dlv_0354noVWq4SSFvQeyuOvPz  succeeded  webhook_endpoint.ping  204              1  2s ago`,
  },
  "service deliveries get": {
    command: "service deliveries get dlv_0354noWlSYBVHBI9lvdvjL",
    prints: `ID            dlv_0354noWlSYBVHBI9lvdvjL
Status        pending
Type          order.completed
Event         evt_0354noWlSYB9qXq7IxNZzZ
Receiver      we_0354noS7bIaUBD6MG2OnrX
Next attempt  2026-11-27T10:25:14Z
Environment   sandbox
Created       2026-11-27T10:24:44Z  (2 seconds ago)

Attempts
✗ 1  2026-11-27T10:24:44Z  500  1 ms
│    TypeError: order.customer is null
│  30 s later
○ 2  2026-11-27T10:25:14Z  next attempt in 29 s

Retry it now:
  service deliveries retry dlv_0354noWlSYBVHBI9lvdvjL`,
  },
  "service why": {
    command: "service why evt_0354noWlSYB9qXq7IxNZzZ",
    prints: `Cause: example.com/webhooks responded with 500; attempt 2 is due at 2026-11-27T10:25:14Z.
Attempt 1 at 2026-11-27T10:24:44Z: 500 in 1 ms, "TypeError: order.customer is null"
Fix the error in the receiver, then retry:
  service deliveries retry dlv_0354noWlSYBVHBI9lvdvjL

Request   POST /v1/orders/ord_0354noWiXBQEVJWzuuNykD/complete  200  2 ms
          req_0354noWlMNUMbhiwaKAYsj  2026-11-27T10:24:44Z
Object    ord_0354noWiXBQEVJWzuuNykD  completed
Event     order.completed  evt_0354noWlSYB9qXq7IxNZzZ
          2026-11-27T10:24:44Z

… dlv_0354noWlSYBVHBI9lvdvjL  pending, next attempt 2026-11-27T10:25:14Z
  to https://example.com/webhooks  we_0354noS7bIaUBD6MG2OnrX
   1 2026-11-27T10:24:44Z  500  1 ms`,
  },
  "service logs list": {
    command: "service logs list --limit 3",
    prints: `ID                          STATUS  METHOD  PATH                                   DURATION  CREATED
req_0354noWlMNUMbhiwaKAYsj  200     POST    /v1/orders/ord_0354noWiXBQEVJWzuuNyk…    2.1 ms  3s ago
req_0354noWiRANusgwv8Z15iw  201     POST    /v1/orders                               7.2 ms  3s ago
req_0354noVWk4msxRygmTTM7S  201     POST    /v1/webhook_endpoints/we_0354noS7bIa…   10.9 ms  4s ago
Successful reads by this CLI are hidden. To show them, pass --own-reads.`,
  },
  "service deliveries retry": {
    command: "service deliveries retry dlv_0354noWlSYBVHBI9lvdvjL",
    prints: `✓ Retrying delivery dlv_0354noWlSYBVHBI9lvdvjL
ID            dlv_0354noWlSYBVHBI9lvdvjL
Status        pending
Type          order.completed
Event         evt_0354noWlSYB9qXq7IxNZzZ
Receiver      we_0354noS7bIaUBD6MG2OnrX
Next attempt  2026-11-27T10:24:47Z
Environment   sandbox
Created       2026-11-27T10:24:44Z  (4 seconds ago)`,
  },
  "service expect": {
    command: "service expect order.completed -- service trigger order.completed",
    prints: `201  POST /v1/orders  ord_0354nof2swF6TOgNV6065C  59 ms
200  POST /v1/orders/ord_0354nof2swF6TOgNV6065C/complete  54 ms
✓ Triggered order.completed evt_0354nof9o9koHWgdsjnMNG
evt_0354nof9o9koHWgdsjnMNG      order.completed 2026-11-27T10:24:49Z
✓ order.completed as expected`,
  },
  "service events list": {
    command: "service events list --type order.completed",
    prints: `ID                          TYPE             OBJECT                      CREATED
evt_0354nof9o9koHWgdsjnMNG  order.completed  ord_0354nof2swF6TOgNV6065C  just now
evt_0354noWlSYB9qXq7IxNZzZ  order.completed  ord_0354noWiXBQEVJWzuuNykD  6s ago
evt_0354noL63gYXhmyE0a8MKr  order.completed  ord_4Vf8aTqz0bKm2sNw9XyRcd  13s ago`,
  },
  "service events replay": {
    command: "service events replay evt_0354nof9o9koHWgdsjnMNG",
    prints: `✓ Replayed evt_0354nof9o9koHWgdsjnMNG to 1 endpoint
Event       evt_0354nof9o9koHWgdsjnMNG
Deliveries  dlv_0354nohQTBKcfXE6DQqTtr
Listeners   0

See the deliveries:
  service deliveries list --event evt_0354nof9o9koHWgdsjnMNG`,
  },
  "service endpoints rotate-secret": {
    command: "service endpoints rotate-secret we_0354noS7bIaUBD6MG2OnrX",
    prints: `✓ Rotated the secret of webhook endpoint we_0354noS7bIaUBD6MG2OnrX
ID           we_0354noS7bIaUBD6MG2OnrX
Status       enabled
URL          https://example.com/webhooks
Events       order.*
Description  –
Headers      –
Environment  sandbox
Created      2026-11-27T10:24:41Z  (11 seconds ago)
Secret       whsec_…

The secret is shown only once: store it in your receiver now.
For 1 day, deliveries are signed with both the old and the new secret.`,
  },
  "service listen": {
    command: "service listen --forward-to localhost:3000/webhooks --no-ui",
    meanwhile: "service orders create --amount 1999 --currency EUR",
    prints: `✓ Ready. Listening to sandbox of acct_0354no5DtmCecIh7lczIA2
  key      from SERVICE_API_KEY
  events   *
  forward  http://localhost:3000/webhooks
  secret   from SERVICE_WEBHOOK_SECRET
  Press Ctrl-C to stop

10:24:53  →         order.created                    evt_0354nokiIr0SGxSpy4oluX
10:24:53  ← 204     order.created              28 ms evt_0354nokiIr0SGxSpy4oluX
Summary  1 received, 1 forwarded, 0 failed, 0 duplicates dropped; p50 28 ms, p99 28 ms`,
  },
  "service events tail": {
    command: "service events tail",
    meanwhile: "service orders create --amount 1999 --currency EUR",
    prints: `Following all events. Press Ctrl-C to stop.
10:24:54  order.created               evt_0354noma6jAfPIYfnmR92z  ord_0354noma6jAIpiO4rBt6Ok`,
  },
  "service webhooks check": {
    command: "service webhooks check localhost:3000/webhooks",
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
No mistake was found. For an A, 2 more checks must run: each says what it needs.`,
  },
  "service webhooks send": {
    command: "service webhooks send localhost:3000/webhooks",
    prints: `Sending a sample: order.completed. To send your own payload, pass --payload.
204 in 35 ms  evt_0354noo8DrYU63aEBEcaKo`,
  },
  "service logs tail": {
    command: "service logs tail",
    meanwhile: "service orders create --amount 1999 --currency EUR",
    prints: `Following API requests. Press Ctrl-C to stop.
Successful reads by this CLI are hidden. To show them, pass --own-reads.
10:24:57  201  POST    /v1/orders                                10.6 ms  req_0354noqgvAAQ26krpDDbpy`,
  },
  "service clock show": {
    command: "service clock show",
    prints: `Now     2026-11-27T10:24:58Z
Offset  none: real time`,
  },
  "service clock advance": {
    command: "service clock advance 3d",
    prints: `✓ Advanced the test clock by 3 days; 2 attempts: 2 succeeded, 0 failed
Now        2026-11-30T10:24:58Z
Offset     3 days ahead of real time
Status     idle
Target     2026-11-30T10:24:58Z
Attempts   2
Succeeded  2
Failed     0
Remaining  0`,
  },
  "service sandbox save": {
    command: "service sandbox save two-customers",
    prints: `✓ Saved the sandbox as two-customers
Name     two-customers
Objects  8
Time     real time + 3 days
Created  2026-11-27T10:24:59Z  (just now)`,
  },
  "service sandbox list": {
    command: "service sandbox list",
    prints: `NAME           OBJECTS  CREATED
two-customers        8  just now`,
  },
  "service sandbox restore": {
    command: "service sandbox restore two-customers --yes",
    prints: `✓ Restored the sandbox to two-customers
Restored  2026-11-27T10:25:00Z  (just now)
Snapshot  two-customers`,
  },
  "service sandbox reset": {
    command: "service sandbox reset --yes",
    prints: `✓ All objects, events and deliveries are removed, and the sandbox clock is back to real
time; keys, apps, endpoints and listeners stay
Reset     2026-11-27T10:25:01Z  (just now)
Snapshot  none`,
  },
  "service faults add": {
    command: "service faults add 'POST /v1/orders*' --status 503 --times 5",
    prints: `✓ Added fault flt_0354noyF1Qp4tffP4u4Ff8
ID        flt_0354noyF1Qp4tffP4u4Ff8
Request   POST /v1/orders*
Effect    status 503
Rate      1
Injected  0 of 5
Created   2026-11-27T10:25:01Z  (just now)`,
  },
  "service faults list": {
    command: "service faults list",
    prints: `ID                          REQUEST           EFFECT      RATE  INJECTED  CREATED
flt_0354noyF1Qp4tffP4u4Ff8  POST /v1/orders*  status 503  1     0 of 5    2s ago`,
  },
  "service faults clear": {
    command: "service faults clear",
    prints: `✓ Removed 1 fault`,
  },
  "service whoami": {
    command: "service whoami",
    prints: `Account      Default account (acct_0354no5DtmCecIh7lczIA2)
User         –
Environment  sandbox
Profile      default
Base URL     http://127.0.0.1:4010 (from SERVICE_BASE_URL)
Key source   SERVICE_API_KEY
Credential   secret key sk_sandbox_n…eQ9C
Scopes       all 21`,
  },
  "service keys create": {
    command: "service keys create --name reports --scope customers:read,orders:read --expires-in 90d",
    prints: `✓ Created API key key_0354np1lTT7mbg9mVpIHWh
ID           key_0354np1lTT7mbg9mVpIHWh
${newKey("2026-11-27T10:25:04Z")}`,
  },
  "service keys list": {
    command: "service keys list",
    prints: `ID                          NAME       KEY                STATE   SCOPES                   LAST USED
key_0354np1lTT7mbg9mVpIHWh  reports    rk_sandbox_j…O9r1  active  customers:read orders:…  never
key_0354no5DtmCxL2b8qtwdcB  First key  sk_sandbox_n…eQ9C  active  21 scopes                33s ago`,
  },
  "service keys rotate": {
    command: "service keys rotate key_0354np1lTT7mbg9mVpIHWh",
    prints: `✓ Revoked API key key_0354np1lTT7mbg9mVpIHWh and created key_0354np3foZWyrRYiFbMT0S in its
place
ID           key_0354np3foZWyrRYiFbMT0S
${newKey("2026-11-27T10:25:05Z")}`,
  },
  "service apps create": {
    command: "service apps create --name Reports --redirect-uri https://reports.example.com/oauth/callback",
    prints: `✓ Created OAuth app app_0354np5I7WZmFYpVdVhDvg
ID             app_0354np5I7WZmFYpVdVhDvg
Name           Reports
Client ID      app_0354np5I7WZmFYpVdVhDvg
Redirect URIs  https://reports.example.com/oauth/callback
Kind           confidential
Environment    sandbox
Created        2026-11-27T10:25:06Z  (just now)
Client secret  cs_…

The client secret is shown only once: store it now.`,
  },
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
    ["Created", "2026-11-27T10:24:07Z  (just now)"],
  ] as [label: string, value: string][];
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`);
  const command = `service ${RESOURCES[kind].command.name} create`;
  const prints = [`✓ Created ${nounOf(kind)} ${id}`, ...lines].join("\n");
  return { [command]: { command: `${command} ${flags}`, prints } };
}

/** Returns what `keys create` and `keys rotate` print after the ID. */
function newKey(time: string): string {
  return `Name         reports
State        active
Scopes       customers:read orders:read
Addresses    any
Expires      2027-02-25T10:25:04Z  (in 90 days)
Last used    never
Revoked      –
Environment  sandbox
Created      ${time}  (just now)
Created by   key_0354no5DtmCxL2b8qtwdcB
Key          rk_sandbox_…

The secret key is shown only once: store it now.`;
}
