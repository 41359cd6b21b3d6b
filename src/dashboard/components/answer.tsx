import { type Finding, isLikely, isNote, isTrouble, labelOf, sentence } from "../../explain/finding.ts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Chain } from "../../explain/chain.ts";
import { inProject } from "../../contract/shell-command.ts";
import { nameOfEndpoint, nameOfListener } from "../api/endpoints.ts";
import type { Explanation } from "../api/explain.ts";
import { hrefOf, Link } from "../router.tsx";
import { Card } from "./page.tsx";
import { CommandLine, DeliveryState, Status, WithLinks } from "./values.tsx";

/**
 * What happened in one sentence, the evidence, and what to do, with a button for it. Its space is reserved while it is
 * unknown.
 */
export function Answer(props: {
  explanation: Explanation | undefined;
  remedy?: ComponentChildren;
  /** True if there is something to explain, which takes more room. */
  isTroubled?: boolean;
}) {
  const { explanation, remedy, isTroubled = false } = props;
  if (explanation === undefined) {
    const name = isTroubled ? "answer unknown long" : "answer unknown";
    return <div class={name} role="status" aria-label="Looking up what happened" />;
  }
  const [finding] = explanation.findings;
  if (finding === undefined) return null;
  const { headline } = explanation;
  return (
    <section class={`answer ${isTrouble(finding) ? "bad" : ""}`} aria-label={labelOf(finding)}>
      <p dir="auto">
        {isLikely(finding) && "Likely cause: "}
        <WithLinks text={headline} about={finding.subject} />
        <span class="rest">
          <WithLinks text={sentence(finding.summary).slice(headline.length)} about={finding.subject} />
        </span>
      </p>
      <Proof finding={finding} remedy={remedy} />
    </section>
  );
}

/** The other findings: a block for each receiver, and for what else is known. Notes are the last line. */
export function Also(props: {
  explanation: Explanation | undefined;
  /** The button of a finding. */
  remedyOf?: (finding: Finding) => ComponentChildren;
}) {
  const { explanation, remedyOf } = props;
  const [first, ...others] = explanation?.findings ?? [];
  const notes = others.filter(isNote);
  const rest = others.filter((finding) => !notes.includes(finding) && finding.code !== "delivered");
  return (
    <>
      {explanation !== undefined && rest.length > 0 && (
        <Card title={first?.code === "undelivered" ? "Not delivered" : "Also"}>
          <div class="also">
            {rest.map((finding) => (
              <Block
                key={`${finding.code} ${finding.subject}`}
                finding={finding}
                chain={explanation.chain}
                remedy={remedyOf?.(finding)}
              />
            ))}
          </div>
        </Card>
      )}
      {/* The header has the time. */}
      {notes.map(
        ({ code, summary }) =>
          code !== "clock_ahead" && (
            <p key={code} class="soft" dir="auto">
              {sentence(summary)}
            </p>
          ),
      )}
    </>
  );
}

/** What happened at a receiver, and the evidence, the advice and the command behind a button: more stays within reach. */
function Block({ finding, chain, remedy }: { finding: Finding; chain: Chain; remedy: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section>
      <div>
        <AboutReceiver finding={finding} chain={chain} />
      </div>
      <div class="row-actions">
        {remedy}
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Details
        </button>
      </div>
      {isOpen && (
        <div class="whole">
          <Proof finding={finding} />
        </div>
      )}
    </section>
  );
}

/** The receiver that a finding is about, with its state, and what happened there. */
function AboutReceiver({ finding, chain }: { finding: Finding; chain: Chain }) {
  const delivery = chain.deliveries.find(({ id }) => id === finding.subject);
  const endpoint =
    finding.subject === chain.id ? undefined : chain.endpoints.get(delivery?.endpoint ?? finding.subject);
  const text = `${isLikely(finding) ? "Likely cause: " : ""}${sentence(finding.summary)}`;
  const isOfListener = delivery?.endpoint === null;
  if (endpoint === undefined && !isOfListener) return <h3 dir="auto">{text}</h3>;
  const name = endpoint === undefined ? nameOfListener(delivery!, chain.statistics) : nameOfEndpoint(endpoint);
  const href = hrefOf("deliveries", delivery?.id);
  return (
    <>
      <h3>
        <Link href={endpoint === undefined ? href : hrefOf("endpoints", endpoint.id)}>{name}</Link>{" "}
        {delivery === undefined ? (
          <Status status={endpoint!.status} />
        ) : (
          <Link href={href}>
            <DeliveryState delivery={delivery} />
          </Link>
        )}
      </h3>
      <p dir="auto">{text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text}</p>
    </>
  );
}

/** A command between backticks is shown as it is typed. */
function withCommands(text: string): ComponentChildren {
  return text.split("`").map((part, index) => (index % 2 === 0 ? part : <code key={index}>{inProject(part)}</code>));
}

function Proof(props: { finding: Finding; remedy?: ComponentChildren }) {
  const { code, subject, evidence, action, fix } = props.finding;
  const isLong = fix !== null && fix.split(" && ").length > 2;
  // The command for what follows the advice.
  const [advice, after] = (action ?? "").split(/ \(after the repair: `(.*)`\)$/s);
  return (
    <>
      {/* The causes below it name the endpoints. */}
      {evidence !== null && code !== "undelivered" && (
        <p class="evidence" dir="auto">
          <WithLinks text={evidence} about={subject} />
        </p>
      )}
      {advice && <p class="advice">{withCommands(sentence(advice))}</p>}
      <div class="row-actions remedy">
        {props.remedy}
        {fix !== null && !isLong && <CommandLine text={fix} />}
      </div>
      {/* The button does the same. */}
      {isLong && (
        <details>
          <summary>As command</summary>
          <CommandLine text={fix} />
        </details>
      )}
      {after && (
        <>
          <p class="advice">After the repair, retry:</p>
          <div class="row-actions remedy">
            <CommandLine text={after} />
          </div>
        </>
      )}
    </>
  );
}
