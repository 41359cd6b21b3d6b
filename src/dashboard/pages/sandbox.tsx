import { useState } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import type { FaultList } from "../../contract/schemas/fault.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";
import type { SandboxReset, Snapshot, SnapshotList, TestClock } from "../../contract/schemas/sandbox.ts";
import { CallError, useCall } from "../api/call.ts";
import { type Query, useQuery } from "../api/store.ts";
import { environmentNow, tick } from "../clock.ts";
import { Action, ConfirmedAction } from "../components/action.tsx";
import { Field, Form } from "../components/form.tsx";
import { Below, Card, Empty, Loaded, Page } from "../components/page.tsx";
import { Table } from "../components/table.tsx";
import { ClockTime, Time } from "../components/values.tsx";
import { count, counted, dateAndTime, duration } from "../format.ts";
import { advanceBy } from "../menu.ts";
import { noteReset } from "../reset.ts";
import { environment, hrefOf, Link } from "../router.tsx";
import { DueLine } from "./due-line.tsx";
import { Faults, FAULTS } from "./faults.tsx";

const STEPS = [
  ["1 minute", 60],
  ["1 hour", 3600],
  ["1 day", 86_400],
  ["3 days", 259_200],
] as const;
const RESET = "all objects, events, deliveries, logs and faults of the sandbox";
const SNAPSHOTS = "/v1/sandbox/snapshots";
const MAX_DAYS = (LIMITS.replaySeconds * 12) / 86_400;
const UNITS = { minutes: 60, hours: 3600, days: 86_400 } as const;

export function SandboxPage() {
  return (
    <Page
      title="Sandbox tools"
      subtitle="Advance the sandbox’s time, save and restore snapshots, make requests fail, and reset it."
    >
      {environment.value === "live" ? (
        <Empty icon="clock" title="Live mode is never reset">
          <p>Only the sandbox can be reset, and has a clock that can be advanced.</p>
          <p>
            <Link class="button" href={hrefOf("clock", "", {}, "sandbox")}>
              Open the sandbox
            </Link>
          </p>
        </Empty>
      ) : (
        <Controls />
      )}
    </Page>
  );
}

/** The result of an advance is shown for so long after its end. */
const ADVANCE_SHOWN_MILLISECONDS = 900_000;

function Controls() {
  const query = useQuery<TestClock>("/v1/test_clock");
  const snapshots = useQuery<SnapshotList>(SNAPSHOTS);
  const faults = useQuery<FaultList>(FAULTS);
  const parts = [query, snapshots, faults, useQuery<Statistics>("/v1/statistics")];
  return (
    <Below isReady={parts.every(({ data, error }) => data !== undefined || error !== undefined)}>
      <Loaded of={query}>
        {(clock) => (
          <>
            <Now clock={clock} />
            <DueLine />
            {clock.target !== null && environmentNow() < Date.parse(clock.target) + ADVANCE_SHOWN_MILLISECONDS && (
              <LastAdvance clock={clock} target={clock.target} reload={query.reload} />
            )}
            <Advance clock={clock} />
          </>
        )}
      </Loaded>
      <Snapshots query={snapshots} />
      <Faults query={faults} />
      <Reset />
    </Below>
  );
}

/** The sandbox's time, and its difference from real time. */
function Now({ clock }: { clock: TestClock }) {
  return (
    <section class="answer clock-now" aria-label="Sandbox time">
      <p class={clock.offset_seconds > 0 ? "clock-time ahead" : "clock-time"}>{dateAndTime(environmentNow())}</p>
      <p class="evidence">
        {clock.offset_seconds > 0 ? (
          <>
            {duration(clock.offset_seconds)} ahead of real time, which is <ClockTime at={tick.value} />
          </>
        ) : (
          "Same as real time"
        )}
      </p>
    </section>
  );
}

function Advance({ clock }: { clock: TestClock }) {
  const [amount, setAmount] = useState("6");
  const [unit, setUnit] = useState<keyof typeof UNITS>("hours");
  const isAdvancing = clock.status === "advancing";
  const seconds = Math.round(Number(amount) * UNITS[unit]);
  const ask = async () => {
    if (!(seconds >= 1 && seconds <= MAX_DAYS * UNITS.days)) {
      const detail = `must be between 1 second and ${MAX_DAYS} days`;
      throw new CallError(400, { errors: [{ pointer: "/seconds", code: "out_of_range", detail }] });
    }
    advanceBy.value = seconds;
  };
  return (
    <Card title="Advance the clock" note={`by up to ${MAX_DAYS} days; time goes back only with a reset`}>
      <p class="soft">Deliveries that become due on the way are attempted in order, each at its own time.</p>
      <div class="row-actions durations" role="group" aria-label="Advance by">
        {STEPS.map(([label, seconds]) => (
          <button key={label} type="button" disabled={isAdvancing} onClick={() => (advanceBy.value = seconds)}>
            + {label}
          </button>
        ))}
      </div>
      <Form submit="Advance" isDisabled={isAdvancing} fields={["seconds"]} run={ask}>
        {(error) => (
          <>
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
            {seconds > 0 && <p class="soft advance-target">to {dateAndTime(environmentNow() + seconds * 1000)}</p>}
          </>
        )}
      </Form>
    </Card>
  );
}

/** The snapshots, each with a button to restore it. */
function Snapshots({ query }: { query: Query<SnapshotList> }) {
  const call = useCall();
  const [name, setName] = useState("");
  const save = async () => {
    await call<Snapshot>("POST", SNAPSHOTS, { name });
    setName("");
    query.reload();
  };
  return (
    <Card title="Snapshots">
      <p class="soft">A snapshot contains the objects, endpoints and time of the sandbox, but no events and logs.</p>
      <Loaded of={query}>
        {({ data }) =>
          data.length > 0 && (
            <Table
              label="Snapshots"
              items={data}
              keyOf={(snapshot) => snapshot.name}
              columns={[
                { label: "Name", isLong: true, cell: (snapshot) => <strong>{snapshot.name}</strong> },
                { label: "Contains", cell: (snapshot) => counted(snapshot.objects, "object") },
                { label: "Saved", from: "tablet", cell: ({ created }) => <Time at={created} isReal /> },
                {
                  label: "Actions",
                  cell: (snapshot) => (
                    <span class="row-actions">
                      <ConfirmedAction
                        class="small"
                        title={`Restore ${snapshot.name}?`}
                        explanation={
                          <p>
                            The sandbox gets the {counted(snapshot.objects, "object")} and the endpoints of the
                            snapshot. Everything else that it has now is removed, also all events, deliveries and logs.
                            Its time becomes {dateAndTime(tick.value + snapshot.offset_seconds * 1000)}.
                          </p>
                        }
                        verb="Restore"
                        run={async () => {
                          noteReset();
                          await call("POST", `${SNAPSHOTS}/${snapshot.name}/restore`);
                          return `The sandbox is restored to ${snapshot.name}`;
                        }}
                      >
                        Restore
                      </ConfirmedAction>
                      <Action
                        class="small"
                        label={`Delete ${snapshot.name}`}
                        run={async () => {
                          await call("DELETE", `${SNAPSHOTS}/${snapshot.name}`);
                          query.reload();
                          return `Deleted ${snapshot.name}`;
                        }}
                      >
                        Delete
                      </Action>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <Form submit="Save" isMinor fields={["name"]} run={save}>
        {(error) => (
          <div class="side-by-side one">
            <Field label="Save a snapshot as" name="name" value={name} onInput={setName} error={error} />
          </div>
        )}
      </Form>
    </Card>
  );
}

function Reset() {
  const call = useCall();
  const reset = (endpoints: SandboxReset["endpoints"]) => async () => {
    noteReset();
    await call("POST", "/v1/sandbox/reset", { endpoints });
    return "The sandbox is empty and in real time";
  };
  return (
    <Card title="Reset">
      <p class="soft">
        This deletes {RESET}, and returns it to real time. It cannot be undone; save a snapshot first to keep the
        objects.
      </p>
      <div class="row-actions">
        {(["keep", "remove"] as const).map((endpoints) => (
          <ConfirmedAction
            key={endpoints}
            class={endpoints === "remove" ? "danger" : ""}
            title={`Reset the sandbox and ${endpoints} its endpoints?`}
            explanation={
              <p>
                This deletes {RESET}
                {endpoints === "keep" ? ". Endpoints, keys" : ", and its endpoints. Keys"}, apps and snapshots stay. Its
                time is real time again.
              </p>
            }
            verb="Reset"
            run={reset(endpoints)}
          >
            Reset and {endpoints} endpoints
          </ConfirmedAction>
        ))}
      </div>
    </Card>
  );
}

/** Shows how far the running advance is, or the result of the last one. */
function LastAdvance({ clock, target, reload }: { clock: TestClock; target: string; reload: () => void }) {
  const call = useCall();
  const { status, attempts, succeeded, failed, remaining } = clock;
  const outcome =
    attempts === 0
      ? "No deliveries became due."
      : `${counted(attempts, "attempt")} during the advance: ${count(succeeded)} succeeded, ${count(failed)} failed.`;
  if (status !== "advancing") {
    return (
      <p class="notice" role="status">
        {status === "canceled" ? (
          <>
            Stopped before <ClockTime at={target} />. {outcome}
          </>
        ) : (
          <span>{outcome}</span>
        )}{" "}
        {attempts > 0 && <Link href={hrefOf("deliveries")}>Show deliveries</Link>}
      </p>
    );
  }
  return (
    <section class="notice" role="status" aria-label="Advancing">
      <p>
        <strong>Advancing</strong> to <ClockTime at={target} />: {counted(remaining, "delivery", "deliveries")} left,{" "}
        {counted(attempts, "attempt")} so far.
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
