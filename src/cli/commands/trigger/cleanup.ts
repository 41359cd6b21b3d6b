import { ApiError } from "../../../client/errors.ts";
import type { ApiRequest, Client } from "../../../client/http.ts";
import { apiPath } from "../../../client/base-url.ts";
import { isId } from "../../../contract/ids.ts";
import { kindsWith, pathOf, RESOURCES } from "../../../contract/resources.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { callLine } from "./call-line.ts";
import type { Call } from "./perform.ts";

/** Returns the request that removes an object, if the API has one. */
function removalOf(id: string): ApiRequest | undefined {
  const kind = kindsWith("prefix").find((known) => isId(known, id));
  if (kind === "api_key") return { method: "POST", path: apiPath`/v1/api_keys/${id}/revoke`, body: {} };
  if (kind === undefined || !("deletable" in RESOURCES[kind])) return undefined;
  return { method: "DELETE", path: pathOf(kind) + apiPath`/${id}` };
}

/** Ids named in a message; more are counted. */
const NAMED = 3;

/** Remembers what calls make, and removes it again. */
export class Cleanup {
  readonly #made = new Set<string>();

  /** Told of every call that succeeded. */
  note({ method, status, id }: Call): void {
    if (method === "POST" && status === 201) this.#made.add(id);
    if (method === "DELETE") this.#made.delete(id);
  }

  /** Removes what can be removed, the newest first, and says what stays. */
  async run(client: Client, context: Context): Promise<void> {
    const { output } = context;
    // A line for each of a thousand would bury the rest; a few need no bar.
    const areFew = this.#made.size <= NAMED;
    const bar = output.progress(areFew ? 0 : this.#made.size, "cleaned up");
    const stays: string[] = [];
    const failures: unknown[] = [];
    let removed = 0;
    for (const id of [...this.#made].reverse()) {
      const removal = removalOf(id);
      if (removal === undefined) {
        stays.push(id);
      } else {
        const started = context.now();
        const status = await remove(client, removal).catch((error: unknown) => void failures.push(error));
        if (status === undefined) continue;
        removed += 1;
        if (areFew && !output.json && !output.quiet) {
          const { method, path } = removal;
          output.line(callLine({ method, path, status, id, milliseconds: context.now() - started }, context));
        }
      }
      bar.advance();
    }
    bar.end();
    if (removed > 0) output.success(`Removed ${removed} of ${this.#made.size} objects that were created`);
    if (stays.length > 0)
      output.warn(
        `${stayInWords(stays.reverse())}: the API has no way to remove ${stays.length === 1 ? "it" : "them"}.`,
      );
    if (failures.length > 0)
      throw new UserError(`${failures.length} of ${this.#made.size} objects could not be removed`, {
        cause: failures[0],
        hint: `The first failure: ${failures[0] instanceof Error ? failures[0].message : String(failures[0])}`,
      });
  }
}

/** Another call may have removed it already. */
async function remove(client: Client, removal: ApiRequest): Promise<number> {
  try {
    return (await client.request(removal)).status;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return error.status;
    throw error;
  }
}

function stayInWords(ids: readonly string[]): string {
  const named = ids.slice(0, NAMED).join(", ");
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
  return `${named}${more} ${ids.length === 1 ? "stays" : "stay"}`;
}
