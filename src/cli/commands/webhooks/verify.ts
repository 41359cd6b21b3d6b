import { apiPath } from "../../../client/base-url.ts";
import { memberNamesOf } from "../../../client/response-check.ts";
import { HEADERS } from "../../../contract/headers.ts";
import { pathOf } from "../../../contract/resources.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { valueAt } from "../../../contract/json.ts";
import { idIn } from "../../../receiver-check/samples.ts";
import type { SignatureError, WebhookEvent } from "../../../webhooks/index.ts";
import { type DeliveryHeaders, type Scheme, SCHEMES } from "../../../webhooks/schemes.ts";
import { parseHeaders } from "../../arguments/headers.ts";
import { collect } from "../../arguments/repeated.ts";
import { secondsOf } from "../../../contract/durations.ts";
import { objectId, wholeNumber } from "../../arguments/values.ts";
import { type CommandDefinition, flag } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UsageError, UserError } from "../../errors.ts";
import { SCHEME_FLAG, type SchemeFlag, schemeNamed } from "../../receivers/scheme.ts";
import type { OtherMatch } from "./mismatch.ts";
import { SECRET_FLAGS, SECRET_VARIABLE, type SecretFlags, secretsIfGiven, secretsOf } from "../../receivers/secrets.ts";
import type { Column, ResourceView } from "../../terminal/view.ts";

interface VerifyFlags extends SecretFlags, SchemeFlag {
  header?: string[];
  payload?: string;
  delivery?: string;
  tolerance?: number;
  now?: number;
}

/** A header is often copied with its name. */
const HEADER_NAME = new RegExp(`^${HEADERS.signature}:`, "i");

const VERIFIED: ResourceView<WebhookEvent> = {
  noun: "event",
  fields: memberNamesOf("Event"),
  details: [
    { label: "Event", text: ({ id }) => id },
    { label: "Type", text: ({ type }) => type },
    { label: "Created", text: ({ created }) => created },
  ],
};

/** What `verify --scheme` prints. */
interface VerifiedView {
  scheme: string;
  id: string | null;
  timestamp: number | null;
}

const DELIVERY_DETAILS: readonly Column<VerifiedView>[] = [
  { label: "Scheme", text: ({ scheme }) => scheme },
  { label: "ID", text: ({ id }) => id ?? "" },
  { label: "Timestamp", text: ({ timestamp }) => String(timestamp ?? "") },
];

const VERIFIED_DELIVERY: ResourceView<VerifiedView> = { noun: "delivery", fields: ["scheme", "id", "timestamp"] };

const ALL_FIELDS = [...new Set([...VERIFIED_DELIVERY.fields, ...VERIFIED.fields])];

/** `service webhooks verify`. */
export const verification: CommandDefinition = {
  name: "verify",
  about: "Verify a delivery, and report the rule that failed",
  options: [
    ...SECRET_FLAGS,
    SCHEME_FLAG,
    flag(
      "--header <header>",
      "Value of the signature's header, or headers of the delivery, one 'Name: value' per line (repeatable)",
      { collect },
    ),
    flag("--payload <file>", "File with the raw body of the delivery; - for stdin"),
    flag("--delivery <id>", "Delivery to verify as its endpoint received it, instead of --header and --payload", {
      parse: objectId,
      conflicts: ["header", "payload", "scheme", "tolerance", "now"],
    }),
    flag("--tolerance <duration>", "Maximum age of the signature, such as 5m or 300 (default: that of the scheme)", {
      parse: (text) => secondsOf(text) ?? wholeNumber(0)(text),
    }),
    flag("--now <seconds>", "Unix time to verify at (default: now)", { parse: wholeNumber(0) }),
  ],
  notes: "\nWithout --scheme, the fields are those of the event; with it, scheme, id and\ntimestamp.\n",
  fields: { noun: "delivery", fields: ALL_FIELDS },
  examples: [
    "service webhooks verify --secret whsec_… --header 't=1764590400,v1=5257a8…' --payload body.json",
    'service webhooks verify --secret whsec_… --header "$HEADER" --payload - < body.json # Read the body from stdin',
    "service webhooks verify --delivery dlv_4Vf8aTqz0bKm2sNw9XyRcd # Verify what the platform sent",
    "service webhooks verify --scheme github --header 'X-Hub-Signature-256: sha256=5257a8…' --payload body.json # As GitHub signs",
  ],
  run: runVerify,
};

async function runVerify(context: Context, flags: VerifyFlags): Promise<void> {
  if (flags.delivery !== undefined) return await verifyDelivered(flags.delivery, flags, context);
  const { header, payload: file } = flags;
  if (header === undefined || file === undefined) {
    throw new UsageError("Pass --header and --payload, or --delivery with the ID of a delivery");
  }
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const secrets = await secretsOf(flags, context);
  const payload = await context.readInput(file, "--payload");
  const { verify } = await import("../../../webhooks/schemes.ts");
  const { parseEvent } = await import("../../../webhooks/event.ts");
  const { SignatureError } = await import("../../../webhooks/index.ts");
  const { output } = context;
  const { tolerance, now = Math.floor(context.now() / 1000) } = flags;
  const headers = headersOf(header, scheme, flags);
  const given = { scheme, payload, headers, secrets, tolerance, now };
  try {
    const { timestamp = null, id } = verify(given);
    const event = flags.scheme === undefined ? parseEvent(payload) : undefined;
    output.success("The signature is valid");
    if (event !== undefined) return await output.object(event, VERIFIED);
    const delivery = { scheme: scheme.name, id: id ?? idIn(payload, scheme) ?? null, timestamp };
    const details = DELIVERY_DETAILS.filter(({ label }) => valueAt(delivery, label.toLowerCase()) !== null);
    await output.object(delivery, { ...VERIFIED_DELIVERY, details });
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    if (error.code === "header_missing") throw headerMissing(error, headers, scheme);
    if (error.code !== "signature_mismatch") throw verificationFailed(error);
    const { findMismatch, formattedHint } = await import("./mismatch.ts");
    const found = findMismatch(given);
    throw verificationFailed(error, found, found?.fix ?? formattedHint(payload));
  }
}

/** Verifies what an endpoint received, so that only the secret can be wrong. */
async function verifyDelivered(id: string, flags: VerifyFlags, context: Context): Promise<void> {
  const { output } = context;
  const { endpoint, headers, payload, signedAt: now } = await deliveredRequest(id, context);
  const secrets = (await secretsIfGiven(flags, context)) ?? [await askSecret(endpoint, context)];
  const { verify } = await import("../../../webhooks/schemes.ts");
  const { parseEvent } = await import("../../../webhooks/event.ts");
  const { SignatureError } = await import("../../../webhooks/index.ts");
  try {
    verify({ scheme: "service", payload, headers, secrets, now });
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    if (error.code !== "signature_mismatch") throw verificationFailed(error);
    throw new UserError(`Delivery ${id} was signed with another secret`, {
      code: error.code,
      hint: shellCommand`Set the secret of ${endpoint} in the receiver. If it is lost: service endpoints rotate-secret ${endpoint}`,
      cause: error,
    });
  }
  output.success(`The secret is right: delivery ${id} was signed with it`);
  await output.object(parseEvent(payload), VERIFIED);
  output.note("\nIf the receiver still rejects it, verify the raw body there, before anything parses it.");
}

async function askSecret(endpoint: string, { interactive, output, prompts }: Context): Promise<string> {
  const why = `The signing secret that your receiver uses for ${endpoint} is needed: the platform showed the endpoint's secret once, at its creation, and only the receiver has it now.`;
  const how = `To give it without being asked, pass --secret-file FILE or --secret, or set ${SECRET_VARIABLE}.`;
  if (!interactive) throw new UsageError("No signing secret to compare with", { hint: `${why}\n${how}` });
  output.note(`${why} It is compared on this machine and sent nowhere.\n${how}\n`);
  return await prompts.secret({ message: "Signing secret of the receiver (whsec_…)", flag: "--secret" });
}

/** The flag was forgotten, while the library suspects the request. */
function headerMissing(cause: SignatureError, headers: DeliveryHeaders, { name, ...scheme }: Scheme): UsageError {
  const { signature, timestamp, id, signed } = scheme;
  const given = new Headers(headers as Record<string, string>);
  const missing = [signature.header, timestamp?.header, signed.includes("{id}") ? id?.header : undefined].filter(
    (header) => header !== undefined && !given.has(header),
  );
  const older = signature.header.replace(/-256$/, "");
  const hint = given.has(older) ? `${older} is the older signature, with SHA-1.` : undefined;
  return new UsageError(`--header: ${name} also sends ${missing.join(" and ")}: pass each header of the delivery`, {
    code: cause.code,
    hint,
    cause,
  });
}

/** What to do if nothing else is known. */
function adviceOn(code: string): string | undefined {
  if (code === "timestamp_too_old" || code === "timestamp_in_future") {
    return "To verify a stored delivery, pass its timestamp with --now, or a larger --tolerance.";
  }
  return /^(?:header|signature|timestamp)_(?!mismatch)/.test(code)
    ? "Pass the header exactly as the receiver got it."
    : undefined;
}

function verificationFailed(
  error: SignatureError,
  other?: OtherMatch,
  advice = other?.fix ?? adviceOn(error.code),
): UserError {
  const rule = `Rule: ${error.code}`;
  return new UserError(
    `Verification failed: ${other === undefined ? error.message : `the signature matches ${other.matches}`}`,
    { code: error.code, hint: advice === undefined ? rule : `${advice}\n${rule}`, cause: error },
  );
}

/** The lines may be pasted together. One without a name is the value of the signature's header. */
function headersOf(given: readonly string[], { signature }: Scheme, { scheme }: SchemeFlag): DeliveryHeaders {
  const lines = given.flatMap((text) => text.split(/\r?\n/)).filter((line) => !NO_HEADER.test(line));
  const has = (header: string): boolean => lines.some((line) => isNamed(line, header));
  const other = Object.entries(SCHEMES).find(([, known]) => has(known.signature.header));
  if (other !== undefined && !has(signature.header)) {
    const [name, known] = other;
    throw new UsageError(`${known.signature.header} is the header of ${known.name}: pass --scheme ${name}`);
  }
  if (scheme === undefined) {
    const own = lines.length === 1 ? lines : lines.filter((line) => !line.includes(":") || HEADER_NAME.test(line));
    const values = own.map((line) => line.replace(HEADER_NAME, ""));
    return { [HEADERS.signature]: values.length === 1 ? values[0] : values };
  }
  return new Headers(parseHeaders(lines.map((line) => (line.includes(":") ? line : `${signature.header}: ${line}`))));
}

const isNamed = (line: string, header: string): boolean => line.toLowerCase().startsWith(`${header.toLowerCase()}:`);

/** An empty line, or the line of a request above its headers. */
const NO_HEADER = /^\s*$|^[A-Z]+ \S+ HTTP\/\d/;

/** Reads the last request of a delivery from the platform. Throws UserError if none was sent to an endpoint. */
async function deliveredRequest(id: string, context: Context) {
  const client = await context.client();
  const path = pathOf("delivery") + apiPath`/${id}`;
  const { body: delivery } = await client.request<Delivery>({ method: "GET", path });
  const signature = delivery.attempts?.findLast(({ request_headers: headers }) => headers !== null)?.request_headers?.[
    HEADERS.signature
  ];
  const { endpoint } = delivery;
  if (endpoint === null) {
    const hint = "Compare the secrets instead: service listen --print-secret";
    const message = `Delivery ${id} was sent by a listener, whose signatures are not stored`;
    throw new UserError(message, { code: "signature_not_stored", hint });
  }
  if (signature === undefined) {
    const hint = shellCommand`See its attempts: service deliveries get ${id}`;
    throw new UserError(`Delivery ${id} has not been sent yet`, { code: "not_sent", hint });
  }
  const { text } = await client.request({ method: "GET", path: pathOf("event") + apiPath`/${delivery.event}` });
  return {
    endpoint,
    headers: { [HEADERS.signature]: signature },
    payload: Buffer.from(text),
    /** Unix seconds. */
    signedAt: Number(/t=(\d+)/.exec(signature)?.[1]),
  };
}
