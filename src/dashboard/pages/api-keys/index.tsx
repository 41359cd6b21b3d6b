import { useState } from "preact/hooks";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import type { User } from "../../../contract/schemas/account.ts";
import { SCOPES } from "../../../contract/scopes.ts";
import { call } from "../../api/call.ts";
import { usePages, WHOLE } from "../../api/use-query.ts";
import { ConfirmedAction } from "../../components/action.tsx";
import { Badge } from "../../components/badge.tsx";
import { CreateButton } from "../../components/create-button.tsx";
import { Page } from "../../components/page.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { Empty } from "../../components/states.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { CreateKey } from "./create.tsx";
import { isLeaked, statusOf } from "./key-status.ts";
import { LeakReports } from "./leak-reports.tsx";

export function ApiKeys() {
  const pages = usePages<ApiKey>("/v1/api_keys", {}, { limit: 100, every: 5000 });
  const users = usePages<User>("/v1/users", {}, { limit: WHOLE });
  const [fresh, setFresh] = useState<ApiKey>();
  const keep = (key: ApiKey) => {
    setFresh(key);
    pages.reload();
  };
  return (
    <Page
      title="API keys"
      subtitle="Give each service a restricted key of its own."
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
        empty={<Empty title="No keys yet." />}
        columns={[
          {
            label: "Name",
            cell: ({ name, id }) => (
              <>
                <strong>{name ?? "Unnamed"}</strong>
                <br />
                <code class="soft">{id}</code>
              </>
            ),
          },
          {
            label: "Key",
            from: "desktop",
            cell: ({ prefix, last4 }) => (
              <code>
                {prefix}…{last4}
              </code>
            ),
          },
          { label: "Status", cell: (key) => <Badge status={statusOf(key)} /> },
          { label: "May", from: "tablet", cell: (key) => <Allowed of={key} /> },
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
          { label: "Ends", from: "desktop", cell: ({ expires_at: at }) => (at === null ? "Never" : <Time at={at} />) },
          {
            label: "Actions",
            isFor: (key) => statusOf(key) === "active",
            cell: (key) => (
              <span class="row-actions">
                <ConfirmedAction
                  class="small"
                  title="Roll this key?"
                  explanation={<p>A new key with the same rights takes its place. The old one ends at once.</p>}
                  verb="Roll key"
                  run={async () => {
                    keep(await call<ApiKey>("POST", `/v1/api_keys/${key.id}/roll`));
                    return undefined;
                  }}
                >
                  Roll
                </ConfirmedAction>
                <ConfirmedAction
                  class="small danger"
                  title="Revoke this key?"
                  explanation={<p>Whoever uses {key.name ?? key.id} gets 401 from now on. This cannot be undone.</p>}
                  verb="Revoke key"
                  run={async () => {
                    await call("POST", `/v1/api_keys/${key.id}/revoke`);
                    pages.reload();
                    return `Revoked ${key.id}`;
                  }}
                >
                  Revoke
                </ConfirmedAction>
              </span>
            ),
          },
        ]}
      />
      {fresh?.key !== undefined && (
        <SecretOnce title="The new API key" secret={fresh.key} what="the API key" onClose={() => setFresh(undefined)} />
      )}
    </Page>
  );
}

/** The user's email address; of someone who was removed, and of another key, the ID. */
function Creator({ id, users }: { id: string | null; users: readonly User[] }) {
  if (id === null) return <span class="soft">–</span>;
  return <>{users.find((user) => user.id === id)?.email ?? <code class="soft">{id}</code>}</>;
}

/** What a key may do, short where it is everything. */
function Allowed({ of: { scopes, ip_allowlist: ranges } }: { of: ApiKey }) {
  const isFull = scopes.length === SCOPES.length;
  return (
    <>
      {isFull ? "Everything" : scopes.join(", ")}
      {ranges.length > 0 && <span class="soft"> from {ranges.join(", ")}</span>}
    </>
  );
}
