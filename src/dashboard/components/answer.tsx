import { type Finding, isLikely, isTrouble, labelOf, sentence } from "../../explain/finding.ts";
import type { Explanation } from "../api/explain.ts";
import type { ComponentChildren } from "preact";
import { Card } from "./page.tsx";
import { CopyLine, WithLinks } from "./values.tsx";

/**
 * What happened in one sentence, the evidence, and what to do, with a button for it. Its space is reserved while it is
 * unknown.
 */
export function Answer({ explanation, remedy }: { explanation: Explanation | undefined; remedy?: ComponentChildren }) {
  if (explanation === undefined)
    return <div class="answer unknown" role="status" aria-label="Looking up what happened" />;
  const [finding] = explanation.findings;
  if (finding === undefined) return null;
  return (
    <section class={`answer ${isTrouble(finding) ? "bad" : ""}`} aria-label={labelOf(finding)}>
      <p dir="auto">
        {isLikely(finding) && "Likely cause: "}
        <WithLinks text={sentence(finding.summary)} about={finding.subject} />
      </p>
      <Proof finding={finding} remedy={remedy} />
    </section>
  );
}

/** The other findings. Notes on how the explanation looks are the last line. */
export function Also(props: {
  explanation: Explanation | undefined;
  /** The button of a finding. */
  remedyOf?: (finding: Finding) => ComponentChildren;
}) {
  const { explanation, remedyOf } = props;
  const [first, ...others] = explanation?.findings ?? [];
  const notes = others.filter(({ code }) => code === "clock_ahead");
  const rest = others.filter((finding) => !notes.includes(finding));
  return (
    <>
      {rest.length > 0 && (
        <Card title={first?.code === "undelivered" ? "Causes" : "Also"}>
          <div class="also">
            {rest.map((finding) => (
              <div key={`${finding.code} ${finding.subject}`}>
                <p dir="auto">
                  {isLikely(finding) && "Likely cause: "}
                  {sentence(finding.summary)}
                </p>
                <Proof finding={finding} remedy={remedyOf?.(finding)} />
              </div>
            ))}
          </div>
        </Card>
      )}
      {notes.map(({ code, summary }) => (
        <p key={code} class="soft card">
          {sentence(summary)}
        </p>
      ))}
    </>
  );
}

function Proof(props: { finding: Finding; remedy?: ComponentChildren }) {
  const { subject, evidence, action, fix } = props.finding;
  return (
    <>
      {evidence !== null && (
        <p class="evidence" dir="auto">
          <WithLinks text={evidence} about={subject} />
        </p>
      )}
      {action !== null && <p class="advice">{sentence(action)}</p>}
      {props.remedy !== undefined && <div class="row-actions remedy">{props.remedy}</div>}
      {fix !== null && <CopyLine text={fix} what="the command" />}
    </>
  );
}
