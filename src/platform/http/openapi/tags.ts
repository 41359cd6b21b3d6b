import { RESOURCES } from "../../../contract/resources.ts";
import type { Json } from "./schemas.ts";

interface Tag {
  name: string;
  description: string;
}

/** Groups of operations in the document, by the segment of their path after `/v1/`. */
const TAGS: ReadonlyMap<string, Tag> = new Map(
  Object.values(RESOURCES).map(({ plural, labels, about }) => [plural, { name: labels, description: about }]),
);

export const WEBHOOK_TAG: Tag = {
  name: "Webhooks",
  description: "Requests from the platform to webhook endpoints: one signed POST per event.",
};

/** Returns the group of an operation's path. Throws for a path whose resource has no entry in RESOURCES. */
export function tagOf(path: string): Tag {
  const tag = TAGS.get(path.split("/")[2] ?? "");
  if (tag === undefined) throw new Error(`${path} belongs to no resource: add it to contract/resources.ts`);
  return tag;
}

/** Returns the groups of all paths, in the order of the operations. */
export function tagsOf(paths: readonly string[]): Json[] {
  const tags = new Map(paths.map((path) => [tagOf(path).name, tagOf(path)]));
  return [...tags.values(), WEBHOOK_TAG].map((tag) => ({ ...tag }));
}
