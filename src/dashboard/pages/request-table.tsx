import type { ComponentChildren } from "preact";
import type { ApiKey } from "../../contract/schemas/api-key.ts";
import type { RequestLog } from "../../contract/schemas/request-log.ts";
import { type Pages, usePages } from "../api/pages.ts";
import { Empty } from "../components/page.tsx";
import { PagedTable } from "../components/table.tsx";
import { ObjectLink, RequestStatus, RowTime } from "../components/values.tsx";
import { milliseconds } from "../format.ts";
import { hrefOf, Link } from "../router.tsx";
import { UserEmail, useUsers } from "./team.tsx";

/** The requests with a key. */
export function KeyRequests({ id }: { id: string }) {
  return (
    <RequestTable
      label="API requests of this key"
      pages={usePages<RequestLog>("/v1/request_logs", { key: id })}
      empty={<Empty title="No requests in the last 7 days" />}
    />
  );
}

export function RequestTable(props: {
  label: string;
  pages: Pages<RequestLog>;
  search?: string;
  keepsPosition?: boolean;
  empty: ComponentChildren;
}) {
  const users = useUsers();
  const keys = usePages<ApiKey>("/v1/api_keys", {}, { limit: 100 });
  return (
    <PagedTable
      {...props}
      timeOf={({ created }) => created}
      isReal
      columns={[
        { label: "Time", isTime: true, cell: ({ created }) => <RowTime at={created} isReal /> },
        {
          label: "Request",
          isLong: true,
          cell: (log) => (
            <>
              <Link class="main-link" href={hrefOf("logs", log.id)} row={log.id}>
                <code class="target">
                  <span class="method">{log.method}</span> <span>{log.path}</span>
                </code>
              </Link>
              {hasError(log) && <span class="narrow-only">{errorOf(log)}</span>}
            </>
          ),
        },
        { label: "Status", isNumber: true, cell: ({ status: code }) => <RequestStatus code={code} /> },
        {
          label: "Error",
          from: "tablet",
          isFor: hasError,
          cell: errorOf,
        },
        {
          label: "Credential",
          from: "desktop",
          cell: ({ key, user }) => (
            <span class="quiet">
              {key === null ? <UserEmail id={user} users={users} /> : <KeyName id={key} keys={keys.items} />}
            </span>
          ),
        },
        {
          label: "Duration",
          from: "desktop",
          isNumber: true,
          cell: (log) => (
            <>
              {isDelayed(log) && <span class="tag">fault</span>} {milliseconds(log.duration_ms)}
            </>
          ),
        },
      ]}
    />
  );
}

function hasError(log: RequestLog): boolean {
  return log.error_code !== null || (log.fault !== null && !isDelayed(log));
}

/** Returns true if a fault took time, and left the response as it was. */
export function isDelayed({ fault }: RequestLog): boolean {
  return fault?.effect === "delay";
}

/** The error that a request got, or what a fault did to it. */
function errorOf(log: RequestLog): ComponentChildren {
  const { error_code: code, fault } = log;
  return (
    <>
      <span class="bad-text">{code ?? fault?.effect.replace("_", " ")}</span>
      {fault !== null && !isDelayed(log) && <span class="tag">fault</span>}
    </>
  );
}

/** A key by its name; by its ID if it has none. */
export function KeyName({ id, keys = [] }: { id: string; keys?: readonly ApiKey[] | undefined }) {
  const name = keys.find((key) => key.id === id)?.name;
  return name == null ? <ObjectLink id={id} /> : <Link href={hrefOf("keys", id)}>{name}</Link>;
}
