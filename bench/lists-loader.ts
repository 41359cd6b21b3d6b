// Fills a platform's stopped database with customers and events, spread over 20 days. Prints the IDs to query.
import { createIdGenerator, timeOfId } from "../src/contract/ids.ts";
import type { EventType } from "../src/contract/event-types.ts";
import { formatTimestamp } from "../src/contract/timestamps.ts";
import { encodeCursor } from "../src/platform/http/pagination.ts";
import { createVault, loadMasterKeyFile } from "../src/platform/security/vault.ts";
import { findEnvironmentNumber, firstAccount } from "../src/platform/storage/accounts.ts";
import { insertEvent } from "../src/platform/storage/events.ts";
import { MIGRATIONS } from "../src/platform/storage/migrations/index.ts";
import { insertObject } from "../src/platform/storage/objects.ts";
import { openSqlite } from "../src/platform/storage/sqlite/open.ts";
import { systemRandom } from "../src/platform/ports.ts";

const UNIT = 2_000;
const SPAN = 20 * 86_400_000;
const TYPES: readonly EventType[] = ["customer.created", "order.created", "order.completed", "payment.succeeded"];

const [file = "", rows = ""] = process.argv.slice(2);
const count = Number(rows);
const database = await openSqlite({ file, migrations: MIGRATIONS });
const account = (await firstAccount(database))!;
const environment = await findEnvironmentNumber(database, account.id, "sandbox");
const newId = createIdGenerator((size) => systemRandom.bytes(size));
const start = Date.now() - SPAN;
const half = Math.floor(count / 2);
const middle = { customer: "", event: "", email: "", object: "" };

for (let first = 0; first < count; first += UNIT) {
  await database.write(async (tx) => {
    for (let row = first; row < Math.min(count, first + UNIT); row++) {
      const created = start + Math.floor((row / count) * (SPAN - 60_000));
      const id = newId("customer", created);
      const email = `customer-${row}@example.com`;
      const metadata = JSON.stringify({ plan: "pro", number: String(row) });
      const customer = {
        environment,
        id,
        email,
        email_key: email,
        name: "Ada Lovelace",
        phone: null,
        metadata,
        created,
      };
      await insertObject(tx, "customer", customer);
      const type = TYPES[row % TYPES.length]!;
      const event = newId("event", created);
      const body = JSON.stringify({
        id: event,
        object: "event",
        type,
        created: formatTimestamp(created),
        livemode: false,
        data: { object: { id, object: "customer", email, name: "Ada Lovelace", phone: null, livemode: false } },
        request: { id: newId("request", created) },
      });
      await insertEvent(tx, { environment, id: event, type, object_id: id, created, body });
      if (row === half) Object.assign(middle, { customer: id, event, email, object: id });
    }
  });
}
const { seq } = (await database.get<{ seq: number }>("SELECT seq FROM events WHERE environment = $1 AND id = $2", [
  environment,
  middle.event,
]))!;
await database.close();

const vault = createVault(loadMasterKeyFile(`${file}.key`), systemRandom);
const cursor = (list: "customer" | "event", position: string) =>
  encodeCursor(vault, { list, environment, filters: {} }, position);
process.stdout.write(
  `${JSON.stringify({
    customers: cursor("customer", middle.customer),
    events: cursor("event", String(seq)),
    email: middle.email,
    related: middle.object,
    since: formatTimestamp(timeOfId(middle.event)),
  })}\n`,
);
