import { useEffect } from "preact/hooks";
import {
  type Field,
  kindsWith,
  nounOf,
  nounsOf,
  type ObjectKind,
  pathOf,
  resourceOf,
  RESOURCES,
} from "../../../contract/resources.ts";
import { usePages } from "../../api/pages.ts";
import { CreateButton } from "../../components/action.tsx";
import { iconOf } from "../../components/icon.tsx";
import { Empty, Page } from "../../components/page.tsx";
import { counted, searchable } from "../../format.ts";
import { route } from "../../router.tsx";
import { filterOf, Filters, Search, StatusChoice } from "../filters.tsx";
import { ObjectDetail } from "./detail.tsx";
import { CreateObject } from "./form.tsx";
import { amountOrText, type Item, ObjectTable, shownFields } from "./item.tsx";

/** Returns the pages of a resource that the table of resources describes by its fields: its list, and each object. */
export function objectPage(kind: ObjectKind) {
  return function ObjectPage() {
    const { id } = route.value;
    return id === "" ? <ObjectList kind={kind} /> : <ObjectDetail kind={kind} id={id} />;
  };
}

/** A search loads more until it has found this many, or loaded that many. */
const ENOUGH_FOUND = 20;
const MAX_SEARCHED = 2000;

function ObjectList({ kind }: { kind: ObjectKind }) {
  const { labels, page, fields } = RESOURCES[kind];
  const [noun, nouns] = [nounOf(kind), nounsOf(kind)];
  const filters = Object.entries<Field>(fields).filter(([, { filter }]) => filter);
  const email = filters.find(([, { type }]) => type === "email")?.[0];
  const owner = filters.find(([, { type }]) => type === "id");
  const ownerKind = kindsWith("prefix").find((known) => known === owner?.[1].of);
  const ownerPrefix = ownerKind === undefined ? undefined : RESOURCES[ownerKind].prefix;
  const [search, status] = ["q", "status"].map(filterOf) as [string, string];
  const isOwner = ownerPrefix !== undefined && search.startsWith(ownerPrefix);
  const isEmail = email !== undefined && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(search);
  const pages = usePages<Item>(pathOf(kind), {
    ...(isEmail ? { [email]: search } : {}),
    ...(isOwner && owner !== undefined ? { [owner[0]]: search } : {}),
    status,
  });
  const wanted = isOwner || isEmail ? "" : searchable(search);
  const matches = (item: Item) => wanted === "" || textOf(kind, item).includes(wanted);
  const { items = [], hasMore, isLoading, error, loadMore } = pages;
  const searchesOn =
    wanted !== "" &&
    hasMore &&
    error === undefined &&
    items.length < MAX_SEARCHED &&
    items.filter(matches).length < ENOUGH_FOUND;
  useEffect(() => {
    if (searchesOn && !isLoading) loadMore();
  });
  const isFiltered = search !== "" || status !== "";
  const icon = iconOf(page.name);
  return (
    <Page
      title={labels}
      actions={
        <CreateButton label={`Create ${noun}`} dialog={(close) => <CreateObject kind={kind} onClose={close} />} />
      }
    >
      <Filters>
        {"statuses" in RESOURCES[kind] && <StatusChoice statuses={Object.keys(resourceOf(kind).statuses ?? {})} />}
        <Search
          hint={
            owner === undefined
              ? `ID or any text of a ${noun}`
              : `ID, ID of the ${owner[1].label.toLowerCase()}, or amount`
          }
          takes={(id) => ownerPrefix !== undefined && id.startsWith(ownerPrefix)}
        />
        {wanted !== "" && (
          <p class="soft" role="status">
            {searchesOn ? "Searching…" : `Searched the newest ${counted(items.length, noun, nouns)}`}
          </p>
        )}
      </Filters>
      <ObjectTable
        kind={kind}
        label={`${labels}, newest first`}
        pages={{ ...pages, hasMore: hasMore && !searchesOn }}
        keepsPosition
        matches={matches}
        empty={
          <Empty
            title={isFiltered ? `No matching ${nouns}` : `No ${nouns} yet`}
            {...(icon === undefined ? {} : { icon })}
          >
            {!isFiltered && <p>Create one here, or with POST {pathOf(kind)}.</p>}
          </Empty>
        }
      />
    </Page>
  );
}

/** Returns the text of a row for a search. */
function textOf(kind: ObjectKind, item: Item): string {
  const shown = shownFields(kind).map(([name, field]) => amountOrText(item, name, field));
  return searchable([item.id, ...shown, ...Object.values(item.metadata)].join("\n"));
}
