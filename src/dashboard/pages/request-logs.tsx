import { useEffect } from "preact/hooks";
import { timeOfId } from "../../contract/ids.ts";
import type { RequestLog } from "../../contract/schemas/request-log.ts";
import { usePages } from "../api/pages.ts";
import { clockOffset } from "../clock.ts";
import { Empty, Facts, Loading, Page } from "../components/page.tsx";
import { PagedTable } from "../components/table.tsx";
import { Id, None, ObjectLink, StatusCode, Time } from "../components/values.tsx";
import { milliseconds } from "../format.ts";
import { hrefOf, Link, place } from "../router.tsx";
import { Choice, filterOf, Filters, Search } from "./filters.tsx";

export function RequestLogs() {
  const { id } = place.value;
  return id === "" ? <RequestList /> : <RequestDetail id={id} />;
}

const REAL_TIME = "Requests are logged in real time, which the test clock does not move.";

function RequestList() {
  const [method, status, path, key] = ["method", "status", "path", "key"].map(filterOf) as [
    string,
    string,
    string,
    string,
  ];
  const pages = usePages<RequestLog>("/v1/request_logs", { method, status, path, key });
  const isFiltered = [method, status, path, key].some((value) => value !== "");
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
          hint="409"
          problemOf={(text) => (/^([1-5]\d\d)?$/.test(text) ? undefined : "Enter a status code, such as 409")}
        />
        <Search
          label="Path"
          name="path"
          hint="/v1/customers"
          problemOf={(text) =>
            text === "" || text.startsWith("/") ? undefined : "Enter a whole path, such as /v1/orders"
          }
        />
        {key !== "" && (
          <p>
            By <ObjectLink id={key} /> <Link href={hrefOf("logs")}>Show all</Link>
          </p>
        )}
      </Filters>
      <PagedTable
        label="Requests, newest first"
        pages={pages}
        keepsPlace
        empty={
          <Empty icon="logs" title={isFiltered ? "No matching requests" : "No requests yet"}>
            <p>{isFiltered ? "The path has to match as a whole." : "Requests to the API are listed here."}</p>
          </Empty>
        }
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
          { label: "Error", from: "tablet", cell: ({ error_code: code }) => code ?? <None /> },
          { label: "Duration", from: "tablet", isNumber: true, cell: ({ duration_ms: took }) => milliseconds(took) },
          { label: "Time", cell: ({ created }) => <Time at={created} isReal /> },
        ]}
      />
    </Page>
  );
}

/** Number of recent requests that are searched for an ID, because the API has no other way to find it. */
const MAX_SEARCHED = 2000;

function RequestDetail({ id }: { id: string }) {
  const pages = usePages<RequestLog>("/v1/request_logs", {}, { limit: 100 });
  const { items, hasMore, isLoading, loadMore } = pages;
  const log = items?.find((item) => item.id === id);
  const isPast = items?.some((item) => item.id < id) === true;
  const canSearchOn = log === undefined && !isPast && hasMore && (items?.length ?? 0) < MAX_SEARCHED;
  useEffect(() => {
    if (canSearchOn && !isLoading) loadMore();
  });
  return (
    <Page
      title={log === undefined ? "Request" : `${log.method} ${log.path}`}
      back={{ href: hrefOf("logs"), label: "Request log" }}
    >
      {log !== undefined ? (
        <Facts
          rows={[
            ["Status", <StatusCode code={log.status} />],
            ["Error", log.error_code ?? undefined],
            ["Duration", milliseconds(log.duration_ms)],
            ["Time (real)", <Time at={log.created} isReal />],
            ["API key", log.key === null ? undefined : <ObjectLink id={log.key} />],
            ["User", log.user === null ? undefined : <code>{log.user}</code>],
            ["ID", <Id id={log.id} />],
          ]}
        />
      ) : canSearchOn || items === undefined ? (
        <Loading what="Searching the request log" />
      ) : (
        <Empty icon="logs" title="Request not found">
          <p>{notFound(id, isPast)}</p>
        </Empty>
      )}
    </Page>
  );
}

function notFound(id: string, isPast: boolean): string {
  if (isPast) return "What the dashboard reads is not logged, and requests are retained for 7 days.";
  const at = /^req_[0-9A-Za-z]{22}$/.test(id) ? ` It was made at ${new Date(timeOfId(id)).toISOString()}.` : "";
  return `It is not among the newest ${MAX_SEARCHED} requests.${at}`;
}
