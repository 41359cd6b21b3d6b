import { useState } from "preact/hooks";
import type { Fault, FaultCreate, FaultEffect, FaultList } from "../../contract/schemas/fault.ts";
import { useCall } from "../api/call.ts";
import type { Query } from "../api/store.ts";
import { Action } from "../components/action.tsx";
import { Field, Form } from "../components/form.tsx";
import { Card, Loaded } from "../components/page.tsx";
import { Table } from "../components/table.tsx";
import { count, counted } from "../format.ts";

export const FAULTS = "/v1/faults";
const ANY_METHOD = "";
const METHODS = [
  [ANY_METHOD, "Any"],
  ...["GET", "POST", "PATCH", "DELETE"].map((name) => [name, name] as const),
] as const;
const STATUSES = ["503", "500", "502", "429"].map((status) => [status, status] as const);
const EFFECTS: Readonly<Record<FaultEffect, string>> = {
  status: "Error response",
  delay: "Delay",
  disconnect: "Disconnect before it has an effect",
  lose_response: "Take effect, then lose the response",
  truncate: "Truncate the response",
};

/** The faults of the sandbox, and a form for another one. */
export function Faults({ query }: { query: Query<FaultList> }) {
  const call = useCall();
  return (
    <Card
      title="Faults"
      actions={
        (query.data?.data.length ?? 0) > 0 && (
          <Action
            class="small"
            run={async () => {
              await call("DELETE", FAULTS);
              query.reload();
              return "Removed all faults";
            }}
          >
            Remove all
          </Action>
        )
      }
    >
      <p class="soft">
        Make requests with API keys and access tokens fail on purpose, to test how your client copes. The first fault
        that matches applies.
      </p>
      <Loaded of={query}>
        {({ data }) =>
          data.length > 0 && (
            <Table
              label="Faults, the first that matches applies"
              items={data}
              keyOf={({ id }) => id}
              columns={[
                { label: "Request", cell: (fault) => <code>{requestOf(fault)}</code> },
                { label: "Effect", isLong: true, cell: describe },
                {
                  label: "Actions",
                  cell: (fault) => (
                    <span class="row-actions">
                      {fault.times !== null && fault.injected >= fault.times && (
                        <Action
                          class="small"
                          label={`Repeat the fault of ${requestOf(fault)}`}
                          run={async () => {
                            const { match, effect, status, delay_ms, rate, times } = fault;
                            await call("POST", FAULTS, { match, effect, status, delay_ms, rate, times });
                            await call("DELETE", `${FAULTS}/${fault.id}`);
                            query.reload();
                            return `Injected again for ${counted(fault.times!, "request")}`;
                          }}
                        >
                          Repeat
                        </Action>
                      )}
                      <Action
                        class="small"
                        label={`Remove the fault of ${requestOf(fault)}`}
                        run={async () => {
                          await call("DELETE", `${FAULTS}/${fault.id}`);
                          query.reload();
                          return `Removed ${fault.id}`;
                        }}
                      >
                        Remove
                      </Action>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <FaultForm onAdded={query.reload} />
    </Card>
  );
}

function FaultForm({ onAdded }: { onAdded: () => void }) {
  const call = useCall();
  const [method, setMethod] = useState("POST");
  const [path, setPath] = useState("/v1/orders*");
  const [effect, setEffect] = useState<FaultEffect>("status");
  const [status, setStatus] = useState("503");
  const [delay, setDelay] = useState("2000");
  const [share, setShare] = useState("100");
  const [times, setTimes] = useState("");
  const add = async () => {
    const body = {
      match: { method: (method === ANY_METHOD ? null : method) as FaultCreate["match"]["method"] & string, path },
      effect,
      ...(effect === "status" ? { status: Number(status) as 503 } : {}),
      ...(effect === "delay" ? { delay_ms: Number(delay) } : {}),
      rate: Number(share) / 100,
      times: times === "" ? null : Number(times),
    };
    await call<Fault>("POST", FAULTS, body);
    onAdded();
  };
  return (
    <Form submit="Add fault" isMinor fields={["match", "effect", "status", "delay_ms", "rate", "times"]} run={add}>
      {(error) => (
        <>
          <div class="side-by-side many">
            <Field
              label="Method"
              name="match/method"
              value={method}
              onInput={setMethod}
              options={METHODS}
              error={error}
            />
            <Field label="Path" name="match/path" value={path} onInput={setPath} error={error} />
            <Field
              label="Effect"
              name="effect"
              value={effect}
              onInput={(value) => setEffect(value as FaultEffect)}
              options={Object.entries(EFFECTS)}
            />
            {effect === "status" && (
              <Field label="Status" name="status" value={status} onInput={setStatus} options={STATUSES} />
            )}
            {effect === "delay" && (
              <Field
                label="Milliseconds"
                name="delay_ms"
                type="number"
                value={delay}
                onInput={setDelay}
                error={error}
              />
            )}
            <Field label="% of requests" name="rate" value={share} onInput={setShare} error={error} />
            <Field label="Times" name="times" value={times} onInput={setTimes} error={error} placeholder="no limit" />
          </div>
        </>
      )}
    </Form>
  );
}

function requestOf({ match: { method, path } }: Fault): string {
  return method === null ? path : `${method} ${path}`;
}

function describe({ effect, status, delay_ms: delay, rate, times, injected }: Fault): string {
  const what = effect === "status" ? `Status ${status}` : effect === "delay" ? `Delay ${delay} ms` : EFFECTS[effect];
  const part = rate === 1 ? "" : `, ${Math.round(rate * 1000) / 10}% of requests`;
  if (times === null) return `${what}${part}, ${count(injected)} so far`;
  const use = `${count(injected)} of ${count(times)}`;
  return `${what}${part}, ${injected < times ? `${use} so far` : `used up (${use})`}`;
}
