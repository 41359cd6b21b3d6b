import { type Check, rejectedAll, type Variant } from "../check.ts";
import { isJsonObject, type Provider, type Sample } from "../samples.ts";
import type { Deviation, Subject } from "../subject.ts";
import { SIGNATURE_LENGTHS, termsOf } from "../signing-mistake.ts";
import { withMembers } from "./raw-body.ts";

type Deviations = readonly (readonly [name: string, deviation: Deviation])[];

interface RejectionCheck extends Pick<Check, "id" | "title" | "explanation" | "fix"> {
  sent: string;
  deviations: (subject: Subject) => Deviations;
}

/** Deliveries that only a receiver without verification accepts. */
function rejectionCheck({ sent, deviations, ...check }: RejectionCheck): Check {
  return {
    ...check,
    group: "Rejecting",
    level: "required",
    forgery: true,
    together: true,
    async run(subject) {
      const variants = await Promise.all(
        deviations(subject).map(async ([name, deviation]): Promise<Variant> => ({
          name,
          response: await subject.deliver(subject.sample(), deviation),
        })),
      );
      return rejectedAll(sent, variants);
    },
  };
}

const FORGEABLE = "Anyone who knows the URL can send forged events to the application.";

const VERIFY_FIRST =
  "Verify the signature first, and respond with 400 unless it is valid. If the receiver does verify it, the result is lost: await the function if it returns a promise, and respond with 400 where its error is caught.";

/** Replace the text of each check if the receiver responds with 2xx to a signature made with any secret. */
export const UNVERIFIED = {
  unknown: {
    explanation:
      "The receiver responds with 2xx to a signature made with any secret. If it processes such deliveries, anyone who knows the URL can send forged events to the application: --effects or --probe shows it.",
    fix: VERIFY_FIRST,
  },
  processed: {
    explanation: `The receiver processes a delivery that was signed with any secret. ${FORGEABLE}`,
    fix: VERIFY_FIRST,
  },
  dropped: {
    explanation:
      "The receiver responds with 2xx to a delivery that it does not process. If its secret is wrong, the provider counts all deliveries as received and sends none of them again.",
    fix: "Respond with 400 where the verification fails, instead of 2xx.",
    broken: true,
  },
};

/** Returns other contents with the same ID. */
function changed({ body }: Sample): string | Uint8Array {
  if (isJsonObject(body)) return withMembers(body, '"changed":true');
  return Buffer.concat([Buffer.from(body), Buffer.from(" ")]);
}

export function rejecting({ scheme }: Provider): readonly Check[] {
  const { v1, signature } = termsOf(scheme);
  const { header, prefix = "", encoding, separator } = scheme.signature;
  const length = SIGNATURE_LENGTHS[encoding];
  const { unit, wrong } = encoding === "hex" ? { unit: "digits", wrong: "z" } : { unit: "characters", wrong: "!" };
  const isList = scheme.timestamp?.prefix !== undefined && separator !== undefined;
  const timestampHeader = scheme.timestamp?.header;

  /** Returns the valid header with its last signature in another form. */
  function withV1(change: (v1: string) => string): Deviation {
    return {
      header: (right) => {
        const at = right.length - length;
        return right.slice(0, at) + change(right.slice(at));
      },
    };
  }

  return [
    rejectionCheck({
      id: "no-signature",
      title: "Rejects a delivery without a signature",
      explanation: FORGEABLE,
      fix: `Respond with 400 if the ${header} header is absent.`,
      sent: `A delivery without the ${header} header`,
      deviations: () => [["no header", { header: () => undefined }]],
    }),
    rejectionCheck({
      id: "malformed-header",
      title: "Rejects a malformed header",
      explanation: "A header that cannot be parsed proves nothing about the delivery.",
      fix: isList
        ? "Respond with 400 unless the header contains one t and at least one v1."
        : `Respond with 400 unless ${header} contains a signature${timestampHeader ? `, and ${timestampHeader} the Unix time` : ""}.`,
      sent: isList
        ? "Four malformed headers: `hello`, a t without v1, a v1 without t, and `t:…;v1:…`"
        : `Headers that read \`hello\`${timestampHeader ? `, and no ${timestampHeader}` : ""}`,
      deviations: () => [
        ["hello", { header: () => "hello" }],
        ...(isList
          ? ([
              ["only t", { header: (right) => right.slice(0, right.indexOf(separator)) }],
              ["only v1", { header: (right) => right.slice(right.indexOf(separator) + separator.length) }],
              ["colons", { header: (right) => right.replaceAll("=", ":").replaceAll(separator, ";") }],
            ] as Deviations)
          : []),
        ...(timestampHeader ? ([["no timestamp", { timestampHeader: undefined }]] as Deviations) : []),
      ],
    }),
    rejectionCheck({
      id: "wrong-secret",
      title: "Rejects a signature made with another secret",
      explanation: FORGEABLE,
      fix: `Compute the HMAC with the receiver's secret and compare it with ${v1 === "v1" ? v1 : `the ${v1}`}.`,
      sent: "A delivery signed with a secret that the receiver does not have",
      deviations: ({ secrets }) => [["another secret", { secrets: [secrets.foreign] }]],
    }),
    rejectionCheck({
      id: "changed-body",
      title: "Rejects a body that was changed after signing",
      explanation: "An attacker with one valid delivery could send it again with other contents.",
      fix: `Compute the HMAC over \`${scheme.signed}\` with the whole raw body.`,
      sent: "A delivery whose body was changed after signing",
      deviations: (subject) => {
        const sample = subject.sample();
        return [["changed", { signedBody: sample.body, body: changed(sample) }]];
      },
    }),
    rejectionCheck({
      id: "signature-wrong-length",
      title: `Rejects a ${signature} of the wrong length`,
      explanation: "A truncated or extended signature is not valid.",
      fix: `Check that the ${v1} has ${length} characters before it is compared: constant-time comparisons throw on unequal lengths.`,
      sent: `A valid delivery whose ${v1} was cut to ${length - 2} and to 2 ${unit}, and one with 2 ${unit} more`,
      deviations: () => [
        [`${length - 2} ${unit}`, withV1((value) => value.slice(0, -2))],
        [`2 ${unit}`, withV1((value) => value.slice(0, 2))],
        // Decoders of base64 ignore what follows the padding: the signature is still the right one.
        [`${length + 2} ${unit}`, withV1((value) => value.replace(/=?$/, "00$&"))],
      ],
    }),
    rejectionCheck({
      id: `signature-not-${encoding}`,
      title: `Rejects a ${signature} that is not ${encoding}`,
      explanation: "Decoders often stop at the first invalid character, or ignore it, and return a shorter value.",
      fix: `Check that the ${v1} consists of ${length} ${encoding} ${unit} before it is decoded and compared.`,
      sent: `Deliveries whose ${v1} is ${length} times ${wrong}, and a valid one whose ${v1} ends in ${wrong}${wrong}`,
      deviations: () => [
        [`${length} times ${wrong}`, withV1((value) => wrong.repeat(value.length))],
        [`${wrong}${wrong} at its end`, withV1((value) => value.slice(0, -2) + wrong + wrong)],
      ],
    }),
    rejectionCheck({
      id: "signature-empty",
      title: `Rejects an empty ${signature}`,
      explanation: "A comparison that stops at the shorter value considers an empty one a match.",
      fix: `Check that the ${v1} has ${length} characters before it is compared.`,
      sent: `A delivery whose header ends in \`${prefix}\``,
      deviations: () => [[prefix === "" ? "empty" : prefix, withV1(() => "")]],
    }),
  ];
}
