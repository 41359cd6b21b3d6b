import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Column } from "../../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID, statusColumn } from "../resource/columns.ts";
import { nounsFor, locationOf, type Resource } from "../resource/resource.ts";

const STATUS = statusColumn("delivery");
const TYPE: Column<Delivery> = {
  label: "Type",
  text: ({ event_type }) => event_type,
  style: (text, styles) => styles.strong(text),
};
const EVENT: Column<Delivery> = { label: "Event", text: ({ event }) => event };
const ATTEMPTS: Column<Delivery> = {
  label: "Attempts",
  text: ({ attempt_count }) => String(attempt_count),
  align: "right",
};
/** An endpoint, or a session of `service listen`. */
const RECEIVER: Column<Delivery> = {
  label: "Endpoint",
  text: ({ endpoint, listener }) => endpoint ?? listener ?? "",
};
/** On the sandbox's own clock, which a distance from now would get wrong. */
const NEXT: Column<Delivery> = { label: "Next attempt", text: ({ next_attempt }) => next_attempt ?? "" };

export const DELIVERIES: Resource<Delivery> = {
  ...locationOf("delivery"),
  view: {
    ...nounsFor("delivery"),
    fields: [
      "id",
      "object",
      "event",
      "event_type",
      "endpoint",
      "listener",
      "status",
      "attempt_count",
      "next_attempt",
      "livemode",
      "created",
      "attempts",
    ],
    columns: [
      ID,
      STATUS,
      { ...TYPE, shrinks: true },
      { ...ATTEMPTS, optional: true },
      { ...RECEIVER, optional: true },
      { ...EVENT, optional: true },
      { ...NEXT, optional: true },
      CREATED,
    ],
    details: [ID, STATUS, TYPE, EVENT, RECEIVER, NEXT, ENVIRONMENT, CREATED_AT],
  },
};
