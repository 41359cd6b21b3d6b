import { LIMITS } from "../../contract/limits.ts";
import { rewriteJson } from "../../contract/rewrite-json.ts";
import { acceptedAll, type Check } from "../check.ts";
import { isRejected } from "../exchange.ts";
import { isForm, isJsonObject, isPlatform, type Provider } from "../samples.ts";
import { bodyMistake, PARSED_BODY_FIX } from "../signing-mistake.ts";

const COMMON = {
  group: "Raw body",
  level: "required",
  explanation:
    "The signature covers the raw bytes. A body that was parsed and serialized again has other bytes, so valid deliveries are rejected.",
  fix: PARSED_BODY_FIX,
} as const;

/** A spelling whose bytes change if a parser writes them again. */
interface Spelling {
  what: string;
  spell: (body: string) => string;
}

/** A valid delivery with a spelling of JSON or of a form. */
function spelled(id: string, title: string, json: Spelling, form?: Spelling): SpelledCheck {
  return {
    ...COMMON,
    id,
    title,
    hasForm: form !== undefined,
    async run(subject) {
      const sample = subject.sample();
      const { what, spell } = form !== undefined && isForm(sample.body) ? form : json;
      const body = spell(sample.body as string);
      const response = await subject.deliver(sample, { body });
      const finding = acceptedAll(`A valid delivery ${what}`, [{ name: what, response }]);
      const mistake = isRejected(response) ? await bodyMistake(subject, body) : undefined;
      return mistake === undefined ? finding : { ...finding, fix: mistake };
    },
  };
}

interface SpelledCheck extends Check {
  hasForm: boolean;
}

/** Returns the JSON of an object with more members. */
export function withMembers(json: string, members: string): string {
  return `{${members}${json.replace("{", ",").replace(/^\s*,\s*}\s*$/, "}")}`;
}

const SPELLED: readonly SpelledCheck[] = [
  spelled(
    "body-spacing",
    "Accepts a body with odd spacing",
    {
      what: "with tabs, line ends and spaces between its tokens",
      spell: (body) => `\n ${rewriteJson(body, (value) => value, "\t ").replaceAll('": ', '" :  ')}\r\n`,
    },
    { what: "with spaces as + and as %20", spell: (body) => `${body}&note=a+b%20c` },
  ),
  spelled(
    "body-unicode",
    "Accepts a body with non-ASCII characters",
    {
      what: "with raw and escaped characters, an emoji and a combining accent",
      spell: (body) => withMembers(body, String.raw`"note":"Zoë 岡本 🎉 e${"\u0301"} \u00e9\ud83c\udf89\u0041"`),
    },
    {
      what: "with escaped characters, an emoji and a letter",
      spell: (body) => `${body}&note=Zo%C3%AB+%F0%9F%8E%89+%41`,
    },
  ),
  spelled(
    "body-escaped-slashes",
    "Accepts a body with escaped slashes",
    {
      what: String.raw`that writes / as \/`,
      spell: (body) => withMembers(body, String.raw`"page":"https:\/\/example.com\/orders\/1"`),
    },
    { what: "that writes / as %2F and as %2f", spell: (body) => `${body}&page=https%3A%2F%2fexample.com%2forders` },
  ),
  spelled("body-large-numbers", "Accepts a body with very large and unusual numbers", {
    what: "with 12345678901234567890, 1.0, 1E+2 and 0.30000000000000000001",
    spell: (body) => withMembers(body, `"numbers":[12345678901234567890,1.0,1E+2,0.30000000000000000001,-0]`),
  }),
];

const MEBIBYTE: Check = {
  ...COMMON,
  id: "body-one-mebibyte",
  title: "Accepts a body of 1 MiB",
  explanation: "Many parsers have a default limit of 100 kB, so larger events are always rejected.",
  fix: "Raise the limit of the body parser or proxy for this route to 1 MiB (in Express, the option `limit: '1mb'` of its parser).",
  async run(subject) {
    const sample = subject.sample();
    const withNote = (note: string): string =>
      isForm(sample.body)
        ? `${sample.body as string}&note=${note}`
        : withMembers(sample.body as string, `"note":"${note}"`);
    const available = Math.max(0, LIMITS.bodyBytes - Buffer.byteLength(withNote("")));
    const note = "0123456789abcdef".repeat(available / 16 + 1).slice(0, available);
    const response = await subject.deliver(sample, { body: withNote(note) });
    return acceptedAll("A valid delivery of 1,048,576 bytes", [{ name: "1 MiB", response }]);
  },
};

/** Other providers promise no maximum size of a body. */
export function rawBody(provider: Provider): readonly Check[] {
  const mebibyte: Check = { ...MEBIBYTE, level: isPlatform(provider) ? "required" : "advisory" };
  const body = provider.template?.sample(0).body ?? "{}";
  const checks = [...SPELLED, { ...mebibyte, hasForm: true }];
  return checks.map(({ hasForm, ...check }) => ({
    ...check,
    notApplicable: !isJsonObject(body) && !(hasForm && isForm(body)) && "The payload is not a JSON object",
  }));
}
