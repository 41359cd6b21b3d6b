import { LIMITS } from "../../contract/limits.ts";
import { acceptedAll, type Check } from "../check.ts";
import type { SampleEvent } from "../sample-events.ts";

const COMMON = {
  group: "Raw body",
  level: "required",
  explanation:
    "The signature covers the raw bytes. JSON that was parsed and serialized again has other bytes, so valid deliveries are rejected.",
  fix: "Verify the raw request body, before any JSON parser reads it: register the route before express.json(), or keep the bytes.",
} as const;

/** A valid delivery whose bytes change if a parser writes them again. */
function spelled(id: string, title: string, what: string, spell: (event: SampleEvent) => string): Check {
  return {
    ...COMMON,
    id,
    title,
    async run(subject) {
      const event = subject.event();
      const response = await subject.deliver(event, { body: spell(event) });
      return acceptedAll(`A valid delivery ${what}`, [{ name: what, response }]);
    },
  };
}

/** Returns the event's JSON with more members in `data.object`, as text. */
function withMembers(event: SampleEvent, members: string): string {
  return JSON.stringify(event).replace('"data":{"object":{', `"data":{"object":{${members},`);
}

export const RAW_BODY: readonly Check[] = [
  spelled(
    "body-spacing",
    "Accepts a body with odd spacing",
    "with tabs, line ends and spaces between its tokens",
    (event) => `\n ${JSON.stringify(event, undefined, "\t ").replaceAll('": ', '" :  ')}\r\n`,
  ),
  spelled(
    "body-unicode",
    "Accepts a body with non-ASCII characters",
    "with raw and escaped characters, an emoji and a combining accent",
    (event) => withMembers(event, String.raw`"note":"Zoë 岡本 🎉 e${"\u0301"} \u00e9\ud83c\udf89\u0041"`),
  ),
  spelled("body-escaped-slashes", "Accepts a body with escaped slashes", String.raw`that writes / as \/`, (event) =>
    withMembers(event, String.raw`"page":"https:\/\/example.com\/orders\/1"`),
  ),
  spelled(
    "body-large-numbers",
    "Accepts a body with large and odd numbers",
    "with 12345678901234567890, 1.0, 1E+2 and 0.30000000000000000001",
    (event) => withMembers(event, `"numbers":[12345678901234567890,1.0,1E+2,0.30000000000000000001,-0]`),
  ),
  {
    ...COMMON,
    id: "body-one-mebibyte",
    title: "Accepts a body of 1 MiB",
    explanation: "Many parsers have a default limit of 100 kB, so larger events are always rejected.",
    fix: "Raise the limit of the body parser or proxy for this route to 1 MiB (express.raw({ limit: '1mb' })).",
    async run(subject) {
      const event = subject.event();
      event.data.object["note"] = "";
      const available = LIMITS.bodyBytes - JSON.stringify(event).length;
      event.data.object["note"] = "0123456789abcdef".repeat(available / 16 + 1).slice(0, available);
      const response = await subject.deliver(event);
      return acceptedAll("A valid delivery of 1,048,576 bytes", [{ name: "1 MiB", response }]);
    },
  },
];
