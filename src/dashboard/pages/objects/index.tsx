import { useMemo } from "preact/hooks";
import {
  type Field,
  inputFieldsOf,
  kindsWith,
  lowerFirst,
  nounOf,
  nounsOf,
  type ObjectKind,
  pathOf,
  resourceOf,
  RESOURCES,
} from "../../../contract/resources.ts";
import { capitalized } from "../../../contract/words.ts";
import type { Item } from "../../api/objects.ts";
import { usePages } from "../../api/pages.ts";
import { CreateButton } from "../../components/action.tsx";
import { iconOf } from "../../components/icon.tsx";
import { Empty } from "../../components/page.tsx";
import { route } from "../../router.tsx";
import { Choice } from "../choice.tsx";
import { ClearFilters, listFilters, oneOf, TIME_TERMS } from "../filters.tsx";
import { EVENT_STATES } from "../events/outcomes.tsx";
import { ObjectDetail } from "./detail.tsx";
import { ObjectForm } from "./form.tsx";
import { placeholderOf } from "../inputs.tsx";
import { ListPage, loadedOf } from "../list-page.tsx";
import { ObjectTable, titleField } from "./item.tsx";

/** The list of a resource that is described by its fields in the table of resources, or one of its objects. */
export function ObjectPage({ kind }: { kind: ObjectKind }) {
  const { id } = route.value;
  return id === "" ? <ObjectList kind={kind} /> : <ObjectDetail kind={kind} id={id} />;
}

function ObjectList({ kind }: { kind: ObjectKind }) {
  const { labels, page, fields } = RESOURCES[kind];
  const [noun, nouns] = [nounOf(kind), nounsOf(kind)];
  const owner = Object.entries<Field>(fields).find(([, { filter, type }]) => filter && type === "id");
  const ownerKind = kindsWith("prefix").find((known) => known === owner?.[1].of);
  const title = (fields as Readonly<Record<string, Field>>)[titleField(kind)]!.label;
  const ownerPrefix = ownerKind === undefined ? undefined : RESOURCES[ownerKind].prefix;
  const { filters: all, isFiltered } = listFilters("query", "status", "webhooks");
  const { webhooks, ...filters } = all;
  const known = Object.keys(resourceOf(kind).statuses ?? {});
  const statuses = [["", "All"] as const, ...known.map((status) => [status, capitalized(status)] as const)];
  const pages = usePages<Item>(pathOf(kind), filters);
  const Detail = useMemo(
    () =>
      ({ id }: { id: string }) => <ObjectDetail kind={kind} id={id} />,
    [kind],
  );
  return (
    <ListPage
      title={labels}
      count={webhooks === "" ? loadedOf(pages) : undefined}
      detail={Detail}
      command={webhooks === "" ? RESOURCES[kind].command.name : undefined}
      filters={filters}
      search={{
        hint:
          owner === undefined
            ? `ID or any text of a ${noun}`
            : `${owner[1].label}, ${lowerFirst(title)}, ID or any text`,
        terms: {
          ...TIME_TERMS,
          status: oneOf("status", statuses),
          webhooks: oneOf("webhooks", EVENT_STATES),
        },
        takes: (id) => ownerPrefix !== undefined && id.startsWith(ownerPrefix),
      }}
      choices={
        <>
          {statuses.length > 1 && <Choice label="Status" name="status" options={statuses} />}
          <Choice label="Deliveries" name="webhooks" options={EVENT_STATES} />
        </>
      }
      actions={<CreateButton label={`Create ${noun}`} dialog={(close) => <ObjectForm kind={kind} onClose={close} />} />}
    >
      <ObjectTable
        kind={kind}
        label={`${labels}, newest first`}
        pages={pages}
        keepsPosition
        search={filters.query + webhooks}
        state={webhooks}
        empty={
          <Empty
            title={isFiltered ? `No matching ${nouns}` : `No ${nouns} yet`}
            icon={iconOf(page.name)}
            {...(isFiltered ? {} : { command: createCommand(kind) })}
          >
            <p>{isFiltered ? <ClearFilters /> : <>Create one here, with POST {pathOf(kind)}, or with the CLI:</>}</p>
          </Empty>
        }
      />
    </ListPage>
  );
}

/** Returns the command that creates an object with the examples of its required fields. */
function createCommand(kind: ObjectKind): string {
  const required = inputFieldsOf(kind).filter(([, field]) => field.required);
  const flags = required.map(([name, field]) => `--${name.replaceAll("_", "-")} ${placeholderOf(field)}`);
  return ["service", RESOURCES[kind].command.name, "create", ...flags].join(" ");
}
