import { memberNamesOf } from "../../client/response-check.ts";
import type { ListedEvent } from "../../contract/schemas/event.ts";
import { type Column, textOf } from "../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID } from "./columns.ts";
import { resourceFor } from "./resource.ts";

export function objectOf({ data }: ListedEvent): string {
  return data === null ? "(damaged)" : textOf(data.object["id"]);
}

const TYPE: Column<ListedEvent> = { label: "Type", text: ({ type }) => type, style: "strong" };
const OBJECT: Column<ListedEvent> = { label: "Object", text: objectOf };
const REQUEST: Column<ListedEvent> = {
  label: "Request",
  text: (event) => ("request" in event ? (event.request.id ?? "") : ""),
};

export const EVENTS = resourceFor<ListedEvent>("event", {
  fields: memberNamesOf("Event"),
  columns: [ID, TYPE, { ...OBJECT, optional: true }, { ...CREATED, optional: false }],
  details: [ID, TYPE, OBJECT, REQUEST, ENVIRONMENT, CREATED_AT],
  block: { label: "Data", value: ({ data }) => data },
});
