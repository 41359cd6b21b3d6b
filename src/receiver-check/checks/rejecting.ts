import { type Check, rejectedAll, type Variant } from "../check.ts";
import type { Deviation, Subject } from "../subject.ts";

type Deviations = readonly (readonly [name: string, deviation: Deviation])[];

interface RejectionCheck extends Pick<Check, "id" | "title" | "explanation" | "fix"> {
  sent: string;
  forgery?: true;
  deviations: (subject: Subject) => Deviations;
}

/** Deliveries that only a receiver without verification accepts. */
function rejectionCheck({ sent, deviations, ...check }: RejectionCheck): Check {
  return {
    ...check,
    group: "Refusing",
    level: "required",
    together: true,
    async run(subject) {
      const variants = await Promise.all(
        deviations(subject).map(async ([name, deviation]): Promise<Variant> => ({
          name,
          response: await subject.deliver(subject.event(), deviation),
        })),
      );
      return rejectedAll(sent, variants);
    },
  };
}

/** Returns the valid header with its `v1` in another form. */
function withV1(change: (v1: string) => string): Deviation {
  return { header: (right) => right.replace(/v1=([0-9a-f]{64})/, (_all, v1: string) => `v1=${change(v1)}`) };
}

const UNVERIFIED = "Anyone who knows the URL can send forged events to the application.";

export const REJECTING: readonly Check[] = [
  rejectionCheck({
    id: "no-signature",
    title: "Rejects a delivery without a signature",
    explanation: UNVERIFIED,
    fix: "Respond with 400 if the Service-Signature header is absent.",
    forgery: true,
    sent: "A delivery without the Service-Signature header",
    deviations: () => [["no header", { header: () => undefined }]],
  }),
  rejectionCheck({
    id: "malformed-header",
    title: "Rejects a malformed header",
    explanation: "A header that cannot be parsed proves nothing about the delivery.",
    fix: "Respond with 400 unless the header contains one t and at least one v1.",
    forgery: true,
    sent: "Headers that read `hello`, only t, only v1, and `t:…;v1:…`",
    deviations: () => [
      ["hello", { header: () => "hello" }],
      ["only t", { header: (right) => right.slice(0, right.indexOf(",")) }],
      ["only v1", { header: (right) => right.slice(right.indexOf(",") + 1) }],
      ["colons", { header: (right) => right.replaceAll("=", ":").replaceAll(",", ";") }],
    ],
  }),
  rejectionCheck({
    id: "wrong-secret",
    title: "Rejects a signature made with another secret",
    explanation: UNVERIFIED,
    fix: "Compute the HMAC with the endpoint's secret and compare it with v1.",
    forgery: true,
    sent: "A delivery signed with a secret that the receiver does not have",
    deviations: ({ secrets }) => [["another secret", { secrets: [secrets.foreign] }]],
  }),
  rejectionCheck({
    id: "changed-body",
    title: "Rejects a body that was changed after signing",
    explanation: "An attacker with one valid delivery could send it again with other contents.",
    fix: "Compute the HMAC over `<t>.<raw body>` with the whole body.",
    forgery: true,
    sent: "A delivery whose livemode was changed to true after signing",
    deviations: (subject) => {
      const signedBody = JSON.stringify(subject.event());
      return [["changed", { signedBody, body: signedBody.replace('"livemode":false', '"livemode":true ') }]];
    },
  }),
  rejectionCheck({
    id: "v1-other-length",
    title: "Rejects a v1 of another length",
    explanation: "A truncated or extended signature is not valid.",
    fix: "Check that v1 has 64 characters before it is compared: constant-time comparisons throw on unequal lengths.",
    forgery: true,
    sent: "A valid delivery whose v1 was cut to 62 and to 2 digits, and one with 2 digits more",
    deviations: () => [
      ["62 digits", withV1((v1) => v1.slice(0, 62))],
      ["2 digits", withV1((v1) => v1.slice(0, 2))],
      ["66 digits", withV1((v1) => `${v1}00`)],
    ],
  }),
  rejectionCheck({
    id: "v1-not-hex",
    title: "Rejects a v1 that is not hex",
    explanation: "Hex decoders often stop at the first invalid character, and return a shorter value.",
    fix: "Check that v1 consists of 64 hex digits before it is decoded and compared.",
    forgery: true,
    sent: "Deliveries whose v1 is 64 times z, and a valid one whose v1 ends in zz",
    deviations: () => [
      ["64 times z", withV1((v1) => "z".repeat(v1.length))],
      ["zz at its end", withV1((v1) => `${v1.slice(0, 62)}zz`)],
    ],
  }),
  rejectionCheck({
    id: "v1-empty",
    title: "Rejects an empty v1",
    explanation: "A comparison that stops at the shorter value considers an empty one a match.",
    fix: "Check that v1 has 64 characters before it is compared.",
    forgery: true,
    sent: "A delivery whose header ends in `v1=`",
    deviations: () => [["v1=", withV1(() => "")]],
  }),
];
