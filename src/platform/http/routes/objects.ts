import {
  type Field,
  type ObjectKind,
  nounOf,
  nounsOf,
  pathOf,
  resourceOf,
  RESOURCES,
  withArticle,
} from "../../../contract/resources.ts";
import { OBJECT_SCHEMAS } from "../../../contract/schemas/objects.ts";
import type { Scope } from "../../../contract/scopes.ts";
import {
  actOnObject,
  createObject,
  getObject,
  objectOfUniqueValue,
  pageOfObjects,
  removeObject,
  updateObjectFields,
} from "../../domain/objects.ts";
import type { Vault } from "../../secrets/vault.ts";
import { sendList, asJson } from "../pagination.ts";
import { narrowed } from "../search.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

/** Returns the operations of a resource that the table of resources describes by its fields. */
export function objectOperations(kind: ObjectKind, vault: Vault): Operation[] {
  const { actions = {}, fields = {} } = resourceOf(kind);
  const schemas = OBJECT_SCHEMAS[kind];
  const path = pathOf(kind);
  const name = RESOURCES[kind].label;
  const one = withArticle(nounOf(kind));
  const { plural } = RESOURCES[kind];
  const [reads, writes] = [`${plural}:read`, `${plural}:write`] satisfies [Scope, Scope];
  const conflicts = Object.values(fields).some(({ unique }) => unique) ? { errors: ["email_taken"] as const } : {};
  const references = Object.fromEntries(
    Object.entries<Field>(fields).flatMap(([field, { of, filter }]) =>
      filter && of !== undefined ? [[of, field]] : [],
    ),
  );
  const response = { status: 200, schema: schemas.object } as const;
  return [
    writeOperation({
      name: `create${name}`,
      summary: `Create ${one}`,
      method: "POST",
      path,
      additive: true,
      scope: writes,
      body: schemas.create,
      ...conflicts,
      response: { status: 201, schema: schemas.object },
      write: ({ body }, tx, context) => createObject(tx, context, kind, body as Record<string, unknown>),
    }),
    readOperation({
      name: `list${RESOURCES[kind].labels}`,
      summary: `List ${nounsOf(kind)}, newest first`,
      method: "GET",
      path,
      scope: reads,
      query: schemas.query,
      response: { status: 200, schema: schemas.list },
      read: (call, queries) => {
        const query = call.query as Record<string, unknown> & { query?: string };
        const { tenant } = call.caller;
        const filters = narrowed(query, references);
        return sendList(
          vault,
          kind,
          { ...call, query },
          (page) => pageOfObjects(queries, tenant, kind, { page, query: filters }),
          asJson(schemas.object),
          { foundFirst: (page) => objectOfUniqueValue(queries, tenant, kind, { page, query: filters }) },
        );
      },
    }),
    readOperation({
      name: `get${name}`,
      summary: `Retrieve ${one}`,
      method: "GET",
      path: `${path}/{id}`,
      scope: reads,
      response,
      read: ({ caller, id }, queries) => getObject(queries, caller.tenant, kind, id),
    }),
    ...(schemas.update === undefined
      ? []
      : [
          writeOperation({
            name: `update${name}`,
            summary: `Update ${one}; metadata is merged`,
            method: "PATCH",
            path: `${path}/{id}`,
            scope: writes,
            body: schemas.update,
            ...conflicts,
            response,
            write: ({ id, body }, tx, context) =>
              updateObjectFields(tx, context, kind, id, body as Record<string, unknown>),
          }),
        ]),
    ...(schemas.deleted === undefined
      ? []
      : [
          writeOperation({
            name: `delete${name}`,
            summary: `Delete ${one}`,
            method: "DELETE",
            path: `${path}/{id}`,
            scope: writes,
            response: { status: 200, schema: schemas.deleted },
            write: ({ id }, tx, context) => removeObject(tx, context, kind, id),
          }),
        ]),
    ...Object.entries(actions).map(([verb, { about }]) => {
      const body = schemas.actions[verb];
      return writeOperation({
        name: verb + name,
        summary: about,
        method: "POST",
        path: `${path}/{id}/${verb}`,
        scope: writes,
        ...(body === undefined ? {} : { body }),
        errors: ["invalid_transition"],
        response,
        write: ({ id, body: input }, tx, context) => actOnObject(tx, context, kind, { id, verb, input }),
      });
    }),
  ];
}
