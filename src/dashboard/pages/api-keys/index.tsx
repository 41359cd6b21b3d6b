import { useState } from "preact/hooks";
import type { ApiKey } from "../../contract/schemas/api-key.ts";
import type { User } from "../../contract/schemas/account.ts";
import { SCOPED_RESOURCES, SCOPES } from "../../contract/scopes.ts";
import { call } from "../api/call.ts";
import { usePages, WHOLE } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { environmentNow } from "../clock.ts";
import { ConfirmedAction, CreateButton } from "../components/action.tsx";
import { Dialog, ShownOnce } from "../components/dialog.tsx";
import { Field, Form } from "../components/form.tsx";
import { Empty, Facts, Loaded, Page } from "../components/page.tsx";
import { PagedTable } from "../components/table.tsx";
import { Id, None, Status, Time } from "../components/values.tsx";
import { hrefOf, Link, route } from "../router.tsx";

export function ApiKeys() {
  const { id } = route.value;
  return id === "" ? <KeyList /> : <KeyDetail id={id} />;
}

/** Returns true if the key was revoked because it was found in public. */
function isLeaked({ revoked_reason: reason }: ApiKey): boolean {
  return reason?.startsWith("leaked") === true;
}

function statusOf(key: ApiKey): "active" | "leaked" | "revoked" | "expired" {
  if (isLeaked(key)) return "leaked";
  if (key.revoked_at !== null) return "revoked";
  return key.expires_at !== null && Date.parse(key.expires_at) <= environmentNow() ? "expired" : "active";
}

function KeyList() {
  const pages = usePages<ApiKey>("/v1/api_keys", {}, { limit: 100 });
  const users = usePages<User>("/v1/users", {}, { limit: WHOLE });
  const [fresh, setFresh] = useState<ApiKey>();
  const keep = (key: ApiKey) => {
    setFresh(key);
    pages.reload();
  };
  return (
    <Page
      title="API keys"
      subtitle="Give each service its own restricted key."
      actions={
        <CreateButton
          label="Create key"
          dialog={(close) => (
            <CreateKey
              onClose={close}
              onCreated={(key) => {
                close();
                keep(key);
              }}
            />
          )}
        />
      }
    >
      <LeakReports keys={(pages.items ?? []).filter(isLeaked)} />
      <PagedTable
        label="API keys, newest first"
        pages={pages}
        empty={
          <Empty icon="keys" title="No API keys yet">
            <p>Create a key to call the API from a server.</p>
          </Empty>
        }
        columns={[
          {
            label: "Name",
            isLong: true,
            cell: ({ name, id }) => (
              <>
                <Link href={hrefOf("keys", id)}>{name ?? "Unnamed"}</Link>
                <br />
                <code class="soft">{id}</code>
              </>
            ),
          },
          { label: "Status", cell: (key) => <Status status={statusOf(key)} /> },
          {
            label: "Permissions",
            from: "tablet",
            isLong: true,
            cell: (key) => <span title={key.scopes.join("\n")}>{permissionsOf(key)}</span>,
          },
          {
            label: "Created by",
            from: "desktop",
            cell: ({ created_by: creator }) => <Creator id={creator} users={users.items ?? []} />,
          },
          {
            label: "Last used",
            from: "desktop",
            cell: ({ last_used: at }) => (at === null ? "Never" : <Time at={at} />),
          },
          {
            label: "Expires",
            from: "desktop",
            cell: ({ expires_at: at }) => (at === null ? "Never" : <Time at={at} />),
          },
          {
            label: "Actions",
            isFor: (key) => statusOf(key) === "active",
            cell: (key) => <KeyActions apiKey={key} onRolled={keep} onRevoked={pages.reload} />,
          },
        ]}
      />
      {fresh?.key !== undefined && (
        <ShownOnce title="The new API key" secret={fresh.key} what="the API key" onClose={() => setFresh(undefined)} />
      )}
    </Page>
  );
}

function KeyActions(props: { apiKey: ApiKey; onRolled: (key: ApiKey) => void; onRevoked: () => void }) {
  const { apiKey: key, onRolled, onRevoked } = props;
  return (
    <span class="row-actions">
      <ConfirmedAction
        class="small"
        title="Roll this key?"
        explanation={<p>A new key with the same permissions replaces it. The old key stops working at once.</p>}
        verb="Roll key"
        run={async () => {
          onRolled(await call<ApiKey>("POST", `/v1/api_keys/${key.id}/roll`));
          return undefined;
        }}
      >
        Roll
      </ConfirmedAction>
      <ConfirmedAction
        class="small danger"
        title="Revoke this key?"
        explanation={<p>Requests with {key.name ?? key.id} get 401 from now on. This cannot be undone.</p>}
        verb="Revoke key"
        run={async () => {
          await call("POST", `/v1/api_keys/${key.id}/revoke`);
          onRevoked();
          return `Revoked ${key.id}`;
        }}
      >
        Revoke
      </ConfirmedAction>
    </span>
  );
}

function KeyDetail({ id }: { id: string }) {
  const query = useQuery<ApiKey>(`/v1/api_keys/${encodeURIComponent(id)}`);
  const users = usePages<User>("/v1/users", {}, { limit: WHOLE });
  const [fresh, setFresh] = useState<ApiKey>();
  const { data } = query;
  return (
    <Page
      title={data === undefined ? "API key" : (data.name ?? "Unnamed")}
      back={{ href: hrefOf("keys"), label: "API keys" }}
      actions={
        data !== undefined &&
        statusOf(data) === "active" && <KeyActions apiKey={data} onRolled={setFresh} onRevoked={query.reload} />
      }
    >
      <Loaded of={query}>
        {(key) => (
          <>
            <LeakReports keys={[key].filter(isLeaked)} />
            <Facts
              rows={[
                ["Status", <Status status={statusOf(key)} />],
                [
                  "Key",
                  <code>
                    {key.prefix}…{key.last4}
                  </code>,
                ],
                ["ID", <Id id={key.id} />],
                ["Permissions", permissionsOf(key)],
                ["IP allowlist", key.ip_allowlist.length === 0 ? "Any address" : key.ip_allowlist.join(", ")],
                ["Created by", <Creator id={key.created_by} users={users.items ?? []} />],
                ["Created", <Time at={key.created} />],
                ["Last used", key.last_used === null ? "Never" : <Time at={key.last_used} />],
                ["Expires", key.expires_at === null ? "Never" : <Time at={key.expires_at} />],
                ["Revoked", key.revoked_at === null ? undefined : <Time at={key.revoked_at} />],
              ]}
            />
            <p>
              <Link href={hrefOf("logs", "", { key: key.id })}>API requests of this key</Link>
            </p>
          </>
        )}
      </Loaded>
      {fresh?.key !== undefined && (
        <ShownOnce title="The new API key" secret={fresh.key} what="the API key" onClose={() => setFresh(undefined)} />
      )}
    </Page>
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
            <strong>{key.name ?? "Unnamed"}</strong>{" "}
            <code>
              {key.prefix}…{key.last4}
            </code>
            , revoked <Time at={key.revoked_at} />, {revocationNote(key)}
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

/** Returns the user's email address; the ID for a removed user or another key. */
function Creator({ id, users }: { id: string | null; users: readonly User[] }) {
  if (id === null) return <None />;
  return <>{users.find((user) => user.id === id)?.email ?? <code class="soft">{id}</code>}</>;
}

function permissionsOf({ scopes, ip_allowlist: ranges }: ApiKey): string {
  const what = scopes.length === SCOPES.length ? "Full access" : scopes.join(", ");
  return ranges.length === 0 ? what : `${what} from ${ranges.join(", ")}`;
}

const READ_ONLY = SCOPES.filter((scope) => scope.endsWith(":read"));

/** Creates a key: restricted to scopes chosen in a table, or with full access. */
function CreateKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: ApiKey) => void }) {
  const [name, setName] = useState("");
  const [access, setAccess] = useState<"read" | "chosen" | "full">("chosen");
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set());
  const [ranges, setRanges] = useState("");
  const [expiry, setExpiry] = useState("");
  return (
    <Dialog title="Create an API key" onClose={onClose} class="wide">
      <Form
        submit="Create key"
        fields={["name", "scopes", "ip_allowlist", "expires_at"]}
        onCancel={onClose}
        run={async () => {
          onCreated(
            await call<ApiKey>("POST", "/v1/api_keys", {
              name: name || null,
              ...(access === "full" ? {} : { scopes: access === "read" ? READ_ONLY : [...scopes] }),
              ip_allowlist: ranges.split(/[\s,]+/).filter(Boolean),
              expires_at: expiry === "" ? null : `${new Date(expiry).toISOString().slice(0, 19)}Z`,
            }),
          );
        }}
      >
        {(error) => (
          <>
            <Field
              label="Name"
              name="name"
              value={name}
              onInput={setName}
              error={error}
              placeholder="Warehouse importer"
            />
            <Field
              label="Permissions"
              name="access"
              value={access}
              onInput={(value) => setAccess(value as typeof access)}
              options={[
                ["chosen", "Restricted: choose scopes"],
                ["read", "Read only"],
                ["full", "Full access (not recommended)"],
              ]}
            />
            {access === "chosen" && <ScopeTable chosen={scopes} onChange={setScopes} />}
            {error?.fields.some(({ pointer }) => pointer.startsWith("/scopes")) === true && (
              <p class="field-error">Choose at least one scope.</p>
            )}
            <Field
              label="IP allowlist"
              name="ip_allowlist"
              isLong
              value={ranges}
              onInput={setRanges}
              error={error}
              hint="CIDR ranges, such as 203.0.113.0/24. Empty: any address."
            />
            <Field
              label="Expires"
              name="expires_at"
              type="datetime-local"
              value={expiry}
              onInput={setExpiry}
              error={error}
              hint="In your local time. Empty: never."
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Scopes that no operation requires. */
const WITHOUT_EFFECT = "request_logs:write";

/** Scopes as a table of resource and action; write does not imply read. */
function ScopeTable(props: { chosen: ReadonlySet<string>; onChange: (chosen: ReadonlySet<string>) => void }) {
  const toggle = (scope: string) => {
    const chosen = new Set(props.chosen);
    if (!chosen.delete(scope)) chosen.add(scope);
    props.onChange(chosen);
  };
  return (
    <table class="scopes">
      <caption class="sr-only">Scopes</caption>
      <thead>
        <tr>
          <th scope="col">Resource</th>
          <th scope="col">Read</th>
          <th scope="col">Write</th>
        </tr>
      </thead>
      <tbody>
        {[...SCOPED_RESOURCES, "listen"].map((resource) => (
          <tr key={resource}>
            <th scope="row">{resource}</th>
            {["read", "write"].map((action) => {
              const scope = `${resource}:${action}`;
              const exists = (SCOPES as readonly string[]).includes(scope) && scope !== WITHOUT_EFFECT;
              return (
                <td key={action}>
                  {exists && (
                    <input
                      type="checkbox"
                      aria-label={scope}
                      checked={props.chosen.has(scope)}
                      onChange={() => toggle(scope)}
                    />
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
