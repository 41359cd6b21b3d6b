import { HEADERS } from "../../../../contract/headers.ts";
import type { ForwardedReport } from "../../../../relay/report.ts";
import { sign } from "../../../../webhooks/index.ts";

/** Returns a command for a POSIX shell that sends a delivery again, signed at this time in Unix seconds. */
export function curlCommand(
  { url, headers }: Pick<ForwardedReport, "url" | "headers">,
  body: string,
  { secret, timestamp }: { secret: string; timestamp: number },
): string {
  const parts = [`curl -X POST ${quoted(url.href)}`];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const isSignature = headers[i] === HEADERS.signature;
    const value = isSignature ? sign({ payload: body, secrets: secret, timestamp }) : headers[i + 1]!;
    parts.push(`-H ${quoted(`${headers[i]!}: ${value}`)}`);
  }
  // Unlike --data, this does not treat a leading @ as a file name.
  parts.push(`--data-raw ${quoted(body)}`);
  return parts.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
