import { isSuccess } from "../../contract/is-success.ts";
import type { Attempt, Delivery } from "../../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { shellWord } from "../../contract/shell-command.ts";
import { nameOfEndpoint } from "../api/endpoints.ts";
import { useExplanation } from "../api/explanation.ts";
import { useQuery, useText } from "../api/store.ts";
import { Answer } from "../components/answer.tsx";
import { DetailPage } from "../components/detail-page.tsx";
import { Below, Card, ErrorBox, Facts } from "../components/page.tsx";
import { likelyAttempts, Trail } from "../components/trail.tsx";
import {
  Breakable,
  ClockTime,
  Copy,
  curl,
  message,
  NextAttempt,
  ObjectLink,
  pretty,
  Raw,
  StatusCode,
} from "../components/values.tsx";
import { count, milliseconds } from "../format.ts";
import { isNotSent, outcomeInWords } from "../responses.ts";
import { hrefOf, Link } from "../router.tsx";
import { originOf } from "./origin.tsx";
import { Remedy } from "./remedy.tsx";
import { RetryNow } from "./retry-now.tsx";

export function DeliveryDetail({ id }: { id: string }) {
  const path = `/v1/deliveries/${encodeURIComponent(id)}`;
  const query = useQuery<Delivery>(path);
  const { data } = query;
  const endpoint = useQuery<WebhookEndpoint>(
    data === undefined || data.endpoint === null ? undefined : `/v1/webhook_endpoints/${data.endpoint}`,
  );
  const { explanation, error, again } = useExplanation(data && id, `${stampOf(data)} ${endpoint.data?.status}`);
  const isDeleted = endpoint.error?.status === 404;
  const canRetry = endpoint.data !== undefined && !isDeleted && data !== undefined && data.status !== "succeeded";
  return (
    <DetailPage
      page="deliveries"
      id={id}
      siblings={explanation?.chain.listed.map((delivery) => delivery.id)}
      of={query}
      title={data === undefined ? "Delivery" : data.event_type}
      actions={() =>
        canRetry &&
        endpoint.data?.status === "enabled" && <RetryNow id={id} class="primary" shortcut="r" onDone={query.reload} />
      }
    >
      {(delivery) => (
        <>
          <Answer
            explanation={explanation}
            isTroubled={delivery.status !== "succeeded"}
            remedy={
              (delivery.endpoint === null || endpoint.data?.status === "disabled") &&
              explanation && (
                <Remedy
                  chain={explanation.chain}
                  finding={explanation.findings[0]}
                  onDone={() => {
                    endpoint.reload();
                    query.reload();
                    again();
                  }}
                />
              )
            }
          />
          <Below isReady={explanation !== undefined || error !== undefined}>
            {explanation !== undefined && <Trail chain={explanation.chain} only={id} />}
            <Card title="Details">
              <Facts
                rows={[
                  [
                    delivery.endpoint === null ? "Listener" : "Endpoint",
                    <Destination delivery={delivery} endpoint={endpoint.data} isDeleted={isDeleted} />,
                  ],
                  ...(explanation === undefined ? [] : originOf(explanation.chain)),
                ]}
              />
            </Card>
            <Attempts
              delivery={delivery}
              url={endpoint.data?.url ?? delivery.target ?? undefined}
              name={endpoint.data === undefined ? "the endpoint" : nameOfEndpoint(endpoint.data)}
            />
          </Below>
        </>
      )}
    </DetailPage>
  );
}

/** Returns what an attempt changes, so that the explanation is read again. */
function stampOf(delivery: Delivery | undefined): string {
  const { status, attempt_count: attempts, next_attempt: next, attempting_since: since } = delivery ?? {};
  return JSON.stringify([status, attempts, next, since]);
}

function Destination(props: { delivery: Delivery; endpoint: WebhookEndpoint | undefined; isDeleted: boolean }) {
  const { endpoint: id, listener, target } = props.delivery;
  if (id === null) return <>{target ?? listener}</>;
  if (props.isDeleted) {
    return (
      <>
        <code>{id}</code> <span class="tag">deleted</span>
      </>
    );
  }
  if (props.endpoint === undefined) return <ObjectLink id={id} />;
  return (
    <>
      <Link href={hrefOf("endpoints", id)}>{nameOfEndpoint(props.endpoint)}</Link>{" "}
      {props.endpoint.description !== null && (
        <span class="soft">
          <Breakable text={props.endpoint.url} />
        </span>
      )}
    </>
  );
}

/** Attempts in a row with the same outcome; the number is that of the first. */
interface Group {
  number: number;
  attempts: Attempt[];
}

function groupsOf(attempts: readonly Attempt[]): Group[] {
  const outcomeOf = ({ status_code, error, response_excerpt, injected }: Attempt) =>
    JSON.stringify([status_code, error, response_excerpt, injected]);
  const groups: Group[] = [];
  for (const [index, attempt] of attempts.entries()) {
    const last = groups.at(-1);
    if (last !== undefined && outcomeOf(last.attempts[0]!) === outcomeOf(attempt)) last.attempts.push(attempt);
    else groups.push({ number: index + 1, attempts: [attempt] });
  }
  return groups;
}

/** Every attempt, the next one, and when later ones are likely. */
function Attempts({ delivery, url, name }: { delivery: Delivery; url: string | undefined; name: string }) {
  const { attempts = [], next_attempt: next, status, event } = delivery;
  const body = useText(`/v1/events/${event}`);
  const isExpired = body.error?.status === 404;
  const groups = groupsOf(attempts);
  return (
    <Card title="Attempts">
      {body.error !== undefined && !isExpired && <ErrorBox error={body.error} onRetry={body.reload} />}
      <ol class="timeline">
        {groups.map((group, index) => (
          <AttemptGroup
            key={group.number}
            group={group}
            isLast={index === groups.length - 1}
            request={{ url, body: body.data, isExpired }}
          />
        ))}
        {next !== null && (
          <li class="planned">
            <strong>Attempt {attempts.length + 1}</strong> <NextAttempt delivery={delivery} />
            {delivery.attempting_since === null && (
              <>
                {" "}
                <span class="soft">at</span> <ClockTime at={next} />
              </>
            )}
          </li>
        )}
        {likelyAttempts(delivery)
          .slice(0, LIKELY_SHOWN)
          .map((at, index) => (
            <li key={at} class="planned likely">
              Attempt {attempts.length + 2 + index} ~<ClockTime at={at} /> (if needed)
            </li>
          ))}
        {status === "failed" && <li class="ended">Failed; no more retries</li>}
        {attempts.length === 0 && status === "canceled" && <li class="ended">Canceled before the first attempt</li>}
        {next === null && status === "pending" && (
          <li class="planned">
            <strong>Attempt {attempts.length + 1}</strong> waits until {name} is enabled
          </li>
        )}
      </ol>
    </Card>
  );
}

/** The parts of the request that all attempts share. */
interface SentRequest {
  url: string | undefined;
  body: string | undefined;
  isExpired: boolean;
}

function AttemptGroup(props: { group: Group; isLast: boolean; request: SentRequest }) {
  const { number, attempts } = props.group;
  const latest = attempts.at(-1)!;
  const { status_code: code, error, response_excerpt: response, duration_ms: took, injected } = latest;
  const isGood = isSuccess(code);
  const wasSent = !isNotSent(error);
  const isOne = attempts.length === 1;
  const last = number + attempts.length - 1;
  const which = isOne ? "" : "last ";
  const { url, body, isExpired } = props.request;
  const { request_headers: sent, response_headers: received } = latest;
  return (
    <li class={isGood ? "good" : wasSent ? "bad" : "ended"}>
      <p class="attempt-head">
        <strong>{!wasSent ? "No more attempts" : isOne ? `Attempt ${number}` : `Attempts ${number} to ${last}`}</strong>
        {wasSent && <StatusCode code={code} error={error} />}
        {injected !== null && (
          <span class="tag" title="Injected by listen --chaos">
            chaos: {injected}
          </span>
        )}
        <span class="soft">
          {which}
          <ClockTime at={latest.at} />
          {wasSent && ` in ${milliseconds(took)}`}
        </span>
        <span class="attempt-actions">
          {body !== undefined && sent !== null && url !== undefined && (
            <Copy text={curlOf(url, sent, body)} what={`attempt ${last}`} label={`Copy ${which}as cURL`} />
          )}
          <Copy
            text={JSON.stringify(isOne ? latest : attempts, null, 2)}
            what={isOne ? `attempt ${last}` : `attempts ${number} to ${last}`}
            label="Copy as JSON"
          />
        </span>
      </p>
      {error !== null && <p>{outcomeInWords(code, error)}</p>}
      {!isOne && (
        <details>
          <summary>All {count(attempts.length)} attempts</summary>
          <ol class="repeats">
            {attempts.map(({ at, duration_ms: duration }, index) => (
              <li key={at}>
                Attempt {number + index} · <ClockTime at={at} /> · {milliseconds(duration)}
              </li>
            ))}
          </ol>
        </details>
      )}
      {wasSent && (
        <div class="columns">
          <details open={props.isLast}>
            <summary>Response</summary>
            {code === null ? (
              <p class="hint">There was no response.</p>
            ) : (
              <Raw
                label={`Response of attempt ${last}`}
                text={response === null || response === "" ? "(no body)" : pretty(response)}
              />
            )}
            {received !== null && (
              <details>
                <summary>Headers</summary>
                <Raw
                  label={`Headers of the response to attempt ${last}`}
                  text={message(String(code), received, null)}
                />
              </details>
            )}
          </details>
          <details open={props.isLast}>
            <summary>Request</summary>
            <Raw
              label={`Request of attempt ${last}`}
              text={message(
                `POST ${url ?? "(URL of a deleted endpoint)"}`,
                sent,
                body ?? (isExpired ? "(the event was removed after 30 days)" : "…"),
              )}
            />
            {sent === null && <p class="hint">Headers of requests to listeners are not stored.</p>}
          </details>
        </div>
      )}
    </li>
  );
}

/** Returns an attempt as a command that sends the same bytes with the same headers. */
function curlOf(url: string, headers: Record<string, string>, body: string): string {
  const words = Object.entries(headers).map(([name, value]) => shellWord(`${name}: ${value}`));
  return curl("POST", url, words, body);
}

const LIKELY_SHOWN = 4;
