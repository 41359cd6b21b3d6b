import { apiPath } from "../../client/base-url.ts";
import { ApiError } from "../../client/errors.ts";
import type { ApiRequest, Client } from "../../client/http.ts";
import { isId } from "../../contract/ids.ts";
import { kindsWith, pathOf, RESOURCES } from "../../contract/resources.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { type Call, callLine } from "./perform.ts";

/** Returns the request that removes an object, if the API has one. */
function removalOf(id: string): ApiRequest | undefined {
  const kind = kindsWith("prefix").find((known) => isId(known, id));
  if (kind === "api_key") return { method: "POST", path: apiPath`/v1/api_keys/${id}/revoke`, body: {} };
  if (kind === undefined || !("deletable" in RESOURCES[kind])) return undefined;
  return { method: "DELETE", path: pathOf(kind) + apiPath`/${id}` };
}

/** Maximum number of IDs named in a message; the rest are counted. */
const NAMED = 3;

/** Records what calls create, and removes it again. */
export class Cleanup {
  readonly #created = new Set<string>();

  /** Called after every successful call. */
  note({ method, status, id }: Call): void {
    if (method === "POST" && status === 201) this.#created.add(id);
    if (method === "DELETE") this.#created.delete(id);
  }

  /** Removes the created objects that can be removed, newest first, and reports the others. */
  async run(client: Client, context: Context): Promise<void> {
    const { output } = context;
    // A line for each of a thousand would hide the rest; a few need no progress bar.
    const areFew = this.#created.size <= NAMED;
    const bar = output.progress(areFew ? 0 : this.#created.size, "cleaned up");
    const stays: string[] = [];
    const failures: unknown[] = [];
    let removed = 0;
    for (const id of [...this.#created].reverse()) {
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
    if (removed > 0) output.success(`Removed ${removed} of ${this.#created.size} created objects`);
    if (stays.length > 0)
      output.warn(
        `Not removed: ${namesOf(stays.reverse())}. The API cannot delete ${stays.length === 1 ? "it" : "them"}.`,
      );
    if (failures.length > 0)
      throw new UserError(`Could not remove ${failures.length} of ${this.#created.size} objects`, {
        cause: failures[0],
        hint: `First failure: ${failures[0] instanceof Error ? failures[0].message : String(failures[0])}`,
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

function namesOf(ids: readonly string[]): string {
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
  return ids.slice(0, NAMED).join(", ") + more;
}
