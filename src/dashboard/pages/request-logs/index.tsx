import { useState } from "preact/hooks";
import type { RequestLog } from "../../../contract/schemas/request-log.ts";
import { usePages } from "../../api/use-query.ts";
import { StatusCode } from "../../components/badge.tsx";
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { milliseconds } from "../../format.ts";

export function RequestLogs() {
  const [method, setMethod] = useState("");
  const [status, setStatus] = useState("");
  const [path, setPath] = useState("");
  const isStatus = /^[1-5]\d\d$/.test(status);
  const isPath = path.startsWith("/v1/");
  const pages = usePages<RequestLog>(
    "/v1/request_logs",
    { method, status: isStatus ? status : "", path: isPath ? path : "" },
    { every: 5000 },
  );
  return (
    <Page title="Request log" subtitle="Calls of the API, kept for 7 days. Never a secret.">
      <div class="filters" role="search">
        <label>
          Method
          <select value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
            <option value="">All</option>
            {["GET", "POST", "PATCH", "DELETE"].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Status
          <input
            type="search"
            inputMode="numeric"
            size={6}
            value={status}
            placeholder="409"
            onInput={(event) => setStatus(event.currentTarget.value.trim())}
          />
        </label>
        <label class="grow">
          Path
          <input
            type="search"
            value={path}
            placeholder="/v1/customers"
            onInput={(event) => setPath(event.currentTarget.value.trim())}
          />
        </label>
      </div>
      <PagedTable
        label="Requests, newest first"
        pages={pages}
        empty={<Empty title="No request fits." />}
        columns={[
          {
            label: "Request",
            cell: (log) => (
              <code class="long">
                {log.method} {log.path}
              </code>
            ),
          },
          { label: "Status", cell: ({ status: code }) => <StatusCode code={code} /> },
          { label: "Error", from: "tablet", cell: ({ error_code: code }) => code ?? <span class="soft">–</span> },
          { label: "By", from: "desktop", cell: ({ key }) => <code>{key ?? "–"}</code> },
          { label: "Took", from: "tablet", isNumber: true, cell: ({ duration_ms: took }) => milliseconds(took) },
          { label: "Id", from: "desktop", cell: ({ id }) => <code>{id}</code> },
          { label: "Time", cell: ({ created }) => <Time at={created} /> },
        ]}
      />
    </Page>
  );
}
