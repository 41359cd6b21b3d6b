import type { ComponentChildren } from "preact";
import {
  type Field,
  nounOf,
  type ObjectKind,
  resourceOf,
  RESOURCES,
  shownFieldsOf,
} from "../../../contract/resources.ts";
import { typeOf } from "../../../contract/field-types.ts";
import { timeOfId } from "../../../contract/ids.ts";
import { useEndpoints } from "../../api/endpoints.ts";
import { type FindObject, type Item, kindOf, referenceOf, useObjects } from "../../api/objects.ts";
import type { Pages } from "../../api/pages.ts";
import { type Column, PagedTable } from "../../components/table.tsx";
import { ClockTime, None, ObjectLink, RowTime, Status, Unknown } from "../../components/values.tsx";
import { money } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { nameOf } from "../events/changes.ts";
import { type EventsOf, useEventsOf } from "../events/find.ts";
import { isInState, OutcomeOf, useOutcomes } from "../events/outcomes.tsx";

/** Returns the fields to show in a line. The currency is part of the amount. */
export function shownFields(kind: ObjectKind): [name: string, field: Field][] {
  return shownFieldsOf(kind).filter(([, { type }]) => type !== "currency" && type !== "map");
}

/** Returns the field that names an object in titles and links: the first of its list, other than links to other objects. */
export function titleField(kind: ObjectKind): string {
  return Object.entries<Field>(RESOURCES[kind].fields).find(([, { type, inList }]) => inList && type !== "id")![0];
}

/** Returns whether the title of an object is its own, such as an email address, so that it needs no ID beside it. */
export function hasOwnTitle(kind: ObjectKind): boolean {
  return (RESOURCES[kind].fields as Readonly<Record<string, Field>>)[titleField(kind)]!.unique === true;
}

/** Returns what names an object in a line: its email address, or its amount. */
export function shortTitleOf(kind: ObjectKind, item: Item): string {
  const name = titleField(kind);
  return amountOrText(item, name, (RESOURCES[kind].fields as Readonly<Record<string, Field>>)[name]!);
}

/** Returns what tells an object from others in a line: its email address, or its kind and the end of its ID. */
export function lineOf(kind: ObjectKind, item: Item): string {
  return hasOwnTitle(kind) ? shortTitleOf(kind, item) : `${nounOf(kind)} …${item.id.slice(-6)}`;
}

/** Returns the title of an object's page: `Order of EUR 19.99`, or its address. */
export function titleOf(kind: ObjectKind, item: Item | undefined): string {
  const { label, fields } = RESOURCES[kind];
  if (item === undefined) return label;
  const value = shortTitleOf(kind, item);
  return "amount" in fields ? `${label} of ${value}` : value;
}

/** Returns the title of the object of an event: also of an endpoint. */
export function titleIn(object: Record<string, unknown>): string {
  const kind = kindOf(object);
  return kind === undefined ? nameOf(object) : titleOf(kind, object as Item);
}

/** Returns the value of a field as text: an amount with its currency. */
export function amountOrText(item: Item, name: string, { type }: Field): string {
  const { [name]: value, currency } = item;
  return type === "amount"
    ? money(value as number, currency as string)
    : String((value as string | boolean | null) ?? "");
}

/** Shows the value of a field: a status as a badge, an ID as a link. Returns undefined for null. */
export function valueOf(item: Item, name: string, field: Field): ComponentChildren | undefined {
  const value = item[name] as string | null;
  if (field.type === "id") return <ObjectLink id={value} />;
  if (field.type === "status") return <Status status={value ?? ""} isTag />;
  return value === null ? undefined : amountOrText(item, name, field);
}

/** The ID that a field of an object holds. */
function idIn(item: Item | null | undefined, name: string | undefined): string | null {
  const value = name === undefined ? null : item?.[name];
  return typeof value === "string" ? value : null;
}

/** An object that a row refers to, by its title; undefined until it is known which one. */
function Reference({ of, id, find }: { of: ObjectKind; id: string | null | undefined; find: FindObject }) {
  if (id === null) return <None />;
  const item = id === undefined ? undefined : find(id);
  if (id === undefined || item === undefined) return <Unknown />;
  if (item === null) return <span class="soft" title={id}>{`Deleted ${nounOf(of)}`}</span>;
  return (
    <Link href={hrefOf(RESOURCES[of].page.name, id)} title={id}>
      {hasOwnTitle(of) ? shortTitleOf(of, item) : <code>{`…${id.slice(-6)}`}</code>}
    </Link>
  );
}

/**
 * Returns the columns of the object that rows refer to, and of the one that it refers to: a payment's order and customer.
 * The second is first, and shown in narrower windows, if it has a title of its own, which says more than an ID.
 */
function useReferences(kind: ObjectKind, items: readonly Item[], without: string | undefined): Column<Item>[] {
  const own = referenceOf(kind);
  const next = referenceOf(own?.of);
  const isShown = own !== undefined && own.name !== without;
  const ids = isShown ? items.map((item) => idIn(item, own.name)) : [];
  const find = useObjects(ids);
  const nextIdOf = (item: Item) => {
    const id = idIn(item, own?.name);
    const found = id === null ? null : find(id);
    return found === undefined ? undefined : idIn(found, next?.name);
  };
  const nextIds = isShown && next !== undefined ? items.map((item) => nextIdOf(item) ?? null) : [];
  const findNext = useObjects(nextIds);
  if (!isShown) return [];
  const isNextFirst = next !== undefined && hasOwnTitle(next.of);
  const column: Column<Item> = {
    label: own.field.label,
    from: isNextFirst ? "desktop" : "tablet",
    isLong: !isNextFirst,
    cell: (item) => <Reference of={own.of} id={idIn(item, own.name)} find={find} />,
  };
  if (next === undefined) return [column];
  const nextColumn: Column<Item> = {
    label: next.field.label,
    from: isNextFirst ? "tablet" : "desktop",
    isLong: isNextFirst,
    cell: (item) => <Reference of={next.of} id={nextIdOf(item)} find={findNext} />,
  };
  return isNextFirst ? [nextColumn, column] : [column, nextColumn];
}

/** When something last happened to an object, or to what refers to it: with its day, if that is not the row's. */
function lastEventColumn(eventsOf: EventsOf): Column<Item> {
  return {
    label: "Last event",
    from: "desktop",
    cell: ({ id, created }) => {
      const found = eventsOf(id);
      if (found === undefined) return <Unknown />;
      const last = found.events
        .map((event) => event.id)
        .toSorted()
        .at(-1);
      if (last === undefined) return <None />;
      const at = new Date(timeOfId(last));
      const isOnDay = at.toDateString() === new Date(created).toDateString();
      return (
        <Link href={hrefOf("events", last)}>
          {isOnDay ? <RowTime at={at.toISOString()} /> : <ClockTime at={at.getTime()} />}
        </Link>
      );
    },
  };
}

/** Objects of one kind, and how the webhooks about each of them went. */
export function ObjectTable(props: {
  kind: ObjectKind;
  /** A field that has the same value in every row, and is left out. */
  without?: string;
  label: string;
  pages: Pages<Item>;
  empty: ComponentChildren;
  keepsPosition?: boolean;
  search?: string;
  /** The events of each object, if they are known; else they are read. */
  eventsOf?: EventsOf;
  /** The state of the webhooks about an object that is listed; empty for any. */
  state?: string;
}) {
  const { kind, without, eventsOf: given, state = "", ...table } = props;
  const title = titleField(kind);
  const items = props.pages.items ?? [];
  const hasStates = resourceOf(kind).statuses !== undefined;
  const readOutcomes = useOutcomes();
  const { items: endpoints } = useEndpoints();
  const read = useEventsOf(given === undefined ? items.map(({ id }) => id) : [], readOutcomes);
  const eventsOf = given ?? read;
  const webhooks = ({ id }: Item) => <OutcomeOf event={eventsOf(id)} endpoints={endpoints} isShort />;
  const inState = state === "" ? [] : items.map(({ id }) => isInState(eventsOf(id)?.events, endpoints, state));
  const isUnknown = inState.includes(undefined);
  const shown = state === "" ? items : items.filter((_item, index) => inState[index] === true);
  const listed = shownFields(kind).filter(([name, { inList, type }]) => inList && type !== "id" && name !== without);
  // Why it failed is next to the status.
  const fields = listed.filter(([, { type }]) => type !== "code");
  const [codeName = ""] = listed.find(([, { type }]) => type === "code") ?? [];
  const ordered = [...fields.filter(([name]) => name === title), ...fields.filter(([name]) => name !== title)];
  const references = useReferences(kind, items, without);
  const [owner] = references;
  /** On narrow screens a text has a line of its own below the title. */
  const isBelow = (name: string, { type }: Field) => name !== title && type === "text";
  const below = ordered.filter(([name, field]) => isBelow(name, field));
  const columns = ordered.map(([name, field]): Column<Item> => ({
    label: field.label,
    ...(isBelow(name, field) ? { from: "tablet" } : {}),
    isNumber: typeOf(field.type).stored === "integer",
    isLong: field.type === "email" || field.type === "text",
    cell: (item) =>
      name === title ? (
        <>
          <Link href={hrefOf(RESOURCES[kind].page.name, item.id)} row={item.id}>
            {amountOrText(item, name, field)}
          </Link>
          {below.map(([other, of]) => (
            <span key={other} class="narrow-only soft">
              {valueOf(item, other, of) ?? <None />}
            </span>
          ))}
          {owner !== undefined && <span class="narrow-only soft">{owner.cell(item)}</span>}
          {!hasStates && <span class="narrow-only">{webhooks(item)}</span>}
        </>
      ) : (
        <>
          {valueOf(item, name, field) ?? <None />}
          {field.type === "status" && (
            <>
              {item[codeName] != null && <span class="from-desktop soft"> {item[codeName] as string}</span>}
              <span class="narrow-only">{webhooks(item)}</span>
            </>
          )}
        </>
      ),
  }));
  return (
    <PagedTable
      {...table}
      pages={{
        ...props.pages,
        items: props.pages.items && (isUnknown && shown.length === 0 ? undefined : shown),
        isLoading: props.pages.isLoading || isUnknown,
      }}
      timeOf={({ created }) => created}
      columns={[
        ...columns,
        ...references,
        { label: "Deliveries", from: "tablet", isOutcome: true, cell: webhooks },
        ...(hasStates ? [] : [lastEventColumn(eventsOf)]),
        ...(hasOwnTitle(kind)
          ? []
          : [
              {
                label: "ID",
                from: "desktop",
                cell: ({ id }) => <code class="soft">{id}</code>,
              } satisfies Column<Item>,
            ]),
        { label: "Created", isTime: true, cell: ({ created }) => <RowTime at={created} /> },
      ]}
    />
  );
}
