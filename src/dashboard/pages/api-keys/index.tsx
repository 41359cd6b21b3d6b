import { useState } from "preact/hooks";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import { RESOURCES } from "../../../contract/resources.ts";
import type { RequestLog, RequestLogDetail } from "../../../contract/schemas/request-log.ts";
import type { User } from "../../../contract/schemas/account.ts";
import { SCOPES } from "../../../contract/scopes.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { usePages } from "../../api/pages.ts";
import { useQuery } from "../../api/store.ts";
import { clockOffset, environmentNow } from "../../clock.ts";
import { DetailPage } from "../../components/detail-page.tsx";
import { ConfirmedAction } from "../../components/action.tsx";
import { ShownOnce } from "../../components/dialog.tsx";
import { Card, Empty, Facts, Page } from "../../components/page.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Status, Time, Until } from "../../components/values.tsx";
import { duration } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { KeyRequests } from "../request-table.tsx";
import { CreateResource, EditResource } from "../resource-form.tsx";
import { UserEmail, useUsers } from "../team.tsx";
import { listAndPage } from "../list-page.tsx";

export const ApiKeys = listAndPage(KeyList, KeyDetail);

/** Returns true if the key was revoked because it was found in public. */
function isLeaked({ revoked_reason: reason }: ApiKey): boolean {
  return reason?.startsWith("leaked") === true;
}

function statusOf(key: ApiKey): "active" | "leaked" | "revoked" | "expired" {
  if (isLeaked(key)) return "leaked";
  if (key.revoked_at !== null) return "revoked";
  return key.expires_at !== null && Date.parse(key.expires_at) <= environmentNow() ? "expired" : "active";
}

/** Those that can be used come first. */
function rankOf(key: ApiKey): number {
  return statusOf(key) === "active" ? 0 : 1;
}

/** The ends of a key, by which a leaked one is found. */
function KeyHint({ of: { prefix, last4 } }: { of: ApiKey }) {
  return (
    <code>
      {prefix}…{last4}
    </code>
  );
}

function KeyList() {
  const pages = usePages<ApiKey>("/v1/api_keys", {}, { limit: 100 });
  const users = useUsers();
  const [fresh, setFresh] = useState<ApiKey>();
  const keep = (key: ApiKey) => {
    setFresh(key);
    pages.reload();
  };
  return (
    <Page
      title="API keys"
      subtitle="Give each service its own restricted key."
      actions={<CreateResource<ApiKey> kind="api_key" label="Create key" title="Create an API key" onSaved={keep} />}
    >
      <LeakReports keys={(pages.items ?? []).filter(isLeaked)} />
      <PagedTable
        label="API keys, active ones first"
        pages={{ ...pages, items: pages.items?.toSorted((a, b) => rankOf(a) - rankOf(b)) }}
        empty={
          <Empty icon="keys" title="No API keys yet">
            <p>Create a key to call the API from a server.</p>
          </Empty>
        }
        columns={[
          {
            label: "Name",
            isLong: true,
            cell: (key) => (
              <>
                <Link href={hrefOf("keys", key.id)}>{nameOf(key)}</Link>
                <span class="narrow-only soft">
                  <KeyHint of={key} />
                </span>
                <span class="narrow-only soft">{summaryOf(key)}</span>
                <span class="narrow-only soft">
                  {key.last_used === null ? (
                    "Never used"
                  ) : (
                    <>
                      Used <Time at={key.last_used} isReal />
                    </>
                  )}
                  {key.expires_at !== null && (
                    <>
                      , expires <Until at={key.expires_at} />
                    </>
                  )}
                </span>
              </>
            ),
          },
          { label: "Key", from: "tablet", cell: (key) => <KeyHint of={key} /> },
          { label: "Status", cell: (key) => <Status status={statusOf(key)} /> },
          {
            label: "Permissions",
            from: "tablet",
            isLong: true,
            cell: (key) => (
              <span title={[...key.scopes, ...key.ip_allowlist].join("\n")}>
                {summaryOf(key)}
                {key.ip_allowlist.length > 0 && <span class="soft"> from {key.ip_allowlist.join(", ")}</span>}
              </span>
            ),
          },
          {
            label: "Created by",
            from: "desktop",
            cell: ({ created_by: creator }) => {
              const name = pages.items?.find(({ id }) => id === creator)?.name;
              return name == null ? <Creator id={creator} users={users} /> : <>{name} (API key)</>;
            },
          },
          {
            label: "Last used",
            head: lastUsed(),
            from: "desktop",
            cell: ({ last_used: at }) => (at === null ? "Never" : <Time at={at} isReal />),
          },
          {
            label: "Expires",
            head: clockOffset.value > 0 ? "Expires (sandbox time)" : "Expires",
            from: "desktop",
            cell: ({ expires_at: at }) => (at === null ? "Never" : <Until at={at} />),
          },
          {
            label: "Actions",
            isFor: (key) => statusOf(key) === "active",
            cell: (key) => (
              <span class="row-actions">
                <KeyActions apiKey={key} class="small" onRotated={keep} onRevoked={pages.reload} />
              </span>
            ),
          },
        ]}
      />
      <NewKey of={fresh} onClose={() => setFresh(undefined)} />
    </Page>
  );
}

function NewKey({ of, onClose }: { of: ApiKey | undefined; onClose: () => void }) {
  if (of?.key === undefined) return null;
  return <ShownOnce title="The new API key" secret={of.key} what="the API key" onClose={onClose} />;
}

function KeyActions(props: {
  apiKey: ApiKey;
  class?: string;
  onRotated: (key: ApiKey) => void;
  onRevoked: () => void;
}) {
  const call = useCall();
  const { apiKey: key, class: size = "", onRotated, onRevoked } = props;
  return (
    <>
      <ConfirmedAction
        class={size}
        title="Rotate this key?"
        explanation={
          <>
            <p>A new key with the same permissions replaces it. The old key stops working at once.</p>
            <LastRequest of={key} />
          </>
        }
        verb="Rotate key"
        run={async () => {
          onRotated(await call<ApiKey>("POST", `/v1/api_keys/${key.id}/roll`));
          return undefined;
        }}
      >
        Rotate
      </ConfirmedAction>
      <ConfirmedAction
        class={`${size} danger`}
        title="Revoke this key?"
        explanation={
          <>
            <p>Requests with {key.name ?? key.id} get 401 from now on. This cannot be undone.</p>
            <LastRequest of={key} />
          </>
        }
        verb="Revoke key"
        run={async () => {
          await call("POST", `/v1/api_keys/${key.id}/revoke`);
          onRevoked();
          return `Revoked ${key.id}`;
        }}
      >
        Revoke
      </ConfirmedAction>
    </>
  );
}

/** Whether a key is still in use, and where. */
function LastRequest({ of: { id, last_used: used } }: { of: ApiKey }) {
  const newest = useQuery<{ data: RequestLog[] }>(withQuery("/v1/request_logs", { key: id, limit: 1 }));
  const request = newest.data?.data[0];
  const { data: whole } = useQuery<RequestLogDetail>(request && `/v1/request_logs/${request.id}`);
  if (newest.data === undefined) return <p class="soft">Looking up its last request…</p>;
  if (request === undefined) return <p>{used === null ? "It was never used." : "No request in the last 7 days."}</p>;
  return (
    <p>
      Its last request was{" "}
      <code>
        {request.method} {request.path}
      </code>
      , <Time at={request.created} isReal />
      {whole?.client_address != null && `, from ${whole.client_address}`}.
    </p>
  );
}

/** The user or the key that created a key. */
function Creator({ id, users }: { id: string | null; users: readonly User[] }) {
  const isKey = id?.startsWith(RESOURCES.api_key.prefix) === true;
  const { data } = useQuery<ApiKey>(isKey ? `/v1/api_keys/${id}` : undefined);
  if (id === null) return <>The platform</>;
  return data === undefined ? (
    <UserEmail id={id} users={users} />
  ) : (
    <>
      <Link href={hrefOf("keys", id)}>{nameOf(data)}</Link> (API key)
    </>
  );
}

function nameOf({ name }: ApiKey): string {
  return name ?? "Unnamed";
}

function KeyDetail({ id }: { id: string }) {
  const query = useQuery<ApiKey>(`/v1/api_keys/${encodeURIComponent(id)}`);
  const users = useUsers();
  const [fresh, setFresh] = useState<ApiKey>();
  const { data } = query;
  return (
    <>
      <DetailPage
        page="keys"
        id={id}
        of={query}
        title={data === undefined ? "API key" : nameOf(data)}
        actions={(key) =>
          statusOf(key) === "active" && (
            <>
              <EditResource kind="api_key" item={key} title="Edit this API key" onSaved={query.reload} />
              <KeyActions apiKey={key} onRotated={setFresh} onRevoked={query.reload} />
            </>
          )
        }
      >
        {(key) => (
          <>
            <LeakReports keys={[key].filter(isLeaked)} />
            <section class="answer object" aria-label="Summary">
              <p dir="auto">
                {nameOf(key)} <Status status={statusOf(key)} />
              </p>
              <p class="evidence">
                <KeyHint of={key} />
                {clockOffset.value > 0 &&
                  ` · Times are on the test clock, ${duration(clockOffset.value / 1000)} ahead of real time.`}
              </p>
            </section>
            <Facts
              rows={[
                ["Permissions", key.scopes.length === SCOPES.length ? "Full access" : key.scopes.join(", ")],
                ["IP allowlist", key.ip_allowlist.length === 0 ? "Any address" : key.ip_allowlist.join(", ")],
                ["Created by", <Creator id={key.created_by} users={users} />],
                ["Created", <Time at={key.created} />],
                [lastUsed(), key.last_used === null ? "Never" : <Time at={key.last_used} isReal />],
                ["Expires", key.expires_at === null ? "Never" : <Until at={key.expires_at} />],
                ["Revoked", key.revoked_at === null ? undefined : <Time at={key.revoked_at} />],
              ]}
            />
            <Card
              title="API requests"
              note={clockOffset.value > 0 && "in real time"}
              actions={<Link href={hrefOf("logs", "", { key: key.id })}>Open in the request log</Link>}
            >
              <KeyRequests id={key.id} />
            </Card>
          </>
        )}
      </DetailPage>
      <NewKey of={fresh} onClose={() => setFresh(undefined)} />
    </>
  );
}

/** Keys that were found in public and revoked by the platform, and where. */
function LeakReports({ keys }: { keys: readonly ApiKey[] }) {
  if (keys.length === 0) return null;
  return (
    <section class="notice bad">
      <h2>Found in public</h2>
      <p>The platform revoked {keys.length === 1 ? "a key" : `${keys.length} keys`} that were reported as leaked:</p>
      <ul>
        {keys.map((key) => (
          <li key={key.id}>
            <strong>{nameOf(key)}</strong> <KeyHint of={key} />, revoked <Time at={key.revoked_at} />,{" "}
            {revocationNote(key)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Text, never a link: the reporter of the key chose it. */
function revocationNote({ revoked_reason: reason }: ApiKey): string {
  const found = /^leaked: (.*)$/s.exec(reason ?? "")?.[1];
  return found === undefined ? "location unknown" : `found at ${found}`;
}

function lastUsed(): string {
  return clockOffset.value > 0 ? "Last used (real time)" : "Last used";
}

/** Returns the permissions of a key in a few words. */
function summaryOf({ scopes }: ApiKey): string {
  if (scopes.length === SCOPES.length) return "Full access";
  const count = (end: string) => scopes.filter((scope) => scope.endsWith(`:${end}`)).length;
  if (scopes.length <= 2) return scopes.join(", ");
  return ["read", "write"].flatMap((end) => (count(end) === 0 ? [] : [`${count(end)} ${end}`])).join(", ");
}
