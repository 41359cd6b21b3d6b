import { withArticle } from "../../contract/resources.ts";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import type { FieldError } from "../../contract/schemas/problem.ts";
import type { Scope } from "../../contract/scopes.ts";
import { ID_PREFIXES, type IdKind, isId, kindOfId, nounOfId } from "../../contract/ids.ts";
import { counted } from "../../contract/words.ts";
import type { Queries } from "../storage/database.ts";
import type { PageRequest, Rows } from "../storage/page.ts";
import type { Tenant } from "./request-context.ts";

/** How to send a credential (RFC 6750 3). */
export const CHALLENGE = 'Bearer realm="service"';

/** An error response: a code of the contract, a sentence, and additional members. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly members: Record<string, unknown>;
  /** Response headers of the error, such as `Retry-After`. */
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    detail: string,
    options: { members?: Record<string, unknown>; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.members = options.members ?? {};
    this.headers = options.headers ?? {};
  }
}

const MAX_ECHO_LENGTH = 200;

/** Returns a caller's text as an error may repeat it: at most 200 characters. */
export function shorten(text: string): string {
  return text.length > MAX_ECHO_LENGTH ? `${text.slice(0, MAX_ECHO_LENGTH)}…` : text;
}

/** Returns a name as a part of a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

export function invalidFields(errors: FieldError[]): ApiError {
  const first = errors[0]!;
  const field = first.pointer === "" ? "The body" : first.pointer.replace(/^\//, "").replaceAll("/", ".");
  const count = errors.length - 1;
  const sentence = `${field} ${first.detail}${first.detail.endsWith("?") ? "" : "."}`;
  const more = count === 0 ? "" : ` ${counted(count, "more error")}: see \`errors\`.`;
  return new ApiError("invalid_request", `${sentence}${more}`, { members: { errors } });
}

export function unknownReference(field: string, noun: string, id: string): ApiError {
  const detail = `must be the ID of an existing ${noun}; ${id} does not exist`;
  return invalidFields([{ pointer: `/${field}`, code: "unknown", detail }]);
}

/** Returns the 503 for a request that may succeed in a second. */
export function unavailable(detail: string, cause?: Error): ApiError {
  return new ApiError("unavailable", detail, { headers: { "Retry-After": "1" }, cause });
}

/** Returns the 403 for a credential that lacks at least one scope. */
export function insufficientScope(detail: string, lacking: readonly Scope[]): ApiError {
  return new ApiError("insufficient_scope", detail, {
    members: { required_scope: lacking[0] },
    headers: { "WWW-Authenticate": `${CHALLENGE}, error="insufficient_scope", scope="${lacking.join(" ")}"` },
  });
}

/** Throws ApiError `not_found` for an ID, with a hint if the ID itself is malformed. */
export function missing(kind: IdKind, id: string): never {
  throw new ApiError(
    "not_found",
    `The ${nounOfId(kind)} ${JSON.stringify(id.slice(0, 64))} does not exist${hint(kind, id)}`,
  );
}

/**
 * Returns the row that `find` reads by an ID. Throws ApiError `not_found` if the text is not an ID of the kind, or
 * there is no row.
 */
export async function existing<Row>(kind: IdKind, id: string, find: () => Promise<Row | undefined>): Promise<Row> {
  assertId(kind, id);
  return (await find()) ?? missing(kind, id);
}

/** Returns how the objects of a kind are read, shown as the API does or as a `row`. Throws ApiError `not_found`. */
export function readsOf<Row extends { environment: number | null; id: string }, Shown>(
  kind: IdKind,
  rows: Rows<Row>,
  show: (row: Row, tenant: Tenant) => Shown,
) {
  const row = (queries: Queries, { environment }: Tenant, id: string) =>
    existing(kind, id, () => rows.find(queries, environment, id));
  return {
    row,
    get: async (queries: Queries, tenant: Tenant, id: string) => show(await row(queries, tenant, id), tenant),
    page: async (queries: Queries, tenant: Tenant, page: PageRequest) =>
      (await rows.list(queries, page)).map((one) => show(one, tenant)),
  };
}

export type Reads<Shown> = Omit<ReturnType<typeof readsOf<never, Shown>>, "row">;

/** Throws ApiError `not_found` for text that is not an ID of the kind, before it reaches the database. */
export function assertId(kind: IdKind, id: string): void {
  if (!isId(kind, id)) missing(kind, id);
}

function hint(kind: IdKind, id: string): string {
  const unlogged = kind === "request" ? " Requests without a valid credential are not retained." : "";
  if (isId(kind, id)) return ` in this environment. Check the ID and the key's environment.${unlogged}`;
  const other = kindOfId(id);
  if (other !== undefined) return `. This is the ID of ${one(other)}.`;
  return `. The ID of ${one(kind)} is ${ID_PREFIXES[kind]} and 22 letters or digits.`;
}

function one(kind: IdKind): string {
  return withArticle(nounOfId(kind));
}
