import { useState } from "preact/hooks";
import type { TestClock } from "../../../contract/schemas/test-clock.ts";
import { call } from "../../api/call.ts";
import { useQuery } from "../../api/use-query.ts";
import { clockOffset, environmentNow } from "../../clock.ts";
import { Action } from "../../components/action.tsx";
import { Field, Form } from "../../components/form.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { duration } from "../../format.ts";
import { environment } from "../../router.tsx";

const STEPS = [
  ["1 minute", 60],
  ["1 hour", 3600],
  ["1 day", 86_400],
  ["3 days", 259_200],
] as const;
const UNITS = { minutes: 60, hours: 3600, days: 86_400 } as const;

export function TestClockPage() {
  return (
    <Page title="Test clock" subtitle="Three days of retries in seconds: time in the sandbox can be put forward.">
      {environment.value === "live" ? (
        <Empty title="Live goes by real time.">
          <p>Switch to the sandbox to move its clock.</p>
        </Empty>
      ) : (
        <SandboxClock />
      )}
    </Page>
  );
}

/** How far the running advance has got, or what came of the last one. */
function Progress({ clock, done }: { clock: TestClock; done: () => void }) {
  const { status, target, attempts, succeeded, failed, remaining } = clock;
  const made =
    attempts === 0
      ? "Nothing fell due on the way."
      : `${attempts} attempts on the way: ${succeeded} succeeded, ${failed} failed.`;
  if (status !== "advancing") {
    return (
      <p class={status === "canceled" ? "notice" : "notice good"} role="status">
        {status === "canceled" ? `Stopped before ${target}. ${made}` : made}
      </p>
    );
  }
  return (
    <div class="notice" role="status">
      <p>
        Advancing to <Time at={target} />: {attempts} attempts so far, {remaining} deliveries remaining.
      </p>
      <Action
        run={async () => {
          await call("POST", "/v1/test_clock/cancel");
          done();
          return "Stopped";
        }}
      >
        Stop
      </Action>
    </div>
  );
}

function SandboxClock() {
  const query = useQuery<TestClock>("/v1/test_clock", { every: 2000 });
  const [amount, setAmount] = useState("6");
  const [unit, setUnit] = useState<keyof typeof UNITS>("hours");
  const advance = async (seconds: number) => {
    const moved = await call<TestClock>("POST", "/v1/test_clock/advance", { seconds });
    clockOffset.value = moved.offset_seconds * 1000;
    query.reload();
  };
  return (
    <Loaded of={query}>
      {(clock) => (
        <>
          <Facts
            rows={[
              ["In the sandbox it is", <Time at={`${new Date(environmentNow()).toISOString().slice(0, 19)}Z`} />],
              ["Ahead of real time by", clock.offset_seconds === 0 ? "nothing" : duration(clock.offset_seconds)],
            ]}
          />
          <Card title="Advance">
            <p>
              Everything that falls due on the way is attempted in order, each at its own time. The clock never goes
              back.
            </p>
            <div class="row-actions">
              {STEPS.map(([label, seconds]) => (
                <Action
                  key={label}
                  run={async () => {
                    await advance(seconds);
                    return `Advanced by ${label}`;
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
            {clock.target !== null && <Progress clock={clock} done={query.reload} />}
          </Card>
        </>
      )}
    </Loaded>
  );
}
