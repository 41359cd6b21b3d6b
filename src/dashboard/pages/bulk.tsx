import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { BulkOperation, DeliveryBulkRetry } from "../../contract/schemas/bulk-operation.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { Statistics, StatisticsEndpoint } from "../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { asCallError, useCall } from "../api/call.ts";
import { nameOfEndpoint, useEndpoints } from "../api/endpoints.ts";
import { clockOffset, environmentNow } from "../clock.ts";
import { Action, Confirmation, DialogButton } from "../components/action.tsx";
import { Field } from "../components/form.tsx";
import { showToast } from "../components/toasts.tsx";
import { newestOf } from "../../explain/recovery.ts";
import { useQuery } from "../api/store.ts";
import { count, counted, dateAndTime, pastTime } from "../format.ts";
import { hrefOf, Link } from "../router.tsx";
import { enableAndReplay, retryAll, useFound, useMissed } from "./enable.tsx";
import { testEndpoint } from "./retry-now.tsx";

/** Choices of "Created", in seconds; 0 is all that can be retried. */
const RANGES = [
  ["3600", "In the last hour"],
  ["21600", "In the last 6 hours"],
  ["86400", "In the last 24 hours"],
  ["604800", "In the last 7 days"],
  ["0", "Any time"],
] as const;
const SINCE_FAILING = ["failing", "Since the endpoint began to fail"] as const;
/** The first failed attempt may be of a delivery created before it. */
const BEFORE_FAILING_MILLISECONDS = 60_000;

/** Statuses of deliveries that can be retried, as the dialog counts them. */
const RETRIED = { failed: "failed", pending: "retrying", canceled: "canceled" } as const;
type Retried = keyof typeof RETRIED;

/** Returns the statuses to retry of a list with a filter: of all, those that have not arrived. */
function retriedOf(status: string): Retried[] {
  if (status === "" || status === "undelivered") return ["failed", "pending"];
  if (status === "retrying") return ["pending"];
  return status in RETRIED ? [status as Retried] : [];
}

interface RetryProps {
  /** Only deliveries to this endpoint. */
  endpoint?: { id: string; name: string } | undefined;
  /** The filters of the list below the button. */
  filters?: { status: string; query: string; created_after: string; created_before: string } | undefined;
  /** When the endpoint began to fail. */
  failingSince?: string | null | undefined;
}

/** Returns `Retry 3 failed deliveries`; without a number, the dialog shows what there is to choose. */
export function retryLabel(counts: Pick<StatisticsEndpoint, "pending" | "failed_deliveries">): string {
  const { pending, failed_deliveries: failed } = counts;
  if (pending + failed === 0) return "Retry deliveries";
  const which = pending > 0 ? "" : "failed ";
  return `Retry ${counted(pending + failed, `${which}delivery`, `${which}deliveries`)}`;
}

/** A button that retries failed and waiting deliveries, of one endpoint or all, after showing how many there are. */
export function RetryDeliveries({
  class: name,
  label = "Retry deliveries",
  ...of
}: RetryProps & { class?: string; label?: string }) {
  return <DialogButton class={name} label={label} dialog={(close) => <RetryDialog {...of} onClose={close} />} />;
}

/** Retries each of some deliveries, and says how many could not be. */
export function RetryEach(props: {
  deliveries: readonly Delivery[];
  label: string;
  class: string;
  /** The receiver, for a screen reader. */
  of?: string;
  onDone?: () => void;
}) {
  const call = useCall();
  const { deliveries, label, of, onDone = () => {} } = props;
  const words = counted(deliveries.length, "delivery", "deliveries");
  return (
    <Action
      class={props.class}
      {...(of !== undefined && { label: `${label} to ${of}` })}
      run={async () => {
        const results = await Promise.allSettled(
          deliveries.map(({ id }) => call("POST", `/v1/deliveries/${id}/retry`)),
        );
        const failures = results.flatMap((result) =>
          result.status === "rejected" ? [asCallError(result.reason)] : [],
        );
        onDone();
        if (failures[0] === undefined) return `Retrying ${words}`;
        showToast(`${failures.length} of ${words} cannot be retried. ${failures[0].message}`, false);
        return undefined;
      }}
    >
      {label}
    </Action>
  );
}

export function RetryDialog({ endpoint, filters, failingSince, onClose }: RetryProps & { onClose: () => void }) {
  const call = useCall();
  const { items: endpoints = [], reload } = useEndpoints();
  /** Whether an endpoint is chosen, of those whose box was changed. */
  const [boxes, setBoxes] = useState<ReadonlyMap<string, boolean>>(new Map());
  /** The responses to test events, by endpoint. */
  const [tests, setTests] = useState<ReadonlyMap<string, string>>(new Map());
  const choose = (id: string, isChosen: boolean) => setBoxes((before) => new Map(before).set(id, isChosen));
  const test = async (id: string) => {
    const { text, isGood } = await testEndpoint(call, id);
    setTests((before) => new Map(before).set(id, text));
    choose(id, isGood);
    return undefined;
  };
  const list = useRef<HTMLFieldSetElement>(null);
  const { data: statistics, error: uncounted } = useQuery<Statistics>("/v1/statistics");
  // Kept while the dialog is open: the endpoint may recover meanwhile.
  const [since] = useState(failingSince);
  const isFailing = typeof since === "string";
  const [range, setRange] = useState<string>(isFailing ? SINCE_FAILING[0] : "0");
  const { status: shown = "", query = "", created_after: after = "", created_before: before = "" } = filters ?? {};
  const statuses = retriedOf(shown);
  const isRangeSet = after !== "" || before !== "";
  const request = (status: Retried, to: string): DeliveryBulkRetry => {
    const own = { status, endpoint: to };
    if (isRangeSet) {
      return {
        ...own,
        ...(after === "" ? {} : { created_after: after }),
        ...(before === "" ? {} : { created_before: before }),
      };
    }
    const from =
      range === SINCE_FAILING[0] && isFailing
        ? Date.parse(since) - BEFORE_FAILING_MILLISECONDS
        : environmentNow() - Number(range) * 1000;
    return { ...own, ...(range === "0" ? {} : { created_after: formatTimestamp(from) }) };
  };
  // Someone may advance the clock while the dialog is open: what is retried is what was counted last.
  const { found, error } = useFound(`${range} ${clockOffset.value}`, async () => {
    if (query !== "") return undefined;
    const targets = endpoint === undefined ? await undeliveredTo() : [endpoint.id];
    const bodies = targets.flatMap((to) => statuses.map((status) => request(status, to)));
    const operations = await Promise.all(
      bodies.map((body) => call<BulkOperation>("POST", "/v1/deliveries/retry", { ...body, dry_run: true })),
    );
    return bodies.map((body, index) => ({ body, total: operations[index]!.total })).filter((one) => one.total > 0);
  });
  /** The endpoints with deliveries that may be retried. */
  const undeliveredTo = async () => {
    const { endpoints: counts } = await call<Statistics>("GET", "/v1/statistics?minutes=1");
    const isCanceled = statuses.includes("canceled");
    return counts.flatMap(({ endpoint: id, pending, failed_deliveries: failed }) =>
      isCanceled || pending + failed > 0 ? [id] : [],
    );
  };
  const nameOf = (id: string) => {
    const one = endpoints.find((known) => known.id === id);
    return one === undefined ? id : nameOfEndpoint(one);
  };
  const { found: missed } = useMissed(endpoint === undefined ? endpoints : []);
  const groups = [...new Set(endpoint === undefined ? found?.map(({ body }) => body.endpoint!) : [])].map((id) => {
    const one = endpoints.find((known) => known.id === id);
    return {
      id,
      name: nameOf(id),
      isFailing: one !== undefined && failsStill(one, statistics),
      own: found!.filter(({ body }) => body.endpoint === id),
    };
  });
  groups.sort((a, b) => sumOf(b.own) - sumOf(a.own));
  const enabled = groups.filter(({ id }) => !missed?.has(id));
  const disabled = [...(missed ?? [])].flatMap(([id, number]) => {
    const { own = [] } = groups.find((group) => group.id === id) ?? {};
    const words = [inWords(own, "held"), number > 0 && `${count(number)} missed`].filter(Boolean).join(", ");
    const total = sumOf(own) + number;
    return total === 0 ? [] : [{ of: endpoints.find((known) => known.id === id)!, own, words, total }];
  });
  const toEnable = disabled.filter(({ of: { id } }) => boxes.get(id) === true);
  // What to choose matters more than the first field.
  useEffect(() => list.current?.querySelector("input")?.focus(), [enabled.length > 0]);
  // A retry to an endpoint that still fails only uses up an attempt.
  const isChosen = (group: { id: string; isFailing: boolean }) => boxes.get(group.id) ?? !group.isFailing;
  const chosen =
    endpoint === undefined ? enabled.flatMap((group) => (isChosen(group) ? group.own : [])) : (found ?? []);
  const retried = found && (statistics ?? endpoint) !== undefined ? sumOf(chosen) : undefined;
  const total = retried === undefined ? undefined : toEnable.reduce((sum, one) => sum + one.total, retried);
  const waiting = [...new Set(chosen.flatMap(({ body }) => (body.status === "pending" ? [body.endpoint!] : [])))];
  const successes = waiting.map((id) => lastSuccess(id, statistics));
  const { failed_listener_deliveries: toListeners = 0 } = statistics ?? {};
  const isWorking = statistics === undefined || successes.every((at) => at !== undefined);
  return (
    <Confirmation
      title={`Retry ${shown === "canceled" || shown === "failed" ? `${shown} ` : ""}deliveries${endpoint === undefined ? "" : ` to ${endpoint.name}`}`}
      verb={total === undefined || total === 0 ? "Retry" : `Retry ${count(total)}`}
      isReady={total !== undefined && total > 0}
      problem={error ?? uncounted}
      isHarmless
      run={async () => {
        await retryAll(call, bodiesOf(chosen));
        for (const { of: one, own } of toEnable) await enableAndReplay(call, one, bodiesOf(own));
        if (toEnable.length > 0) reload();
        return undefined;
      }}
      onClose={onClose}
      explanation={
        <>
          {isRangeSet ? (
            <p>
              Created{after !== "" && <> after {dateAndTime(Date.parse(after))}</>}
              {before !== "" && <> before {dateAndTime(Date.parse(before))}</>}.
            </p>
          ) : (
            <Field
              label="Created"
              name="range"
              value={range}
              onInput={setRange}
              options={isFailing ? [SINCE_FAILING, ...RANGES] : RANGES}
            />
          )}
          <p role="status">
            {query !== ""
              ? "Deliveries that a search finds can only be retried one by one. Clear the search to retry many."
              : total === undefined
                ? error === undefined && "Counting…"
                : total === 0
                  ? enabled.length > 0
                    ? chooseOf(enabled)
                    : `No ${shown === "failed" || shown === "canceled" ? `${shown} ` : ""}deliveries ${disabled.length > 0 ? "to enabled endpoints" : "to retry"}.`
                  : [
                      retried! > 0 &&
                        `${counted(retried!, "delivery", "deliveries")} found: ${inWords(chosen)}. The retries run in the background.`,
                      ...toEnable.map(({ of: one, words }) => `${nameOfEndpoint(one)} is enabled and gets ${words}.`),
                    ]
                      .filter(Boolean)
                      .join(" ")}
          </p>
          {enabled.length > 0 && (
            <fieldset class="targets" ref={list}>
              <legend>Endpoints</legend>
              {enabled.length > 1 && (
                <div>
                  <label>
                    <input
                      type="checkbox"
                      checked={enabled.every(isChosen)}
                      onChange={({ currentTarget: { checked } }) =>
                        setBoxes(new Map(enabled.map(({ id }) => [id, checked])))
                      }
                    />
                    Select all
                  </label>
                </div>
              )}
              {enabled.map((group) => (
                <Target
                  key={group.id}
                  name={group.name}
                  isChosen={isChosen(group)}
                  onChoose={(is) => choose(group.id, is)}
                  action={
                    group.isFailing && (
                      <Action class="small" label={`Send test event to ${group.name}`} run={() => test(group.id)}>
                        Send test event
                      </Action>
                    )
                  }
                >
                  {inWords(group.own)}
                  {tests.has(group.id) ? (
                    ` · test event: ${tests.get(group.id)}`
                  ) : (
                    <span class="bad-text">{group.isFailing && " · last attempt failed"}</span>
                  )}
                </Target>
              ))}
            </fieldset>
          )}
          {waiting.length > 0 && (
            <p class="soft">
              {!isWorking
                ? "Repair the receiver first: a failed retry uses up an attempt and doubles the wait until the next one."
                : waiting.length > 1
                  ? "The last attempt to each of them succeeded."
                  : successes[0] !== undefined &&
                    `The last attempt to ${nameOf(waiting[0]!)} succeeded ${pastTime(Date.parse(successes[0]), environmentNow())}.`}
            </p>
          )}
          {disabled.length > 0 && (
            <fieldset class="targets">
              <legend>Disabled: enable and replay</legend>
              {disabled.map(({ of: { id }, words }) => (
                <Target key={id} name={nameOf(id)} isChosen={boxes.get(id) === true} onChoose={(is) => choose(id, is)}>
                  {words}
                </Target>
              ))}
            </fieldset>
          )}
          {endpoint === undefined && toListeners > 0 && statuses.includes("failed") && (
            <p class="soft" onClick={onClose}>
              Left out:{" "}
              <Link href={hrefOf("deliveries", "", { endpoint: "listeners", status: "failed" })}>
                {counted(toListeners, "failed delivery", "failed deliveries")} to listeners
              </Link>
            </p>
          )}
        </>
      }
    />
  );
}

/** An endpoint to choose, and what it gets. */
function Target(props: {
  name: string;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
  action?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { name, isChosen, onChoose, action, children } = props;
  return (
    <div>
      <label>
        <input type="checkbox" checked={isChosen} onChange={({ currentTarget: { checked } }) => onChoose(checked)} />
        <span>
          <span class="one-line">{name}</span>
          <small>{children}</small>
        </span>
      </label>
      {action}
    </div>
  );
}

/** Returns when the newest attempt of an endpoint succeeded, if it did. */
function lastSuccess(id: string, statistics: Statistics | undefined): string | undefined {
  const { last_success_at: at = null } = statistics?.endpoints.find(({ endpoint }) => endpoint === id) ?? {};
  const failures = statistics?.failures.filter(({ endpoint }) => endpoint === id) ?? [];
  return at !== null && at >= newestOf(failures) ? at : undefined;
}

/** Returns whether the newest attempt that is known of an endpoint failed. */
function failsStill({ id, health }: WebhookEndpoint, statistics: Statistics | undefined): boolean {
  const hasFailures = statistics?.failures.some((one) => one.endpoint === id) === true;
  return health.failing_since !== null || (hasFailures && lastSuccess(id, statistics) === undefined);
}

/** Returns what to do if no endpoint is chosen. */
function chooseOf(groups: readonly { isFailing: boolean }[]): string {
  if (!groups.every(({ isFailing }) => isFailing)) return "Choose an endpoint.";
  if (groups.length === 1) return "The last attempt to it failed. Choose it if you have repaired it.";
  const all = groups.length === 2 ? "both" : `all ${groups.length} endpoints`;
  return `The last attempt to ${all} failed. Choose those that you have repaired.`;
}

type Counted = { body: DeliveryBulkRetry; total: number };

function bodiesOf(found: readonly Counted[]): DeliveryBulkRetry[] {
  return found.map(({ body }) => body);
}

function sumOf(found: readonly Counted[]): number {
  return found.reduce((sum, one) => sum + one.total, 0);
}

/** Returns how many there are of each status: `12 failed, 3 retrying`. */
function inWords(found: readonly Counted[], pending: string = RETRIED.pending): string {
  return (Object.keys(RETRIED) as Retried[])
    .map((status) => [status, sumOf(found.filter(({ body }) => body.status === status))] as const)
    .flatMap(([status, total]) => (total === 0 ? [] : [`${count(total)} ${{ ...RETRIED, pending }[status]}`]))
    .join(", ");
}
