import { acceptedAll, type Check, type Finding, skipped } from "../check.ts";
import { termsOf } from "../signing-mistake.ts";
import type { Provider } from "../samples.ts";
import type { Deviation, Subject } from "../subject.ts";

const COMMON = {
  group: "Rotation",
  level: "required",
} as const;

/** The other secret of the rotation: the receiver's own if both are known, else an unknown one. */
function other({ secrets }: Subject): string {
  return secrets.previous ?? secrets.foreign;
}

async function accepts(subject: Subject, sent: string, deviation: Deviation): Promise<Finding> {
  return acceptedAll(sent, [{ name: "", response: await subject.deliver(subject.sample(), deviation) }]);
}

/** A single signature can be that of one secret only, so these need a list. */
function inList({ scheme }: Provider): Pick<Check, "group" | "level" | "notApplicable" | "explanation" | "fix"> {
  const { v1 } = termsOf(scheme);
  return {
    ...COMMON,
    notApplicable: scheme.signature.separator === undefined && `${scheme.name} sends one signature`,
    explanation: `During a rotation, deliveries are signed with both secrets: the header contains two signatures, and either may be that of the receiver's secret.`,
    fix: `Read every ${v1} of the header, and accept the delivery if any of them matches.`,
  };
}

export function rotation(provider: Provider): readonly Check[] {
  const { scheme } = provider;
  const { t, v1 } = termsOf(scheme);
  const signatures = v1 === "v1" ? "signatures (v1)" : "signatures";
  const { prefix = "", separator = "" } = scheme.signature;
  const joint = prefix.slice(-1);
  return [
    {
      ...inList(provider),
      id: "two-signatures-own-first",
      title: `Accepts two ${signatures}, its own first`,
      run: (subject) =>
        accepts(subject, "A delivery signed with the receiver's secret, then with the other one", {
          secrets: [subject.secrets.current, other(subject)],
        }),
    },
    {
      ...inList(provider),
      id: "two-signatures-own-second",
      title: `Accepts two ${signatures}, its own second`,
      run: (subject) =>
        accepts(subject, "A delivery signed with another secret, then with the receiver's", {
          secrets: [subject.secrets.foreign, subject.secrets.current],
        }),
    },
    {
      ...COMMON,
      id: "previous-secret",
      title: "Accepts the previous secret alone",
      optional: true,
      explanation: "The receiver has two secrets, as during a rotation, but rejects what one of them signed.",
      fix: "Keep a list of secrets and try each of them.",
      async run(subject) {
        const { previous } = subject.secrets;
        const sent = "A delivery signed with the second secret alone";
        if (previous === undefined)
          return skipped(sent, "Configure two secrets in the receiver, and pass both to this check");
        return await accepts(subject, sent, { secrets: [previous] });
      },
    },
    {
      ...inList(provider),
      id: "unknown-schemes",
      title: "Ignores unknown schemes",
      explanation: "The header is a list, to which the signatures of a future scheme may be added.",
      fix: `Read ${scheme.timestamp?.prefix === undefined ? `the items that begin with \`${prefix}\`` : `the names ${t} and ${v1}`}, and ignore all others.`,
      run: (subject) =>
        accepts(subject, "A valid delivery whose header also contains v0 and v2", {
          header: (right) => {
            const items = right.split(separator);
            items.splice(-1, 0, `v0${joint}${"0".repeat(64)}`);
            return [...items, `v2${joint}c29tZXRoaW5nIG5ldw`].join(separator);
          },
        }),
    },
  ];
}
