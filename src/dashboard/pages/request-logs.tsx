import type { ComponentChildren } from "preact";
import { timeOfId } from "../../contract/ids.ts";
import type { ApiKey } from "../../contract/schemas/api-key.ts";
import type { RequestLog, RequestLogDetail } from "../../contract/schemas/request-log.ts";
import { useExplanation } from "../api/explanation.ts";
import { usePages } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { clockOffset } from "../clock.ts";
import { Answer } from "../components/answer.tsx";
import { Below, Card, Empty, Facts, Gone, Loaded, Page } from "../components/page.tsx";
import { Trail } from "../components/trail.tsx";
import { ClockTime, Copy, curl, message, ObjectLink, Raw, RequestStatus, Time } from "../components/values.tsx";
import { counted, localTime, milliseconds, pastTime } from "../format.ts";
import { filter, hrefOf, Link } from "../router.tsx";
import { Choice, filterOf } from "./choice.tsx";
import { ClearFilters, listFilters, oneOf, Search, type Terms, timeTerms } from "./filters.tsx";
import { listAndPage, ListPage, loadedOf } from "./list-page.tsx";
import { isDelayed, KeyName, RequestTable } from "./request-table.tsx";
import { UserEmail, useUsers } from "./team.tsx";

export const RequestLogs = listAndPage(RequestList, RequestDetail);

const METHODS = [["", "All"] as const, ...["GET", "POST", "PATCH", "DELETE"].map((name) => [name, name] as const)];
/** There are many reads, and they change nothing: by default, the log shows those that failed. */
const READS = [
  ["", "Failed only"],
  ["all", "All"],
] as const;
const TERMS: Terms = {
  ...timeTerms(Date.now),
  method: oneOf("method", METHODS),
  status: (text) => (/^[1-5](\d\d|xx)$/.test(text) ? { status: text } : undefined),
};
const REAL_TIME = "Request times are real times, which the test clock does not affect.";

function RequestList() {
  const { filters: chosen, isFiltered } = listFilters("method", "status", "key", "query");
  const { method, key } = chosen;
  // A selected method is shown completely.
  const areReadsHidden = method === "" && filterOf("reads") === "";
  const filters = { ...chosen, reads: areReadsHidden ? "failed" : "" };
  const pages = usePages<RequestLog>("/v1/request_logs", filters);
  return (
    <ListPage
      title="Request log"
      subtitle={clockOffset.value > 0 ? REAL_TIME : undefined}
      count={loadedOf(pages)}
      detail={RequestDetail}
      command="logs"
      filters={filters}
      search={{ hint: "Search a path, ID or error, or status:4xx method:post", terms: TERMS }}
      isReal
      choices={
        <>
          <Choice label="Method" name="method" options={METHODS} />
          {method === "" && <Choice label="GET requests" name="reads" options={READS} />}
          <Search
            label="Status"
            name="status"
            hint="409 or 4xx"
            problemOf={(text) => (/^([1-5](\d\d|xx))?$/.test(text) ? undefined : "Enter a status, such as 409 or 4xx")}
          />
          {key !== "" && (
            <p>
              By <ObjectLink id={key} /> <Link href={hrefOf("logs")}>Show all</Link>
            </p>
          )}
        </>
      }
    >
      <RequestTable
        label="Requests, newest first"
        pages={pages}
        search={filters.query}
        keepsPosition
        empty={
          <Empty icon="logs" title={isFiltered ? "No matching requests" : "No requests yet"}>
            <p>
              {isFiltered ? (
                <ClearFilters />
              ) : (
                "API requests appear here. They are retained for 7 days, without secrets."
              )}
            </p>
            {/^(401|403|4xx)$/.test(chosen.status) && (
              <p>
                A request with an unknown key belongs to no account: it is rejected with 401, and appears in no request
                log.
              </p>
            )}
            {areReadsHidden && chosen.status === "" && (
              <p>
                GET requests that succeeded are hidden.{" "}
                <button type="button" class="small" onClick={() => filter({ reads: "all" })}>
                  Show them
                </button>
              </p>
            )}
          </Empty>
        }
      />
    </ListPage>
  );
}

function RequestDetail({ id }: { id: string }) {
  const query = useQuery<RequestLogDetail>(`/v1/request_logs/${encodeURIComponent(id)}`);
  const { data: log } = query;
  const { explanation, error } = useExplanation(log && id);
  return (
    <Page
      title={log === undefined ? "Request" : `${log.method} ${log.path}`}
      back={{ href: hrefOf("logs"), label: "Request log" }}
      id={id}
      isLoaded={log !== undefined}
    >
      {query.error?.status === 404 ? (
        <Gone title="Request not found.">
          Requests are retained for 7 days, and what the dashboard reads is not logged.{createdAt(id)}
        </Gone>
      ) : (
        <Loaded of={query}>
          {(request) => (
            <>
              {hasProblem(request) ? <Answer explanation={explanation} /> : <Success log={request} />}
              <Below isReady={!hasProblem(request) || (explanation ?? error) !== undefined}>
                <RequestFacts log={request} />
                <Exchange log={request} />
                {request.events.length > 0 && (
                  <Card title="What followed">
                    {!hasProblem(request) && <Answer explanation={explanation} />}
                    {explanation !== undefined && <Trail chain={explanation.chain} />}
                  </Card>
                )}
              </Below>
            </>
          )}
        </Loaded>
      )}
    </Page>
  );
}

function createdAt(id: string): string {
  return /^req_[0-9A-Za-z]{22}$/.test(id) ? ` This one was made at ${new Date(timeOfId(id)).toISOString()}.` : "";
}

/** Returns what a fault did: `status 503`, `lose response`. */
function faultInWords({ fault, status }: RequestLogDetail): string {
  const effect = fault!.effect.replace("_", " ");
  return effect === "status" ? `${effect} ${status}` : effect;
}

/** Faults that keep the response from the client. */
const LOSSES: ReadonlySet<string | undefined> = new Set(["disconnect", "lose_response", "truncate"]);

/** Returns true if the explanation begins with the request itself, not with what followed. */
function hasProblem({ status, fault }: RequestLogDetail): boolean {
  return status >= 400 || LOSSES.has(fault?.effect);
}

function Success({ log }: { log: RequestLogDetail }) {
  const { method, path, status, duration_ms: took, events, fault } = log;
  return (
    <section class="answer" aria-label="Result">
      <p>
        {method} {path} succeeded with {status}.
      </p>
      <p class="evidence">
        It took {milliseconds(took)}, and{" "}
        {events.length === 0 ? "caused no event" : `caused ${counted(events.length, "event")}`}.
        {isDelayed(log) && ` The fault ${fault!.id} delayed it.`}
      </p>
    </section>
  );
}

/** Returns the sandbox's time of a request that caused an event, if its clock was ahead of real time. */
function aheadTime({ created, events: [event] }: RequestLogDetail): ComponentChildren {
  const at = event === undefined ? 0 : timeOfId(event);
  return at - Date.parse(created) < 60_000 ? undefined : <ClockTime at={at} />;
}

/** Returns when something was, and how long ago. */
function momentOf(at: number, now: number): string {
  const ago = pastTime(at, now);
  const moment = localTime(new Date(at).toISOString(), now);
  return ago.endsWith(" ago") ? `${moment}, ${ago}` : moment;
}

function RequestFacts({ log }: { log: RequestLogDetail }) {
  const users = useUsers();
  const { data: key } = useQuery<ApiKey>(log.key === null ? undefined : `/v1/api_keys/${log.key}`);
  return (
    <Card title="Details">
      <Facts
        rows={[
          ["Status", <RequestStatus code={log.status} />],
          ["Error", log.error_code === null ? undefined : <a href={`/problems/${log.error_code}`}>{log.error_code}</a>],
          [
            "Fault",
            log.fault === null ? undefined : (
              <>
                <Link href={hrefOf("clock")}>{faultInWords(log)}</Link> <code>{log.fault.id}</code>
              </>
            ),
          ],
          ["Left out", log.left_out === 0 ? undefined : `${log.left_out} similar requests within the second`],
          ["Duration", milliseconds(log.duration_ms)],
          [clockOffset.value > 0 ? "Time (real)" : "Time", <Time at={log.created} write={momentOf} isReal />],
          ["Sandbox time", aheadTime(log)],
          ["API key", log.key === null ? undefined : <KeyName id={log.key} keys={key && [key]} />],
          ["User", log.user === null ? undefined : <UserEmail id={log.user} users={users} />],
          ["IP address", log.client_address ?? undefined],
          [
            "Events",
            log.events.length === 0 ? undefined : (
              <ul>
                {log.events.map((event) => (
                  <li key={event}>
                    <ObjectLink id={event} />
                  </li>
                ))}
              </ul>
            ),
          ],
        ]}
      />
    </Card>
  );
}

/** What was sent, and what was returned. */
function Exchange({ log }: { log: RequestLogDetail }) {
  const target = log.query === null || log.query === "" ? log.path : `${log.path}?${log.query}`;
  return (
    <>
      {log.missing_scope !== null && (
        <p class="notice card">Query and bodies are hidden: they require the scope {log.missing_scope}.</p>
      )}
      {log.request_headers === null && log.response_headers === null ? (
        <p class="notice card">Headers and bodies were not stored: the platform was under heavy load.</p>
      ) : (
        <div class="columns">
          <Card
            title="Request"
            note={isUnread(log) && "rejected before its body was read"}
            actions={<Copy text={curlOf(log, target)} what="the request" label="Copy as cURL" />}
          >
            <Raw
              label="Request"
              text={message(`${log.method} ${target}`, log.request_headers, log.request_body)}
              marks={invalidFields(log.response_body)}
            />
          </Card>
          <Card title={responseTitle(log)}>
            <Raw label="Response" text={message(String(log.status), log.response_headers, log.response_body)} />
          </Card>
        </div>
      )}
    </>
  );
}

/** Names the response, and says how much of it a fault kept from the client. */
function responseTitle({ fault, method }: RequestLogDetail): string {
  if (fault?.effect === "truncate" && method !== "HEAD") return "Response (half of it was sent)";
  return LOSSES.has(fault?.effect) ? "Response (not sent)" : "Response";
}

/** Returns true for a change whose credential was rejected: its body is not stored. */
function isUnread({ method, status, request_body: body, missing_scope: scope }: RequestLogDetail): boolean {
  return body === null && scope === null && method !== "GET" && (status === 401 || status === 403);
}

/** Returns the names of the fields that an error response points to. */
function invalidFields(response: string | null): string[] {
  try {
    const { errors = [] } = JSON.parse(response ?? "{}") as { errors?: { pointer: string }[] };
    return errors.map(({ pointer }) => pointer.split("/").at(-1) ?? "");
  } catch {
    return [];
  }
}

/** Returns the request as a command, with a key from the environment. */
function curlOf({ method, request_body: body }: RequestLogDetail, target: string): string {
  const headers = ['"Authorization: Bearer $SERVICE_API_KEY"', ...(body ? ["'Content-Type: application/json'"] : [])];
  return curl(method, location.origin + target, headers, body);
}
