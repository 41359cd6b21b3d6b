import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RelayedEvent } from "../../../../relay/delivery.ts";
import { escapeReferences } from "../../trigger/fixture/fixture.ts";

/** Maximum number of file names to try. */
const MAX_NAMES = 1_000;

/**
 * Saves an event as a fixture that creates an event of the same type with the same data. Returns the name of the new
 * file in this folder: the event type, with a number if there is one already.
 */
export function saveFixture({ type, body }: RelayedEvent, folder: string): string {
  const { data } = JSON.parse(body) as { data?: unknown };
  const call = { method: "POST", path: "/v1/events", body: { type, data: escapeReferences(data ?? {}) } };
  const text = `${JSON.stringify([call], undefined, 2)}\n`;
  const safeType = type.replaceAll(/[^\w.-]/g, "_");
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? `${safeType}.json` : `${safeType}-${number}.json`;
    try {
      // Never overwrites a file. Only the owner can read it, because it contains customer data.
      writeFileSync(join(folder, name), text, { flag: "wx", mode: 0o600 });
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || number === MAX_NAMES) throw error;
    }
  }
}
