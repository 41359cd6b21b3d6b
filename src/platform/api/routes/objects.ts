import { type Field, type ObjectKind, resourceOf } from "../../../contract/resources.ts";
import {
  actOnObject,
  createObject,
  getObject,
  objectOfUniqueValue,
  pageOfObjects,
  removeObject,
  updateObjectFields,
} from "../../domain/objects.ts";
import { RULES } from "../../domain/rules/index.ts";
import type { Vault } from "../../security/vault.ts";
import type { Queries } from "../../storage/database.ts";
import type { Call } from "../../http/call.ts";
import type { AnyHandler, Write } from "../operation.ts";
import { sendList } from "../../http/pagination.ts";
import { narrowed } from "../../http/search.ts";

type Input = Record<string, unknown>;

/** Returns the handlers of a resource that the table of resources describes by its fields. */
export function objectHandlers(kind: ObjectKind, vault: Vault): Record<string, AnyHandler> {
  const { label, labels, actions = {}, fields = {} } = resourceOf(kind);
  const references = Object.fromEntries(
    Object.entries<Field>(fields).flatMap(([field, { of, filter }]) =>
      filter && of !== undefined ? [[of, field]] : [],
    ),
  );
  const create: Write<Call> = ({ body }, tx, context) => createObject(tx, context, kind, body as Input);
  return {
    // A rule may depend on what concurrent requests add.
    [`create${label}`]: kind in RULES ? create : { isolation: "batched", write: create },
    [`list${labels}`]: (call: Call, queries: Queries) => {
      const query = call.query as Input & { query?: string };
      const { tenant } = call.caller;
      const filters = narrowed(query, references);
      return sendList(
        vault,
        kind,
        { ...call, query },
        (page) => pageOfObjects(queries, tenant, kind, { page, query: filters }),
        { foundFirst: (page) => objectOfUniqueValue(queries, tenant, kind, { page, query: filters }) },
      );
    },
    [`get${label}`]: ({ caller, id }: Call, queries: Queries) => getObject(queries, caller.tenant, kind, id),
    [`update${label}`]: ({ id, body }, tx, context) => updateObjectFields(tx, context, kind, id, body as Input),
    [`delete${label}`]: ({ id }, tx, context) => removeObject(tx, context, kind, id),
    ...Object.fromEntries(
      Object.keys(actions).map((verb): [string, AnyHandler] => [
        verb + label,
        ({ id, body }, tx, context) => actOnObject(tx, context, kind, { id, verb, input: body as Input }),
      ]),
    ),
  };
}
