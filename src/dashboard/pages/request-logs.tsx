import type { ComponentChildren } from "preact";
import { timeOfId } from "../../contract/ids.ts";
import type { RequestLog, RequestLogDetail } from "../../contract/schemas/request-log.ts";
import { usePages } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { clockOffset } from "../clock.ts";
import { Card, Empty, Facts, Loaded, Page } from "../components/page.tsx";
import { PagedTable } from "../components/table.tsx";
import { Id, message, None, ObjectLink, Raw, StatusCode, Time, WhyLink } from "../components/values.tsx";
import { milliseconds } from "../format.ts";
import { hrefOf, Link, route } from "../router.tsx";
import { UserEmail, useUsers } from "./team.tsx";
import { Choice, createdFilters, CreatedRange, filterOf, Filters, Search } from "./filters.tsx";

export function RequestLogs() {
  const { id } = route.value;
  return id === "" ? <RequestList /> : <RequestDetail id={id} />;
}

const REAL_TIME = "Request times are real times, which the test clock does not affect.";

function RequestList() {
  const { method, status, key, query } = Object.fromEntries(
    (["method", "status", "key", "query"] as const).map((name) => [name, filterOf(name)]),
  ) as Record<"method" | "status" | "key" | "query", string>;
  const filters = { method, status, key, query, ...createdFilters() };
  const isFiltered = Object.values(filters).some((value) => value !== "");
  return (
    <Page
      title="Request log"
      subtitle={`API requests, retained for 7 days, without secrets.${clockOffset.value > 0 ? ` ${REAL_TIME}` : ""}`}
    >
      <Filters>
        <Choice
          label="Method"
          name="method"
          options={[["", "All"], ...["GET", "POST", "PATCH", "DELETE"].map((name) => [name, name] as const)]}
        />
        <Search
          label="Status"
          name="status"
          hint="409 or 4xx"
          problemOf={(text) => (/^([1-5](\d\d|xx))?$/.test(text) ? undefined : "Enter a status, such as 409 or 4xx")}
        />
        <CreatedRange isReal />
        <Search hint="Path, ID or error" />
        {key !== "" && (
          <p>
            By <ObjectLink id={key} /> <Link href={hrefOf("logs")}>Show all</Link>
          </p>
        )}
      </Filters>
      <RequestTable
        label="Requests, newest first"
        filters={filters}
        keepsPosition
        empty={
          <Empty icon="logs" title={isFiltered ? "No matching requests" : "No requests yet"}>
            {!isFiltered && <p>API requests appear here.</p>}
          </Empty>
        }
      />
    </Page>
  );
}

/** The requests that match some filters, newest first. */
export function RequestTable(props: {
  label: string;
  filters: Record<string, string>;
  keepsPosition?: boolean;
  empty?: ComponentChildren;
}) {
  const { filters, empty = <Empty title="No requests in the last 7 days" />, ...table } = props;
  const users = useUsers();
  return (
    <PagedTable
      {...table}
      empty={empty}
      pages={usePages<RequestLog>("/v1/request_logs", filters)}
      search={filters["query"] ?? ""}
      columns={[
        {
          label: "Request",
          isLong: true,
          cell: ({ id, method: verb, path: of }) => (
            <Link href={hrefOf("logs", id)}>
              <code>
                {verb} {of}
              </code>
            </Link>
          ),
        },
        { label: "Status", cell: ({ status: code }) => <StatusCode code={code} /> },
        {
          label: "Credential",
          from: "desktop",
          cell: ({ key, user }) => (key === null ? <UserEmail id={user} users={users} /> : <ObjectLink id={key} />),
        },
        { label: "Error", from: "tablet", cell: ({ error_code: code }) => code ?? <None /> },
        { label: "Duration", from: "tablet", isNumber: true, cell: ({ duration_ms: took }) => milliseconds(took) },
        { label: "Time", cell: ({ created }) => <Time at={created} isReal /> },
      ]}
    />
  );
}

function RequestDetail({ id }: { id: string }) {
  const query = useQuery<RequestLogDetail>(`/v1/request_logs/${encodeURIComponent(id)}`);
  const { data: log } = query;
  return (
    <Page
      title={log === undefined ? "Request" : `${log.method} ${log.path}`}
      back={{ href: hrefOf("logs"), label: "Request log" }}
      actions={log !== undefined && <WhyLink id={id} />}
    >
      {query.error?.status === 404 ? (
        <Empty icon="logs" title="Request not found">
          <p>Requests are retained for 7 days, and what the dashboard reads is not logged.{createdAt(id)}</p>
        </Empty>
      ) : (
        <Loaded of={query}>{(request) => <RequestFacts log={request} />}</Loaded>
      )}
    </Page>
  );
}

function createdAt(id: string): string {
  return /^req_[0-9A-Za-z]{22}$/.test(id) ? ` This one was made at ${new Date(timeOfId(id)).toISOString()}.` : "";
}

function RequestFacts({ log }: { log: RequestLogDetail }) {
  const users = useUsers();
  const target = log.query === null || log.query === "" ? log.path : `${log.path}?${log.query}`;
  return (
    <>
      <Facts
        rows={[
          ["Status", <StatusCode code={log.status} />],
          ["Error", log.error_code === null ? undefined : <a href={`/problems/${log.error_code}`}>{log.error_code}</a>],
          ["Left out", log.left_out === 0 ? undefined : `${log.left_out} similar requests within the second`],
          ["Duration", milliseconds(log.duration_ms)],
          ["Time (real)", <Time at={log.created} isReal />],
          ["API key", log.key === null ? undefined : <ObjectLink id={log.key} />],
          ["User", log.user === null ? undefined : <UserEmail id={log.user} users={users} />],
          ["IP address", log.client_address ?? undefined],
          ["ID", <Id id={log.id} />],
        ]}
      />
      {log.events.length > 0 && (
        <Card title="Events of this request">
          <ul>
            {log.events.map((event) => (
              <li key={event}>
                <ObjectLink id={event} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {log.missing_scope !== null && (
        <p class="notice">Query and bodies are hidden: they require the scope {log.missing_scope}.</p>
      )}
      {log.request_headers === null && log.response_headers === null ? (
        <p class="notice">Headers and bodies were not stored: the platform was under heavy load.</p>
      ) : (
        <div class="columns">
          <Card title="Request">
            <Raw label="Request" text={message(`${log.method} ${target}`, log.request_headers, log.request_body)} />
          </Card>
          <Card title="Response">
            <Raw label="Response" text={message(String(log.status), log.response_headers, log.response_body)} />
          </Card>
        </div>
      )}
    </>
  );
}
