import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CallError } from "../api/call.ts";
import { Action, ConfirmedAction } from "../components/action.tsx";
import { AttemptsChart, Strip } from "../components/chart.tsx";
import { Dialog, ShownOnce } from "../components/dialog.tsx";
import { Field, Form } from "../components/form.tsx";
import { Icon, ICON_NAMES } from "../components/icon.tsx";
import { MapField, mapRows } from "../components/map-field.tsx";
import { Card, Empty, ErrorBox, Facts, Loading, Page } from "../components/page.tsx";
import { Table } from "../components/table.tsx";
import { showToast } from "../components/toasts.tsx";
import { CommandLine, Id, JsonTree, None, Raw, Status, StatusCode, Time } from "../components/values.tsx";
import { money } from "../format.ts";
import { hrefOf, Link } from "../router.tsx";

const STATUSES = [
  "enabled",
  "delivered",
  "completed",
  "queued",
  "retrying",
  "failing",
  "failed",
  "leaked",
  "disabled",
  "canceled",
];
const FACE = "https://hooks.example.com/a/path/that/is/much/longer/than/any/other?tenant=emea&mode=strict";
const PROBLEM = { detail: "The request has an invalid field.", request_id: "req_0123" };
const ROWS = [
  { id: "1", name: "Ada Lovelace", amount: money(1999, "EUR"), status: "completed", url: "https://ada.example" },
  { id: "2", name: "株式会社さくら商事 佐藤 美咲", amount: money(128_000, "JPY"), status: "pending", url: FACE },
  { id: "3", name: "ليلى الحداد للتجارة والتوزيع", amount: money(125_000_000, "USD"), status: "failed", url: null },
];
const HOUR = Array.from({ length: 60 }, (_value, index) => index);
const START = Date.UTC(2026, 0, 1, 9);

/** Every component in its states, for their design and its tests. Only in development builds. */
export function Components() {
  return (
    <Page
      title="Components"
      subtitle="Every component in its states. Only in development builds."
      back={{ href: hrefOf(""), label: "Overview" }}
      actions={<Buttons />}
    >
      <div class="columns">
        <Values />
        <Fields />
      </div>
      <Messages />
      <Card title="Table" actions={<Link href={hrefOf("components")}>Show all</Link>}>
        <Table
          label="Orders of the example"
          items={ROWS}
          keyOf={({ id }) => id}
          columns={[
            { label: "Customer", isLong: true, cell: ({ name }) => <Link href={hrefOf("components")}>{name}</Link> },
            { label: "Status", cell: ({ status }) => <Status status={status} /> },
            { label: "URL", from: "tablet", isLong: true, cell: ({ url }) => url ?? <None /> },
            { label: "Amount", isNumber: true, cell: ({ amount }) => amount },
          ]}
        />
      </Card>
      <Charts />
      <div class="columns">
        <Card title="Timeline">
          <ol class="timeline">
            <li class="bad">
              <p class="attempt-head">
                <strong>Attempts 1 to 3</strong> <span class="tag">× 3</span> <StatusCode code={500} />
              </p>
              <p>The endpoint returned 500</p>
            </li>
            <li class="good">
              <strong>Attempt 4</strong> <StatusCode code={204} />
            </li>
            <li class="planned">
              <strong>Attempt 5</strong> in 8 min
            </li>
          </ol>
        </Card>
        <Card title="Payload">
          <JsonTree value={{ id: "evt_0123", amount: 1999, paid: true, customer: null, items: ["book", "pen"] }} />
          <Raw label="Raw bytes" text={'{"id":"evt_0123","amount":1999}'} />
        </Card>
      </div>
      <Card title="Icons">
        <div class="row-actions">
          {ICON_NAMES.map((name) => (
            <span key={name} title={name}>
              <Icon name={name} />
            </span>
          ))}
        </div>
      </Card>
      <Empty icon="customers" title="No customers yet">
        <p>Create a customer to see it here.</p>
      </Empty>
      <Loading />
    </Page>
  );
}

function Buttons() {
  const [open, setOpen] = useState<"form" | "secret">();
  const close = () => setOpen(undefined);
  return (
    <>
      <Action run={async () => "The action is done"}>Button</Action>
      <Action disabled run={async () => undefined}>
        Disabled
      </Action>
      <Action class="small" run={async () => showToast("The action failed", false) as undefined}>
        Small
      </Action>
      <ConfirmedAction
        class="danger"
        title="Delete this customer?"
        explanation={<p>This cannot be undone.</p>}
        verb="Delete customer"
        run={async () => "Deleted"}
      >
        Danger
      </ConfirmedAction>
      <button type="button" onClick={() => setOpen("secret")}>
        Secret
      </button>
      <button type="button" class="primary" onClick={() => setOpen("form")}>
        Primary
      </button>
      {open === "form" && (
        <Dialog title="Create a customer" onClose={close}>
          <Example onCancel={close} />
        </Dialog>
      )}
      {open === "secret" && (
        <ShownOnce title="The new API key" secret="sk_sandbox_0123456789" what="the API key" onClose={close} />
      )}
    </>
  );
}

function Values() {
  return (
    <Card title="Values">
      <Facts
        rows={[
          ["Statuses", <Line>{STATUSES.map((status) => [<Status key={status} status={status} />, " "])}</Line>],
          [
            "Status codes",
            <Line>
              <StatusCode code={200} /> <StatusCode code={404} /> <StatusCode code={500} /> <StatusCode code={302} />{" "}
              <StatusCode code={null} error="connection_refused: no server" />{" "}
              <StatusCode code={null} error="endpoint_deleted: the endpoint was deleted" />
            </Line>,
          ],
          ["Tags", <Line children={[<span class="tag">you</span>, " ", <span class="tag wait">old</span>]} />],
          ["Time", <Time at="2026-03-10T09:55:00Z" />],
          ["ID", <Id id="cus_0123456789abcdefghijkl" />],
          ["Long value", FACE],
          ["Right to left", "ليلى الحداد للتجارة والتوزيع"],
          ["No value", null],
        ]}
      />
      <CommandLine text="service listen --forward-to localhost:3000" what="the listen command" />
    </Card>
  );
}

function Line({ children }: { children: ComponentChildren }) {
  return <span class="row-actions">{children}</span>;
}

function Fields() {
  return (
    <Card title="Form">
      <Example onCancel={() => {}} />
    </Card>
  );
}

function Example({ onCancel }: { onCancel: () => void }) {
  const [email, setEmail] = useState("nobody");
  const [type, setType] = useState("a");
  const [note, setNote] = useState("");
  const [rows, setRows] = useState(mapRows({ plan: "pro", note: "two\nlines" }));
  const [isChosen, setChosen] = useState(true);
  const errors = [{ pointer: "/email", code: "invalid", detail: "must be an email address" }];
  const error = new CallError(422, { ...PROBLEM, errors });
  return (
    <Form submit="Create customer" fields={["email"]} onCancel={onCancel} run={async () => showToast("Created")}>
      {() => (
        <>
          <Field label="Email" name="email" value={email} onInput={setEmail} error={error} required />
          <Field
            label="Type"
            name="type"
            value={type}
            onInput={setType}
            options={[
              ["a", "A person"],
              ["b", "A company"],
            ]}
          />
          <Field
            label="Note"
            name="note"
            isLong
            value={note}
            onInput={setNote}
            placeholder="plan=pro"
            hint="Optional"
          />
          <MapField name="metadata" label="Metadata" rows={rows} onRows={setRows} error={undefined} />
          <label class="check">
            <input type="checkbox" checked={isChosen} onChange={() => setChosen(!isChosen)} /> Send a receipt
          </label>
        </>
      )}
    </Form>
  );
}

function Messages() {
  return (
    <div class="columns">
      <div>
        <p class="notice">The message of a running operation.</p>
        <p class="notice">5 attempts on the way: all succeeded.</p>
      </div>
      <div>
        <p class="notice">
          <strong>The endpoint is disabled.</strong> Deliveries wait until it is enabled.
        </p>
        <ErrorBox error={new CallError(422, PROBLEM)} onRetry={() => {}} />
      </div>
    </div>
  );
}

function Charts() {
  const minutes = HOUR.map((minute) => ({
    at: new Date(START + minute * 60_000).toISOString(),
    events: 0,
    attempts: 0,
    succeeded: (minute * 7) % 23,
    failed: minute > 40 ? (minute * 5) % 11 : 0,
    latency_p50_ms: minute > 20 && minute < 26 ? null : 80 + ((minute * 13) % 40),
    latency_p95_ms: null,
  }));
  return (
    <>
      <AttemptsChart minutes={minutes} />
      <Card title="Strip">
        <Strip
          counts={{
            endpoint: "we_0123",
            attempts: 100,
            failed: 20,
            pending: 0,
            failed_deliveries: 0,
            last_delivery_at: null,
            last_success_at: null,
            intervals: minutes.slice(30),
          }}
        />
      </Card>
    </>
  );
}
