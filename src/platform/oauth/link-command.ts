import type { IncomingMessage } from "node:http";
import { inProject } from "../../contract/shell-command.ts";
import { isLoopback } from "../../network/connect-options.ts";
import { parseUrl } from "../../network/parse-url.ts";

/** The command that prints a sign-in link, as a page shows it. */
export interface LinkCommand {
  text: string;
  /** What the reader must add to it. */
  note: string | undefined;
}

/** A proxy on this machine sends one of them for a client elsewhere. */
const PROXY_HEADERS = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/** Shows the exact command, which contains paths, only to a browser on this machine. */
export function linkCommandOf({ headers, socket }: IncomingMessage, exact: string | undefined): LinkCommand {
  const isHere =
    isLoopback(socket.remoteAddress ?? "") &&
    isLoopback(parseUrl(`http://${headers.host}`)?.hostname ?? "") &&
    PROXY_HEADERS.every((name) => headers[name] === undefined);
  return isHere && exact !== undefined
    ? { text: exact, note: undefined }
    : { text: inProject("service serve link"), note: "If the platform was started with --database, add the same one." };
}
