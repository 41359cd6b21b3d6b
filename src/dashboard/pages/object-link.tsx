import { kindsWith, type KindWith, RESOURCES } from "../../contract/resources.ts";
import { hrefOf, Link } from "../router.tsx";

/** Kinds of objects that have a page of their own; users share one. */
const LINKED = kindsWith("prefix").flatMap((kind) =>
  "page" in RESOURCES[kind] && kind !== "user" ? [kind as KindWith<"prefix"> & KindWith<"page">] : [],
);

/** Shows an ID, with a link to the object's page if it has one. */
export function ObjectLink({ id }: { id: string | null }) {
  if (id === null || id === "") return <span class="soft">–</span>;
  const kind = LINKED.find((linked) => id.startsWith(RESOURCES[linked].prefix));
  if (kind === undefined) return <code>{id}</code>;
  return (
    <Link href={hrefOf(RESOURCES[kind].page.name, id)}>
      <code>{id}</code>
    </Link>
  );
}
