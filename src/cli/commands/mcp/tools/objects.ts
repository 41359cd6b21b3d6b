import {
  kindsWith,
  nounOf,
  nounsOf,
  type ObjectKind,
  pathOf,
  resourceOf,
  RESOURCES,
  withArticle,
} from "../../../../contract/resources.ts";
import { closed, idOf } from "../../../../contract/schemas/fields.ts";
import { OBJECT_SCHEMAS } from "../../../../contract/schemas/objects.ts";
import { apiTool, type Tool } from "../tool.ts";

/** Tools for the resources that are described by their fields in the table of resources. */
export const OBJECT_TOOLS: readonly Tool[] = kindsWith("fields").flatMap(toolsOf);

function toolsOf(kind: ObjectKind): Tool[] {
  const { events = [], statuses = {}, actions = {} } = resourceOf(kind);
  const { object, list, query, create, update, deleted, actions: bodies } = OBJECT_SCHEMAS[kind];
  const [one, path, { plural }] = [withArticle(nounOf(kind)), pathOf(kind), RESOURCES[kind]];
  const [reads, writes] = [`${plural}:read`, `${plural}:write`] as const;
  const id = { id: idOf(kind, { description: `ID of ${one}, ${RESOURCES[kind].prefix}…` }) };
  const emits = (change: string) => (events.includes(change) ? ` Emits ${kind}.${change}.` : "");
  return [
    apiTool({
      name: `create_${kind}`,
      description: `Create ${one}.${emits("created")}`,
      scope: writes,
      effect: "changes",
      method: "POST",
      path,
      input: create,
      output: object,
    }),
    apiTool({
      name: `list_${plural}`,
      description: `List ${nounsOf(kind)}, newest first.`,
      scope: reads,
      effect: "reads",
      method: "GET",
      path,
      input: query,
      output: list,
    }),
    apiTool({
      name: `get_${kind}`,
      description: `Retrieve ${one}.`,
      scope: reads,
      effect: "reads",
      method: "GET",
      path: `${path}/{id}`,
      input: closed(id),
      output: object,
    }),
    ...(update === undefined
      ? []
      : [
          apiTool({
            name: `update_${kind}`,
            description: `Update ${one}; metadata is merged.${emits("updated")}`,
            scope: writes,
            effect: "changes",
            idempotent: true,
            method: "PATCH",
            path: `${path}/{id}`,
            input: closed({ ...id, ...update.properties }),
            output: object,
          }),
        ]),
    ...(deleted === undefined
      ? []
      : [
          apiTool({
            name: `delete_${kind}`,
            description: `Delete ${one}.${emits("deleted")}`,
            scope: writes,
            effect: "removes",
            idempotent: true,
            method: "DELETE",
            path: `${path}/{id}`,
            input: closed(id),
            output: deleted,
          }),
        ]),
    ...Object.entries(actions).map(([verb, { about, to }]) =>
      apiTool({
        name: `${verb}_${kind}`,
        description: `${about}.${emits(to)}`,
        scope: writes,
        effect: statuses[to] === "good" ? "changes" : "removes",
        idempotent: true,
        method: "POST",
        path: `${path}/{id}/${verb}`,
        input: closed({ ...id, ...bodies[verb]?.properties }),
        output: object,
      }),
    ),
  ];
}
