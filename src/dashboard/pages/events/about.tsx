import { type FindObject, kindOf } from "../../api/objects.ts";
import { Unknown } from "../../components/values.tsx";
import { lineOf } from "../objects/item.tsx";
import type { About } from "./find.ts";

/** What an event is about: its name, the end of its ID, and whom it belongs to. */
export function AboutCell({ about, ownerOf }: { about: About; ownerOf: FindObject }) {
  const { name, id, reference } = about;
  const owner = reference === null ? null : ownerOf(reference);
  const kind = kindOf(owner);
  return (
    <>
      {name}
      {id !== "" && id !== name && <code class="soft" title={id}>{` …${id.slice(-6)}`}</code>}
      {owner === undefined && <Unknown />}
      {owner && kind && <span class="soft"> · {lineOf(kind, owner)}</span>}
    </>
  );
}
