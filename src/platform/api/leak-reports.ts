import { createHash, verify } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { parseJson } from "../../contract/json.ts";
import { ApiError } from "../domain/api-error.ts";
import { endLeaked, type Leak } from "../domain/leaks.ts";
import type { With } from "../tools.ts";
import type { SigningKeys } from "../security/signing-keys.ts";
import { SigningKeysError } from "../errors.ts";

export const LEAK_REPORT_PATH = "/v1/leaked_keys/report";
export const LEAK_REPORT_NAME = "reportLeakedKeys";

const MAX_BYTES = 16 * 1024 * 1024;

/** Names the key that signed the report, as its publisher does. */
export const IDENTIFIER_HEADER = "Github-Public-Key-Identifier";
export const SIGNATURE_HEADER = "Github-Public-Key-Signature";

/** The partner's format, to which fields may be added. */
export const LeakReport = Type.Array(
  Type.Object({
    token: Type.String({ description: "The credential as it was found", examples: ["sk_live_…"] }),
    type: Type.String({ description: "The partner's name for this kind of credential", examples: ["service_api_key"] }),
    url: Type.Optional(
      Type.String({
        description: "Where it was found, for its owner",
        examples: ["https://code.example/app/.env"],
      }),
    ),
    source: Type.Optional(Type.String({ description: "Kind of place in which it was found", examples: ["content"] })),
  }),
  { $id: "LeakReport", description: "Credentials that were found in public" },
);

/** The result for each token, identified by its hash so that no response repeats a secret. */
export const LeakFeedback = Type.Array(
  Type.Object({
    token_hash: Type.String({
      description: "SHA-256 of the token, in hex",
      pattern: "^[0-9a-f]{64}$",
      examples: ["0".repeat(64)],
    }),
    token_type: Type.String({ description: "The `type` of the report", examples: ["service_api_key"] }),
    label: Type.Enum(["true_positive", "false_positive"], {
      description: "`true_positive` for a credential of this platform, which is revoked",
    }),
  }),
  {
    $id: "LeakFeedback",
    description: "The result for each token, in the report's order; entries without a token are skipped",
  },
);

/** Accepts signed reports of credentials that were found in public. They are revoked before the response. */
export function leakReportRoute(
  scope: FastifyInstance,
  { database, vault, clock, log, background }: With<"database" | "vault" | "clock" | "log" | "background">,
  keys: SigningKeys | undefined,
): void {
  const onBroken = (error: unknown) => background.failed("leak_report", {}, error);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("application/json", { parseAs: "buffer", bodyLimit: MAX_BYTES }, (_request, body, done) =>
    done(null, body),
  );

  // Before the body, which may be large: without a key, no body is read.
  const onRequest = async ({ raw }: FastifyRequest) => void (await signerOf(keys, raw));
  scope.post(LEAK_REPORT_PATH, { onRequest }, async (request): Promise<Static<typeof LeakFeedback>> => {
    const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { key, signature } = await signerOf(keys, request.raw);
    // ECDSA over P-256 with SHA-256, over the raw bytes.
    if (!verify("sha256", raw, key, signature)) throw unsigned("The signature does not match the body.");
    const leaks = readReport(raw);
    const real = await endLeaked({ database, vault, now: clock.now, onBroken }, leaks);
    const count = real.filter(Boolean).length;
    if (count > 0) log.warn({ count }, "credentials were found in public and revoked");
    return leaks.map(({ token, type }, index) => ({
      token_hash: createHash("sha256").update(token).digest("hex"),
      token_type: type,
      label: real[index] === true ? "true_positive" : "false_positive",
    }));
  });
}

/**
 * Parses a report that its publisher has signed. Skips unusable entries and replaces unprintable characters of URLs, so
 * that neither keeps the other credentials valid. Throws ApiError if there are no entries at all.
 */
function readReport(raw: Buffer): (Leak & { type: string })[] {
  const entries = parseJson(raw.toString("utf8"));
  if (entries === undefined) throw new ApiError("invalid_json", "The report is not valid JSON.");
  if (!Array.isArray(entries)) throw notAnArray();
  const textOf = (value: unknown) => (typeof value === "string" ? value : "");
  return (entries as ({ token?: unknown; type?: unknown; url?: unknown } | null)[]).flatMap((entry) => {
    const token = entry?.token;
    if (typeof token !== "string") return [];
    return [{ token, type: textOf(entry?.type), url: textOf(entry?.url).replaceAll(/\p{C}/gu, "\ufffd") }];
  });
}

export function notAnArray(): ApiError {
  return new ApiError("invalid_request", "The report must be an array.");
}

/** Returns the published key that a report names, and its signature. Throws ApiError. */
async function signerOf(keys: SigningKeys | undefined, { headersDistinct }: IncomingMessage) {
  const identifier = headersDistinct[IDENTIFIER_HEADER.toLowerCase()];
  const signature = headersDistinct[SIGNATURE_HEADER.toLowerCase()];
  if (identifier?.length !== 1 || signature?.length !== 1) {
    throw unsigned(`Send ${IDENTIFIER_HEADER} and ${SIGNATURE_HEADER}, each once.`);
  }
  if (keys === undefined) throw unsigned("This platform does not accept reports: it was started without --leak-keys.");
  let key;
  try {
    key = await keys.find(identifier[0]!);
  } catch (error) {
    if (!(error instanceof SigningKeysError)) throw error;
    throw new ApiError("unavailable", "The keys that reports are signed with cannot be read now.", {
      headers: { "Retry-After": "30" },
      cause: error,
    });
  }
  if (key === undefined) throw unsigned(`No key ${JSON.stringify(identifier[0]!.slice(0, 80))} is published.`);
  if (key.asymmetricKeyType !== "ec" || key.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
    throw unsigned("The published key is not an ECDSA P-256 key.");
  }
  return { key, signature: Buffer.from(signature[0]!, "base64") };
}

function unsigned(detail: string): ApiError {
  return new ApiError("invalid_signature", detail);
}
