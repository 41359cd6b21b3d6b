import type { Scheme } from "../webhooks/schemes.ts";

export const PARSED_BODY_FIX =
  "Verify the raw request body, before any JSON parser reads it: register the route before express.json(), or keep the bytes.";

export const NO_SECRET_FIX =
  "The receiver has no secret: check that its variable is set, and under which name it is read.";

interface Saying {
  /** Error messages of the libraries of Stripe, Svix, Standard Webhooks, GitHub or Shopify, or of `node:crypto`. */
  pattern: RegExp;
  fix: (header: string) => string;
}

const SAYINGS: readonly Saying[] = [
  {
    pattern: /parsed JavaScript object|string or (?:a )?Buffer|payload must be a string|missing_body/i,
    fix: () => PARSED_BODY_FIX,
  },
  {
    pattern: /secret, eventPayload & signature required/,
    fix: (header) =>
      `The receiver does not find ${header}, or has no secret or no body: check the name of the header, its variable, and that it reads the raw body.`,
  },
  {
    pattern: /no webhook payload was provided|"data" argument must be .* received undefined/i,
    fix: () =>
      "The receiver passes no body to its library: read the raw body, whatever its Content-Type (in Express, express.raw({ type: '*/*' })).",
  },
  {
    pattern:
      /no webhook secret value|secret (?:can't be empty|to be of type)|"key" argument must be .* received undefined/i,
    fix: () => NO_SECRET_FIX,
  },
  {
    pattern: /no stripe-signature header value|missing required headers|missing_(?:hmac|headers)/i,
    fix: (header) =>
      `The receiver does not find ${header}: in Node.js, the names of headers are in lower case (request.headers["${header.toLowerCase()}"]).`,
  },
];

/** Returns the fix of the mistake that a library's message in a receiver's response describes. */
export function saidMistake(response: string, { signature }: Scheme): string | undefined {
  return SAYINGS.find(({ pattern }) => pattern.test(response))?.fix(signature.header);
}
