import { type Static, type TObject, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { apiPath } from "../../../client/base-url.ts";
import type { Client, Method } from "../../../client/http.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { type IdKind, ID_PREFIXES } from "../../../contract/ids.ts";
import { nounOf, pathOf, RESOURCES, type ResourceKind, withArticle } from "../../../contract/resources.ts";
import { closed, idOf } from "../../../contract/schemas/fields.ts";
import type { Scope } from "../../../contract/scopes.ts";
import { UsageError } from "../../errors.ts";

/** What tools need, whichever transport calls them. */
export interface ToolSession {
  client: Client;
  /** Aborted when the result of the call can no longer be sent. */
  signal: AbortSignal;
  /** Reports the progress of a call to a client that requested it. */
  progress: (done: number, total: number, message: string) => void;
  /** Unix milliseconds. */
  now: () => number;
  uuid: () => string;
}

type Arguments = Readonly<Record<string, unknown>>;

/** One tool, as clients list and call it. */
export interface Tool {
  /** snake_case. */
  name: string;
  description: string;
  /** Scopes of the credential: at least one of each inner list. */
  scopes: readonly (readonly Scope[])[];
  /** `removes` also changes, and cannot be undone. */
  effect: "reads" | "changes" | "removes";
  /** True if a repeated call with the same arguments has no further effect. Reads never have one. */
  idempotent?: boolean;
  input: TSchema;
  output: TSchema;
  /** Rejects with the error of an API call or a command. */
  run(input: Arguments, session: ToolSession): Promise<object>;
}

interface ApiTool extends Omit<Tool, "scopes" | "effect" | "input" | "run"> {
  /** Default: the resource's own, `<plural>:read` for GET, `<plural>:write` for all others. */
  scope?: Scope;
  /** Default: GET reads, DELETE removes, all others change. */
  effect?: Tool["effect"];
  /** Query or body. */
  input?: TObject;
}

const KEY_PATTERN = `^[\\x21-\\x7e]{1,${LIMITS.idempotencyKeyLength}}$`;
const IDEMPOTENCY_KEY = Type.Optional(
  Type.String({
    pattern: KEY_PATTERN,
    description:
      "A repeated call with the same key has no further effect and returns the first result (default: a new key)",
  }),
);

/**
 * Defines a tool for one operation of the API, which also validates its arguments. The route is a method and the path
 * after that of the resource: `POST /{id}/replay`. `{id}` is the argument `id`. Each POST has an Idempotency-Key.
 */
export function apiTool(kind: ResourceKind, route: Method | `${Method} /${string}`, description: ApiTool): Tool {
  const [method, suffix = ""] = route.split(" ") as [Method, string?];
  const path = pathOf(kind) + suffix;
  const takesId = path.includes("{id}");
  const { scope = `${RESOURCES[kind].plural}:${method === "GET" ? "read" : "write"}` as Scope, ...tool } = description;
  return {
    effect: method === "GET" ? "reads" : method === "DELETE" ? "removes" : "changes",
    idempotent: method === "PATCH" || method === "DELETE",
    ...tool,
    scopes: [[scope]],
    input: closed({
      ...(takesId ? { id: idOfResource(kind) } : {}),
      ...tool.input?.properties,
      ...(method === "POST" ? { idempotency_key: IDEMPOTENCY_KEY } : {}),
    }),
    async run(input, { client }) {
      const members = { ...input };
      const idempotencyKey = method === "POST" ? textArgument("idempotency_key", members) : undefined;
      if (idempotencyKey !== undefined && !new RegExp(KEY_PATTERN).test(idempotencyKey)) {
        throw new UsageError(
          `idempotency_key must have 1 to ${LIMITS.idempotencyKeyLength} visible ASCII characters, without spaces`,
          { code: "invalid_arguments" },
        );
      }
      const id = takesId ? textArgument("id", members) : undefined;
      if (takesId && id === undefined) throw new UsageError("id is required", { code: "invalid_arguments" });
      const { body } = await client.request<object>({
        method,
        path: path.replace("{id}", () => apiPath`${id ?? ""}`),
        idempotencyKey,
        ...(method === "GET" ? { query: queryOf(members) } : method === "DELETE" ? {} : { body: members }),
      });
      return body;
    },
  };
}

function idOfResource(kind: ResourceKind): TSchema {
  const idKind = (kind === "request_log" ? "request" : kind) as IdKind;
  return idOf(idKind, { description: `ID of ${withArticle(nounOf(kind))}, ${ID_PREFIXES[idKind]}…` });
}

/** Removes an argument of the tool from those of the API. */
function textArgument(name: string, members: Record<string, unknown>): string | undefined {
  const { [name]: value } = members;
  delete members[name];
  if (value === undefined || typeof value === "string") return value;
  throw new UsageError(`${name} must be a string`, { code: "invalid_arguments" });
}

function queryOf(members: Arguments): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** Defines a custom tool. Its arguments are validated against its schema first. */
export function ownTool<Input extends TSchema>(
  tool: Omit<Tool, "input" | "run"> & {
    input: Input;
    run: (input: Static<Input>, session: ToolSession) => Promise<object>;
  },
): Tool {
  const validator = Compile(tool.input as TSchema);
  return {
    ...tool,
    run(input, session) {
      if (!validator.Check(input)) {
        const mistakes = validator.Errors(input).filter(({ keyword }) => keyword !== "boolean");
        throw new UsageError("Invalid arguments", {
          code: "invalid_arguments",
          hint: mistakes
            .map(({ instancePath, message, params }) =>
              `${instancePath.slice(1)} ${message} ${detailOf(params)}`.trim(),
            )
            .join("\n"),
        });
      }
      return tool.run(input as Static<Input>, session);
    },
  };
}

/** Returns the names and values of the placeholders in a text. */
function detailOf(params: object): string {
  const lists = Object.values(params).filter(Array.isArray).flat();
  return lists.length === 0 ? "" : `(${lists.join(", ")})`;
}
