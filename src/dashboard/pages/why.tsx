import { useEffect, useState } from "preact/hooks";
import type { Attempt, Delivery } from "../../contract/schemas/delivery.ts";
import { type Chain, type ChainApi, explainedKind, readChain } from "../../explain/chain.ts";
import { diagnose } from "../../explain/diagnosis.ts";
import { attemptsOf } from "../../explain/attempts.ts";
import { type Finding, isTrouble, labelOf, sentence } from "../../explain/finding.ts";
import { asCallError, CallError, useCall } from "../api/call.ts";
import { environmentNow } from "../clock.ts";
import { Card, Empty, ErrorBox, Facts, Loading, Page } from "../components/page.tsx";
import { CopyLine, DueTime, hrefOfId, ObjectLink, stateOf, Status, StatusCode, Time } from "../components/values.tsx";
import { counted, localTime } from "../format.ts";
import { hrefOf, Link, route } from "../router.tsx";
import { EndpointStatus } from "./endpoints/status.tsx";

function problemOf(error: unknown): ReturnType<ChainApi["problemOf"]> {
  return error instanceof CallError ? error : undefined;
}

/** Explains an ID as `service why` does: the likely cause, its fix, and everything that led to it. */
export function Why() {
  const call = useCall();
  const { id } = route.value;
  const kind = explainedKind(id);
  const [chain, setChain] = useState<Chain>();
  const [error, setError] = useState<CallError>();
  const [reads, setReads] = useState(0);
  useEffect(() => {
    if (kind === undefined) return undefined;
    let isCurrent = true;
    setError(undefined);
    const read = async () => {
      try {
        const found = await readChain({ get: (path) => call("GET", path), problemOf }, id, kind);
        if (isCurrent) setChain(found);
      } catch (problem) {
        if (isCurrent) setError(asCallError(problem));
      }
    };
    void read();
    return () => {
      isCurrent = false;
    };
  }, [id, reads]);
  const again = () => setReads(reads + 1);
  const findings = chain && diagnose(chain, (timestamp) => localTime(timestamp, environmentNow()));
  const [answer, ...others] = findings ?? [];
  return (
    <Page
      title={answer === undefined ? "Explanation" : sentence(answer.summary)}
      {...(id === "" ? {} : { back: { href: hrefOfId(id) ?? hrefOf(""), label: id } })}
      actions={
        chain && (
          <button type="button" onClick={again}>
            Explain again
          </button>
        )
      }
    >
      {error !== undefined && <ErrorBox error={error} onRetry={again} />}
      {kind === undefined ? (
        <Empty icon="search" title={id === "" ? "Nothing to explain yet" : "There is nothing to explain about this ID"}>
          <p>Open an event, delivery, request or endpoint and choose Explain.</p>
        </Empty>
      ) : chain === undefined ? (
        error === undefined && <Loading what="Looking up what happened" />
      ) : (
        <>
          {answer !== undefined && <Answer finding={answer} />}
          <Explanation chain={chain} others={others} />
        </>
      )}
    </Page>
  );
}

/** What shows the answer in the title, and what to do about it. */
function Answer({ finding }: { finding: Finding }) {
  const isBad = isTrouble(finding);
  return (
    <section class={`notice ${isBad ? "bad" : ""}`} aria-label={labelOf(finding)}>
      <p>
        <code>{finding.code}</code>
      </p>
      <Proof finding={finding} />
    </section>
  );
}

function Proof({ finding: { evidence, action, fix } }: { finding: Finding }) {
  return (
    <>
      {evidence !== null && <p dir="auto">{evidence}</p>}
      {action !== null && <p>{sentence(action)}</p>}
      {fix !== null && <CopyLine text={fix} what="the command" />}
    </>
  );
}

function Explanation({ chain, others }: { chain: Chain; others: readonly Finding[] }) {
  const { request, subject, event, otherEvents, operation, deliveries, endpoints } = chain;
  const endpoint = chain.kind === "webhook_endpoint" ? endpoints.get(chain.id) : undefined;
  const [notes, rest] = [true, false].map((isNote) =>
    others.filter(({ code }) => (code === "clock_ahead") === isNote),
  ) as [Finding[], Finding[]];
  return (
    <>
      {rest.length > 0 && (
        <Card title="Also">
          {rest.map((finding) => (
            <div key={`${finding.code} ${finding.subject}`}>
              <p dir="auto">{sentence(finding.summary)}</p>
              <Proof finding={finding} />
            </div>
          ))}
        </Card>
      )}
      <Facts
        rows={[
          [
            "API request",
            request && (
              <>
                <StatusCode code={request.status} /> {request.method} {request.path} <ObjectLink id={request.id} />
              </>
            ),
          ],
          [
            "Object",
            subject && (
              <>
                {endpoint !== undefined ? (
                  <EndpointStatus endpoint={endpoint} />
                ) : (
                  subject.status !== undefined && <Status status={subject.status} />
                )}{" "}
                <ObjectLink id={subject.id} />
              </>
            ),
          ],
          [
            "Event",
            event && (
              <>
                {event.type}, <Time at={event.created} /> <ObjectLink id={event.id} />
              </>
            ),
          ],
          ["Operation", operation && `${operation.done + operation.failed} of ${operation.total}`],
        ]}
      />
      {deliveries.length > 0 && (
        <Card title="Deliveries">
          <ul class="chain">
            {deliveries.map((delivery) => (
              <DeliveryItem key={delivery.id} delivery={delivery} chain={chain} />
            ))}
          </ul>
        </Card>
      )}
      {otherEvents.length > 0 && (
        <Card title="Earlier events of this object">
          <ul>
            {otherEvents.map(({ id, type }) => (
              <li key={id}>
                {type} <ObjectLink id={id} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {notes.map(({ code, summary }) => (
        <p key={code} class="soft">
          {sentence(summary)}
        </p>
      ))}
    </>
  );
}

function DeliveryItem({ delivery, chain }: { delivery: Delivery; chain: Chain }) {
  const { id, endpoint, listener, next_attempt: next, event_type: type } = delivery;
  const attempts = attemptsOf(delivery);
  const url = endpoint === null ? `Listener ${listener}` : chain.endpoints.get(endpoint)?.url;
  return (
    <li>
      <p>
        <Status status={stateOf(delivery)} /> <Link href={hrefOf("deliveries", id)}>{type}</Link> to{" "}
        {url ?? "an endpoint that was deleted"}
      </p>
      <p class="soft">
        {attempts.length === 0 ? "Not attempted yet" : counted(attempts.length, "attempt")}
        {attempts.length > 0 && ": "}
        {outcomes(attempts).map(({ attempt, times }, index) => (
          <span key={attempt.at + index}>
            <StatusCode code={attempt.status_code} error={attempt.error} />
            {times > 1 && ` × ${times}`}{" "}
          </span>
        ))}
        {attempts.length > 0 && (
          <>
            last <Time at={attempts.at(-1)?.at} />
          </>
        )}
        {next !== null && (
          <>
            , next <DueTime at={next} />
          </>
        )}
      </p>
    </li>
  );
}

/** Groups consecutive attempts with identical outcomes. */
function outcomes(attempts: readonly Attempt[]): { attempt: Attempt; times: number }[] {
  const groups: { attempt: Attempt; times: number }[] = [];
  for (const attempt of attempts) {
    const last = groups.at(-1);
    const isSame = last?.attempt.status_code === attempt.status_code && last.attempt.error === attempt.error;
    if (isSame) last.times += 1;
    else groups.push({ attempt, times: 1 });
  }
  return groups;
}
