import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { type FetchHandler, listenerOf } from "../../webhooks/fetch-listener.ts";

/** A module that Fetch servers run: it exports a route handler or an application. */
interface Served {
  POST?: FetchHandler;
  default?: { fetch: FetchHandler };
}

const { argv, env } = process;
const { POST, default: app } = (await import(pathToFileURL(argv[2]!).href)) as Served;
createServer(listenerOf(POST ?? ((request) => app!.fetch(request)))).listen(Number(env["PORT"]), "127.0.0.1");
