import { useState } from "preact/hooks";
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
import { usePages } from "../../api/use-query.ts";
import { CreateButton } from "../../components/create-button.tsx";
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { place } from "../../router.tsx";
import { IdSearch } from "../id-search.tsx";
import { SearchField } from "../search-field.tsx";
import { chosenStatus, StatusFilter } from "../status-filter.tsx";
import { ObjectDetail } from "./detail.tsx";
import { CreateObject } from "./form.tsx";
import { type Item, shownFields } from "./item.tsx";
import { ObjectTable } from "./table.tsx";

/** Returns the pages of a resource that the table of resources describes by its fields: its list, and each object. */
export function objectPage(kind: ObjectKind) {
  return function ObjectPage() {
    const { id } = place.value;
    return id === "" ? <ObjectList kind={kind} /> : <ObjectDetail kind={kind} id={id} />;
  };
}

function ObjectList({ kind }: { kind: ObjectKind }) {
  const [search, setSearch] = useState("");
  const { labels, page, prefix, fields } = RESOURCES[kind];
  const [noun, nouns] = [nounOf(kind), nounsOf(kind)];
  const filters = Object.entries<Field>(fields).filter(([, { filter }]) => filter);
  const email = filters.find(([, { type }]) => type === "email")?.[0];
  const owner = filters.find(([, { type }]) => type === "id");
  const ownerKind = kindsWith("prefix").find((known) => known === owner?.[1].of);
  const isEmail = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(search);
  const status = chosenStatus();
  const of = place.value.query.get("of") ?? "";
  const query = {
    ...(email === undefined ? {} : { [email]: isEmail ? search : undefined }),
    ...(owner === undefined ? {} : { [owner[0]]: of }),
    status,
  };
  const pages = usePages<Item>(pathOf(kind), query, { every: 5000 });
  const wanted = search.toLowerCase();
  const isFiltered = search !== "" || status !== "" || of !== "";
  return (
    <Page
      title={labels}
      actions={
        <CreateButton label={`Create ${noun}`} dialog={(close) => <CreateObject kind={kind} onClose={close} />} />
      }
    >
      {owner === undefined || ownerKind === undefined ? (
        <SearchField
          page={page.name}
          idPrefix={prefix}
          value={search}
          onInput={setSearch}
          hint={email === undefined ? "Id" : "Id, whole email, or part of a name"}
        />
      ) : (
        <div class="filters" role="search">
          {"statuses" in RESOURCES[kind] && (
            <StatusFilter page={page.name} statuses={Object.keys(resourceOf(kind).statuses ?? {})} />
          )}
          <IdSearch
            page={page.name}
            owner={RESOURCES[ownerKind].prefix}
            hint={`Id of the ${noun}, or of its ${owner[1].label.toLowerCase()}`}
          />
        </div>
      )}
      <ObjectTable
        kind={kind}
        label={`${labels}, newest first`}
        pages={pages}
        fits={(item) => [item.id, ...textsOf(kind, item)].join(" ").toLowerCase().includes(wanted)}
        empty={
          <Empty title={isFiltered ? `No ${noun} fits.` : `No ${nouns} yet.`}>
            <p>
              {search === ""
                ? `Create one here, or with POST ${pathOf(kind)}.`
                : "A whole email address is looked for in all pages, other text in those that were loaded."}
            </p>
          </Empty>
        }
      />
    </Page>
  );
}

function textsOf(kind: ObjectKind, item: Item): string[] {
  return shownFields(kind).map(([name]) => (item[name] ?? "") as string);
}
