import { useState } from "preact/hooks";
import { LIMITS } from "../../../contract/limits.ts";
import { type Field as FieldEntry, inputFieldsOf } from "../../../contract/resources.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Statistics, StatisticsEndpoint, StatisticsFailure } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { lastAttempted } from "../../../explain/attempts.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { nameOfEndpoint, subscriptionsOf } from "../../api/endpoints.ts";
import { useExplanation } from "../../api/explanation.ts";
import { usePages } from "../../api/pages.ts";
import { useQuery } from "../../api/store.ts";
import { environmentNow } from "../../clock.ts";
import { perform } from "../../components/action.tsx";
import { Also, Answer } from "../../components/answer.tsx";
import { AttemptsChart } from "../../components/chart.tsx";
import { type MenuItem, MoreMenu } from "../../components/menu.tsx";
import { DetailPage } from "../../components/detail-page.tsx";
import { isUnreachable } from "../../components/outage.tsx";
import { Below, Card, Empty, ErrorBox, Facts } from "../../components/page.tsx";
import { Table } from "../../components/table.tsx";
import { Breakable, RowTime, Time, Unknown } from "../../components/values.tsx";
import { about, count, duration } from "../../format.ts";
import { outcomeInWords } from "../../responses.ts";
import { hrefOf, Link, useGo } from "../../router.tsx";
import { RetryDeliveries, retryLabel } from "../bulk.tsx";
import { useMissed } from "../enable.tsx";
import { RunningOperations } from "../operations.tsx";
import { RangeChoice, rangeOf } from "../choice.tsx";
import { DeliveryTable } from "../delivery-table.tsx";
import { NotDelivered } from "../overview/failures.tsx";
import { Remedy } from "../remedy.tsx";
import { ResourceForm } from "../resource-form.tsx";
import { DeleteEndpoint } from "./delete.tsx";
import { EndpointDialog, RotateSecret } from "./dialogs.tsx";

/** Returns true if the secret should be rotated. */
export function isOldSecret({ secret_created: created }: WebhookEndpoint): boolean {
  return environmentNow() - Date.parse(created) > LIMITS.secretAgeDays * 86_400_000;
}

export function EndpointDetail({ id }: { id: string }) {
  const path = `/v1/webhook_endpoints/${encodeURIComponent(id)}`;
  const query = useQuery<WebhookEndpoint>(path);
  const deliveries = usePages<Delivery>("/v1/deliveries", { endpoint: id }, { limit: 20 });
  const { minutes, period } = rangeOf("1h");
  const statistics = useQuery<Statistics>(withQuery("/v1/statistics", { endpoint: id, minutes }));
  const { data } = query;
  const failures = statistics.data?.failures ?? [];
  const counts = statistics.data?.endpoints[0];
  const { found: missed } = useMissed(data && [data]);
  const lost = counts?.failed_deliveries ?? 0;
  const { explanation, error: unexplained } = useExplanation(
    data && id,
    `${data?.status} ${data?.health.failing_since} ${data?.url} ${lost} ${(counts?.pending ?? 0) > 0}`,
  );
  const unknown = (statistics.error ?? unexplained) === undefined ? <Unknown /> : undefined;
  const shown = explanation?.chain.deliveries;
  const lastOf = (some: readonly Delivery[] | undefined) => {
    if (some === undefined) return unknown;
    const { id: last, last_attempt_at: at = null } = lastAttempted(some) ?? {};
    return at === null ? (
      "never"
    ) : (
      <Link href={hrefOf("deliveries", last)}>
        <Time at={at} />
      </Link>
    );
  };
  // A working endpoint has waiting deliveries all the time: only after failures they wait for long.
  const isWaiting = (counts?.pending ?? 0) > 0 && (counts?.failed ?? 0) > 0;
  const isStuck = isWaiting || lost > 0 || (data?.health.failing_since ?? null) !== null;
  return (
    <DetailPage
      page="endpoints"
      id={id}
      of={query}
      title={data === undefined ? "Endpoint" : nameOfEndpoint(data)}
      actions={(endpoint) => (
        <Actions
          endpoint={endpoint}
          path={path}
          waiting={counts?.pending ?? 0}
          failed={lost}
          isStuck={isStuck}
          onChange={query.reload}
          onPing={() => deliveries.reload()}
        />
      )}
    >
      {(endpoint) => (
        <>
          <Answer
            explanation={explanation}
            isTroubled={endpoint.status === "disabled" || endpoint.health.failing_since !== null}
            remedy={
              explanation?.findings[0]?.code === "redirect" && (
                <Remedy chain={explanation.chain} finding={explanation.findings[0]} onDone={query.reload} />
              )
            }
          />
          <Below isReady={(explanation ?? unexplained) !== undefined}>
            <SecretNotice endpoint={endpoint} />
            <RunningOperations endpoint={id} />
            <Facts
              rows={[
                ["URL", <Breakable text={endpoint.url} />],
                ["Events", subscriptionsOf(endpoint.events)],
                [`Attempts in the ${period}`, counts ? rateOf(counts) : unknown],
                ["Median response time", statistics.data ? responseTimeOf(statistics.data.totals) : unknown],
                [
                  "Not delivered or missed",
                  counts ? <NotDelivered endpoint={endpoint} counts={counts} missed={missed?.get(id)} /> : unknown,
                ],
                ["Last attempt", lastOf(shown)],
                ["Last success", lastOf(shown?.filter(({ status }) => status === "succeeded"))],
                ["Created", <Time at={endpoint.created} />],
                [
                  "Signing secret",
                  endpoint.secret_created === endpoint.created ? undefined : (
                    <>
                      created <Time at={endpoint.secret_created} />
                    </>
                  ),
                ],
                ...SETTINGS.map(([name, field]) => [field.label, settingOf(endpoint, name, field)] as const),
              ]}
            />
            {statistics.error !== undefined && <ErrorBox error={statistics.error} onRetry={statistics.reload} />}
            <AttemptsChart
              minutes={statistics.data?.minutes}
              created={endpoint.created}
              actions={<RangeChoice preset="1h" />}
            />
            {failures.length > 1 && (
              <Card title="Failures" note={period}>
                <FailureTable failures={failures} />
              </Card>
            )}
            <Also explanation={explanation} />
            <Card
              title="Deliveries"
              actions={
                (deliveries.items?.length ?? 0) > 0 && (
                  <Link href={hrefOf("deliveries", "", { endpoint: id })}>All deliveries</Link>
                )
              }
            >
              <DeliveryTable
                label="Deliveries to this endpoint"
                pages={deliveries}
                of="endpoint"
                empty={
                  <Empty icon="deliveries" title="No deliveries yet">
                    <p>
                      {endpoint.status === "enabled"
                        ? "Choose Send test event to see one."
                        : "Enable the endpoint to send it events."}
                    </p>
                  </Empty>
                }
              />
            </Card>
          </Below>
        </>
      )}
    </DetailPage>
  );
}

/** Failed attempts by their outcome. */
function FailureTable({ failures }: { failures: readonly StatisticsFailure[] }) {
  return (
    <Table
      label="Failed attempts by outcome"
      items={failures}
      keyOf={({ endpoint, status_code, error }) => JSON.stringify([endpoint, status_code, error])}
      columns={[
        {
          label: "Response",
          isLong: true,
          cell: ({ status_code: code, error }) => (
            <span class="bad-text" title={error ?? ""}>
              {outcomeInWords(code, error)}
            </span>
          ),
        },
        { label: "Attempts", isNumber: true, cell: (failure) => count(failure.count) },
        { label: "Last", from: "tablet", cell: ({ last_at: at }) => <RowTime at={at} /> },
      ]}
    />
  );
}

function Actions(props: {
  endpoint: WebhookEndpoint;
  path: string;
  waiting: number;
  failed: number;
  /** True if they do not arrive by themselves. */
  isStuck: boolean;
  onChange: () => void;
  onPing: () => void;
}) {
  const call = useCall();
  const go = useGo();
  const { endpoint, path, waiting, failed, onChange, onPing } = props;
  const isRetryFirst = props.isStuck && waiting + failed > 0;
  const [openDialog, setOpenDialog] = useState<"edit" | "rotate" | "disable" | "delete" | "test" | "enable">();
  const isEnabled = endpoint.status === "enabled";
  const dismiss = () => setOpenDialog(undefined);
  const close = () => {
    dismiss();
    onChange();
  };
  const enable = async () => {
    await call("PATCH", path, { status: "enabled" });
    onChange();
    return "Enabled. Held deliveries are sent now.";
  };
  const items: MenuItem[] = [
    { label: "Edit", onSelect: () => setOpenDialog("edit") },
    { label: "Rotate secret", onSelect: () => setOpenDialog("rotate") },
    ...(isEnabled
      ? [{ label: "Disable", onSelect: () => setOpenDialog("disable") }]
      : [{ label: "Enable without replay", onSelect: () => void perform(enable) }]),
    { label: "Delete", onSelect: () => setOpenDialog("delete"), isDanger: true },
  ];
  return (
    <>
      <MoreMenu items={items} />
      {isEnabled ? (
        <>
          {waiting + failed > 0 && (
            <RetryDeliveries
              endpoint={{ id: endpoint.id, name: nameOfEndpoint(endpoint) }}
              failingSince={endpoint.health.failing_since}
              {...(isRetryFirst ? { class: "primary" } : {})}
              label={retryLabel({ pending: waiting, failed_deliveries: failed })}
            />
          )}
          <button
            type="button"
            class={isRetryFirst ? "" : "primary"}
            disabled={isUnreachable.value}
            onClick={() => setOpenDialog("test")}
          >
            Send test event
          </button>
        </>
      ) : (
        <button type="button" class="primary" disabled={isUnreachable.value} onClick={() => setOpenDialog("enable")}>
          Enable and replay
        </button>
      )}
      {(openDialog === "enable" || openDialog === "test" || openDialog === "disable") && (
        <EndpointDialog
          open={openDialog}
          endpoint={endpoint}
          onChange={onChange}
          onClose={() => {
            setOpenDialog(undefined);
            if (openDialog === "test") onPing();
          }}
        />
      )}
      {openDialog === "edit" && (
        <ResourceForm
          kind="webhook_endpoint"
          item={endpoint}
          title="Edit endpoint"
          onClose={dismiss}
          onSaved={onChange}
        />
      )}
      {openDialog === "rotate" && <RotateSecret path={path} onClose={close} />}
      {openDialog === "delete" && (
        <DeleteEndpoint endpoint={endpoint} onDeleted={() => go("endpoints")} onClose={dismiss} />
      )}
    </>
  );
}

/** The settings that the page does not show elsewhere. */
const SETTINGS = inputFieldsOf("webhook_endpoint").filter(([name]) => !["url", "events", "description"].includes(name));

/** Returns what the page shows of a setting: of a map its pairs, or their names if the values are secret. */
function settingOf(endpoint: WebhookEndpoint, name: string, { type, secret = name }: FieldEntry): string | undefined {
  const { [secret]: value } = endpoint as unknown as Readonly<Record<string, string | number | object | null>>;
  if (typeof value !== "object" || value === null) return String(value ?? "") || undefined;
  const texts =
    type === "map" && secret === name ? Object.entries(value).map((pair) => pair.join("=")) : Object.values(value);
  return texts.join(", ") || undefined;
}

function rateOf({ attempts, failed }: StatisticsEndpoint): string {
  return failed === 0 ? count(attempts) : `${count(failed)} of ${count(attempts)} failed`;
}

/** Of fewer attempts, the 95th percentile is that of the slowest one. */
const MIN_FOR_P95 = 20;

/** Returns the median and the 95th percentile of the response times, and what a timeout counts as once they come near it. */
function responseTimeOf({ attempts, ...latency }: Statistics["totals"]): string | null {
  const { latency_p50_ms: median, latency_p95_ms: p95 } = latency;
  if (median === null || p95 === null) return null;
  if (attempts < MIN_FOR_P95) return about(median);
  const limit = p95 >= LIMITS.deliverySeconds * 500 ? `; a timeout counts as ${LIMITS.deliverySeconds} s` : "";
  return `${about(median)}; p95 ${about(p95)}${limit}`;
}

/** Whether two secrets are active and for how long, or whether the only one is too old. */
function SecretNotice({ endpoint }: { endpoint: WebhookEndpoint }) {
  const until = endpoint.previous_secret_until;
  const left = until === null ? 0 : (Date.parse(until) - environmentNow()) / 1000;
  if (left > 0) {
    return (
      <p class="notice" role="status">
        <strong>Both secrets are active.</strong> The old one expires in <span class="countdown">{duration(left)}</span>
        : deploy the new one before then.
      </p>
    );
  }
  if (!isOldSecret(endpoint)) return null;
  return (
    <p class="notice">
      <strong>The signing secret is older than {LIMITS.secretAgeDays} days.</strong> Rotate it; both secrets sign during
      the overlap.
    </p>
  );
}
