import { readdirSync, readFileSync } from "node:fs";
import { apiPath } from "../../client/base-url.ts";
import type { Client } from "../../client/http.ts";

/** The guides of the package. Only bundled code knows its own folder. */
const GUIDES = new URL("../../docs/", import.meta.url);
const GUIDE_PREFIX = "service://docs/";
const EVENT_PREFIX = "service://events/";

/** An event by its ID, as clients list it. */
export const EVENT_TEMPLATE = {
  uriTemplate: `${EVENT_PREFIX}{id}`,
  name: "event",
  description: "An event: the exact JSON that was delivered. Requires the scope events:read.",
  mimeType: "application/json",
};

interface Guide {
  uri: string;
  name: string;
  title: string;
  mimeType: string;
}

/** Returns the guides that the package contains. */
export function listGuides(): Guide[] {
  const pages = readdirSync(GUIDES).filter((file) => file.endsWith(".md"));
  return pages.sort().map((file) => {
    const name = file.slice(0, -".md".length);
    return { uri: GUIDE_PREFIX + name, name, title: titleOf(readGuide(name), name), mimeType: "text/markdown" };
  });
}

/** Returns a guide, or an event as the API returns it; undefined for another URI. Rejects with ApiError. */
export async function readResource(
  uri: string,
  client: Client,
): Promise<{ uri: string; mimeType: string; text: string } | undefined> {
  if (uri.startsWith(EVENT_PREFIX)) {
    const path = apiPath`/v1/events/${uri.slice(EVENT_PREFIX.length)}`;
    const { body } = await client.request<object>({ method: "GET", path });
    return { uri, mimeType: EVENT_TEMPLATE.mimeType, text: JSON.stringify(body) };
  }
  const guide = listGuides().find((listed) => listed.uri === uri);
  return guide && { uri, mimeType: guide.mimeType, text: readGuide(guide.name) };
}

function readGuide(name: string): string {
  return readFileSync(new URL(`${name}.md`, GUIDES), "utf8");
}

function titleOf(text: string, name: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? name;
}
