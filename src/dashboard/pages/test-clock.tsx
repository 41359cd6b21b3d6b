import { useState } from "preact/hooks";
import type { TestClock } from "../../contract/schemas/test-clock.ts";
import { call } from "../api/call.ts";
import { type Query, useQuery } from "../api/store.ts";
import { environmentNow } from "../clock.ts";
import { Action } from "../components/action.tsx";
import { Field, Form } from "../components/form.tsx";
import { Card, Empty, Facts, Loaded, Page } from "../components/page.tsx";
import { ClockTime } from "../components/values.tsx";
import { count, counted, duration } from "../format.ts";
import { environment } from "../router.tsx";

const STEPS = [
  ["1 minute", 60],
  ["1 hour", 3600],
  ["1 day", 86_400],
  ["3 days", 259_200],
] as const;
const UNITS = { minutes: 60, hours: 3600, days: 86_400 } as const;

export function TestClockPage() {
  return (
    <Page title="Test clock" subtitle="Advance the sandbox's time to test retries and expiry in seconds.">
      {environment.value === "live" ? (
        <Empty icon="clock" title="Live mode uses real time">
          <p>Switch to the sandbox to advance its clock.</p>
        </Empty>
      ) : (
        <SandboxClock />
      )}
    </Page>
  );
}

function SandboxClock() {
  const query = useQuery<TestClock>("/v1/test_clock");
  return (
    <Loaded of={query}>
      {(clock) => (
        <>
          <Facts
            rows={[
              ["Sandbox time", <ClockTime at={environmentNow()} />],
              ["Offset", clock.offset_seconds === 0 ? "none" : duration(clock.offset_seconds)],
            ]}
          />
          {clock.target !== null && <LastAdvance clock={clock} target={clock.target} reload={query.reload} />}
          <Advance clock={clock} query={query} />
          {clock.offset_seconds > 0 && clock.status !== "advancing" && (
            <Card title="Reset">
              <p>Returns the sandbox to real time. Deliveries that are due stay due.</p>
              <Action
                run={async () => {
                  await call("POST", "/v1/test_clock/reset");
                  query.reload();
                  return "The sandbox is back in real time";
                }}
              >
                Reset to real time
              </Action>
            </Card>
          )}
        </>
      )}
    </Loaded>
  );
}

function Advance({ clock, query }: { clock: TestClock; query: Query<TestClock> }) {
  const [amount, setAmount] = useState("6");
  const [unit, setUnit] = useState<keyof typeof UNITS>("hours");
  const advance = async (seconds: number) => {
    // The page shows the progress while the platform works: the response arrives at the end.
    const advanced = call<TestClock>("POST", "/v1/test_clock/advance", { seconds });
    query.reload();
    await advanced;
    query.reload();
  };
  const isAdvancing = clock.status === "advancing";
  return (
    <Card title="Advance">
      <p>Deliveries that become due during the advance are attempted in order, each at its own time.</p>
      <div class="row-actions">
        {STEPS.map(([label, seconds]) => (
          <Action
            key={label}
            disabled={isAdvancing}
            run={async () => {
              await advance(seconds);
              return undefined;
            }}
          >
            Advance {label}
          </Action>
        ))}
      </div>
      <Form submit="Advance" fields={["seconds"]} run={() => advance(Math.round(Number(amount) * UNITS[unit]))}>
        {(error) => (
          <div class="side-by-side">
            <Field label="By" name="seconds" type="number" value={amount} onInput={setAmount} error={error} />
            <Field
              label="Unit"
              name="unit"
              value={unit}
              onInput={(value) => setUnit(value as keyof typeof UNITS)}
              options={Object.keys(UNITS).map((name) => [name, name] as const)}
            />
          </div>
        )}
      </Form>
    </Card>
  );
}

/** Shows how far the running advance is, or the result of the last one. */
function LastAdvance({ clock, target, reload }: { clock: TestClock; target: string; reload: () => void }) {
  const { status, attempts, succeeded, failed, remaining } = clock;
  const outcome =
    attempts === 0
      ? "No deliveries became due."
      : `${counted(attempts, "attempt")} during the advance: ${count(succeeded)} succeeded, ${count(failed)} failed.`;
  if (status !== "advancing") {
    return (
      <p class={status === "canceled" ? "notice wait" : "notice good"} role="status">
        {status === "canceled" ? (
          <>
            Stopped before <ClockTime at={target} />. {outcome}
          </>
        ) : (
          outcome
        )}
      </p>
    );
  }
  return (
    <section class="notice" role="status" aria-label="Advancing">
      <p>
        <strong>Advancing</strong> to <ClockTime at={target} />: {counted(attempts, "attempt")} so far,{" "}
        {counted(remaining, "delivery", "deliveries")} remaining.
      </p>
      <progress value={attempts} max={Math.max(1, attempts + remaining)} aria-label="Attempts of this advance" />
      <Action
        class="small"
        run={async () => {
          await call("POST", "/v1/test_clock/cancel");
          reload();
          return "Stopped";
        }}
      >
        Stop
      </Action>
    </section>
  );
}
