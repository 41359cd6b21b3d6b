import type { Attempt, Delivery } from "../../../contract/schemas/delivery.ts";
import { StatusCode } from "../../components/badge.tsx";
import { Distance, Time } from "../../components/time.tsx";
import { milliseconds } from "../../format.ts";
import { likelyAttempts } from "./plan.ts";

/** Every attempt that was made, the next one, and when later ones are likely. */
export function Timeline({ delivery }: { delivery: Delivery }) {
  const { attempts = [], next_attempt: next, status } = delivery;
  return (
    <ol class="timeline">
      {attempts.map((attempt, index) => (
        <MadeAttempt key={index} attempt={attempt} number={index + 1} isLast={index === attempts.length - 1} />
      ))}
      {next !== null && (
        <li class="planned">
          <strong>Attempt {attempts.length + 1}</strong> <Distance at={next} />, <Time at={next} />
        </li>
      )}
      {likelyAttempts(delivery).map((at, index) => (
        <li key={at} class="planned likely">
          Attempt {attempts.length + 2 + index} about <Time at={`${new Date(at).toISOString().slice(0, 19)}Z`} />, if it
          is still needed
        </li>
      ))}
      {status === "pending" && next === null && (
        <li class="planned">Waits until its endpoint is enabled, for 3 days at most</li>
      )}
      {status === "failed" && <li class="ended">Given up: no attempt follows by itself</li>}
    </ol>
  );
}

function MadeAttempt({ attempt, number, isLast }: { attempt: Attempt; number: number; isLast: boolean }) {
  const { at, status_code: code, error, duration_ms: took, response_excerpt: excerpt } = attempt;
  const isGood = code !== null && code >= 200 && code < 300;
  return (
    <li class={isGood ? "good" : "bad"}>
      <p>
        <strong>Attempt {number}</strong> <StatusCode code={code} /> <Time at={at} />{" "}
        <span class="soft">after {milliseconds(took)}</span>
      </p>
      {error !== null && <p>{error}</p>}
      {excerpt !== null && (
        <details open={isLast}>
          <summary>The reply's body</summary>
          <pre class="raw" role="region" tabIndex={0} aria-label={`Body of the reply to attempt ${number}`}>
            {excerpt}
          </pre>
        </details>
      )}
    </li>
  );
}
