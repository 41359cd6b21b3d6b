// Prints src/testing/event-samples.json: the object of each event type, with the examples of the schemas.
import { EVENT_TYPES } from "../src/contract/event-types.ts";
import { sampleObject } from "../src/platform/api/openapi/examples.ts";

process.stdout.write(
  JSON.stringify(Object.fromEntries(EVENT_TYPES.map((type) => [type, sampleObject(type)])), null, 2),
);
