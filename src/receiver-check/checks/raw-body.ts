import { LIMITS } from "../../contract/limits.ts";
import { rewriteJson } from "../../contract/rewrite-json.ts";
import { acceptedAll, type Check } from "../check.ts";
import { isJsonObject, isPlatform, type Provider } from "../samples.ts";

export const PARSED_BODY_FIX =
  "Verify the raw request body, before any JSON parser reads it: register the route before express.json(), or keep the bytes.";

const COMMON = {
  group: "Raw body",
  level: "required",
  explanation:
    "The signature covers the raw bytes. JSON that was parsed and serialized again has other bytes, so valid deliveries are rejected.",
  fix: PARSED_BODY_FIX,
} as const;

/** A valid delivery whose bytes change if a parser writes them again. */
function spelled(id: string, title: string, what: string, spell: (body: string) => string): Check {
  return {
    ...COMMON,
    id,
    title,
    async run(subject) {
      const sample = subject.sample();
      const response = await subject.deliver(sample, { body: spell(sample.body as string) });
      return acceptedAll(`A valid delivery ${what}`, [{ name: what, response }]);
    },
  };
}

/** Returns the JSON of an object with more members. */
export function withMembers(json: string, members: string): string {
  return `{${members}${json.replace("{", ",").replace(/^,}$/, "}")}`;
}

const SPELLED: readonly Check[] = [
  spelled(
    "body-spacing",
    "Accepts a body with odd spacing",
    "with tabs, line ends and spaces between its tokens",
    (body) => `\n ${rewriteJson(body, (value) => value, "\t ").replaceAll('": ', '" :  ')}\r\n`,
  ),
  spelled(
    "body-unicode",
    "Accepts a body with non-ASCII characters",
    "with raw and escaped characters, an emoji and a combining accent",
    (body) => withMembers(body, String.raw`"note":"Zoë 岡本 🎉 e${"\u0301"} \u00e9\ud83c\udf89\u0041"`),
  ),
  spelled("body-escaped-slashes", "Accepts a body with escaped slashes", String.raw`that writes / as \/`, (body) =>
    withMembers(body, String.raw`"page":"https:\/\/example.com\/orders\/1"`),
  ),
  spelled(
    "body-large-numbers",
    "Accepts a body with large and odd numbers",
    "with 12345678901234567890, 1.0, 1E+2 and 0.30000000000000000001",
    (body) => withMembers(body, `"numbers":[12345678901234567890,1.0,1E+2,0.30000000000000000001,-0]`),
  ),
];

const MEBIBYTE: Check = {
  ...COMMON,
  id: "body-one-mebibyte",
  title: "Accepts a body of 1 MiB",
  explanation: "Many parsers have a default limit of 100 kB, so larger events are always rejected.",
  fix: "Raise the limit of the body parser or proxy for this route to 1 MiB (express.raw({ limit: '1mb' })).",
  async run(subject) {
    const sample = subject.sample();
    const body = sample.body as string;
    const available = LIMITS.bodyBytes - Buffer.byteLength(withMembers(body, '"note":""'));
    const note = "0123456789abcdef".repeat(Math.max(0, available) / 16 + 1).slice(0, Math.max(0, available));
    const response = await subject.deliver(sample, { body: withMembers(body, `"note":"${note}"`) });
    return acceptedAll("A valid delivery of 1,048,576 bytes", [{ name: "1 MiB", response }]);
  },
};

/** Other providers promise no maximum size of a body. */
export function rawBody(provider: Provider): readonly Check[] {
  const mebibyte: Check = { ...MEBIBYTE, level: isPlatform(provider) ? "required" : "advisory" };
  const isObject = provider.template === undefined || isJsonObject(provider.template.sample(0).body);
  const notApplicable = !isObject && "The payload is not a JSON object";
  return [...SPELLED, mebibyte].map((check) => ({ ...check, notApplicable }));
}
