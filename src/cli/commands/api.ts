import type { ApiRequest, Client, Method } from "../../client/http.ts";
import type { Page } from "../../client/pages.ts";
import { memberNamesOfResponse } from "../../client/response-check.ts";
import { assign } from "../arguments/assignments.ts";
import { objectOfPairs, type Pair, pairsFlag } from "../arguments/repeated.ts";
import { type CommandDefinition, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import { assertFields } from "../terminal/view.ts";
import { confirmDestruction, parseIdempotencyKey } from "../resource/verbs.ts";

const METHODS: readonly Method[] = ["GET", "POST", "PATCH", "PUT", "DELETE"];

interface Flags {
  field: Pair[];
  input?: string;
  paginate?: true;
  idempotencyKey?: string;
  yes?: true;
}

/** `service api [METHOD] <path>`. */
export const command: CommandDefinition = {
  name: "api",
  about: "Send an authenticated API request and print the response",
  usage: "[options] [method] <path>",
  args: [
    { arg: "<method>", about: `Method: ${METHODS.join(", ")} (default: GET, or POST with a body)` },
    { arg: "[path]", about: "Path below the base URL, such as /v1/customers" },
  ],
  options: [
    pairsFlag("-f, --field <key=value>", "Body field, or query parameter for GET; JSON values are parsed"),
    flag("--input <file>", "File to send as the body; - for stdin", { conflicts: "field" }),
    flag("--paginate", "Fetch all pages and print them as one list"),
    flag("--idempotency-key <key>", "Idempotency key, so that a retried POST takes effect once", {
      parse: parseIdempotencyKey,
    }),
    flag("--yes", "Skip the confirmation of a DELETE in live mode"),
  ],
  dryRun: true,
  fields: "any",
  examples: [
    "service api /v1/customers",
    "service api POST /v1/orders -f amount=1999 -f currency=EUR -f metadata.source=api # Build the JSON body from fields",
    "service api POST /v1/customers --input customer.json # Send a file as the body",
    "service api GET /v1/events --paginate --json --jq '.data | length' # Fetch all pages",
  ],
  run(context: Context, first: string, second: string | undefined, flags: Flags) {
    if (second === undefined && METHODS.some((method) => method === first.toUpperCase())) {
      throw new UsageError("Pass the path", { hint: `For example: service api ${first} /v1/customers` });
    }
    const hasBody = flags.input !== undefined || flags.field.length > 0;
    const method = second === undefined ? (hasBody ? "POST" : "GET") : parseMethod(first);
    return runApi(method, parsePath(second ?? first), flags, context);
  },
};

async function runApi(method: Method, path: string, flags: Flags, context: Context): Promise<void> {
  if (flags.paginate && method !== "GET") throw new UsageError("--paginate requires GET");
  if (method === "GET" && context.globals.dryRun) throw new UsageError("--dry-run: GET changes nothing");
  if (method === "DELETE") {
    // A missing credential comes before the question.
    await context.client();
    const id = path.split("/").at(-1) ?? path;
    await confirmDestruction(context, { id, consequence: `DELETE ${path} will be sent`, yes: flags.yes });
  }
  const request = await requestOf(method, path, flags, context);
  const known = method === "GET" ? undefined : memberNamesOfResponse(method, path);
  if (known !== undefined) assertFields({ noun: "response", fields: known }, context.globals.fields ?? []);
  const client = await context.client();
  const body = flags.paginate ? await wholeList(client, request) : (await client.request(request)).body;
  // Only the response determines the fields.
  if (typeof body === "object" && body !== null)
    assertFields({ noun: "response", fields: Object.keys(body) }, context.globals.fields ?? []);
  await context.output.document(body);
}

async function requestOf(method: Method, path: string, flags: Flags, context: Context): Promise<ApiRequest> {
  const { idempotencyKey } = flags;
  if (flags.input !== undefined) {
    const text = (await context.readInput(flags.input, "--input")).toString("utf8");
    return { method, path, body: text, idempotencyKey, anyShape: true };
  }
  const query = objectOfPairs(flags.field, "--field");
  if (method === "GET" || method === "DELETE") return { method, path, query, anyShape: true };
  const body = flags.field.reduce<Record<string, unknown>>((whole, [key, value]) => assign(whole, key, value), {});
  return { method, path, body, idempotencyKey, anyShape: true };
}

/** Returns all pages as one list document. */
async function wholeList(client: Client, request: ApiRequest): Promise<unknown> {
  const data: unknown[] = [];
  let cursor: string | undefined;
  for (;;) {
    const query = cursor === undefined ? request.query : { ...request.query, cursor };
    const { body } = await client.request<Page<unknown>>({ ...request, ...(query === undefined ? {} : { query }) });
    if (!Array.isArray(body.data)) throw new UsageError(`--paginate: the response of ${request.path} is not a list`);
    data.push(...body.data);
    if (!body.has_more || body.next_cursor === null) return { ...body, data, has_more: false, next_cursor: null };
    cursor = body.next_cursor;
  }
}

function parseMethod(text: string): Method {
  const method = METHODS.find((candidate) => candidate === text.toUpperCase());
  if (method === undefined)
    throw new UsageError(`Unknown method ${text}`, { hint: `Must be one of ${METHODS.join(", ")}.` });
  return method;
}

/** Rejects a URL, because the credential is only for the profile's platform. */
function parsePath(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || text.startsWith("//")) {
    throw new UsageError(`${text} is not a path`, {
      hint: "Pass a path such as /v1/customers. To choose the platform, pass --base-url.",
    });
  }
  return text.startsWith("/") ? text : `/${text}`;
}
