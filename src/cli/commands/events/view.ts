import type { Event } from "../../../contract/schemas/event.ts";
import { type Column, textOf } from "../../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID } from "../resource/columns.ts";
import { nounsFor, locationOf, type Resource } from "../resource/resource.ts";

const TYPE: Column<Event> = { label: "Type", text: ({ type }) => type, style: (text, styles) => styles.strong(text) };
const OBJECT: Column<Event> = { label: "Object", text: ({ data }) => textOf(data.object["id"]) };
const REQUEST: Column<Event> = { label: "Request", text: ({ request }) => request.id ?? "" };

export const EVENTS: Resource<Event> = {
  ...locationOf("event"),
  view: {
    ...nounsFor("event"),
    fields: ["id", "object", "type", "created", "livemode", "data", "request"],
    columns: [ID, TYPE, { ...OBJECT, optional: true }, CREATED],
    details: [ID, TYPE, OBJECT, REQUEST, ENVIRONMENT, CREATED_AT],
    block: { label: "Data", value: ({ data }) => data },
  },
};
