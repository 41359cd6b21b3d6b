import { useState } from "preact/hooks";
import {
  type Action as ActionEntry,
  type Field,
  nounOf,
  nounsOf,
  OBJECT_KINDS,
  type ObjectKind,
  pathOf,
  resourceOf,
  RESOURCES,
} from "../../../contract/resources.ts";
import { useCall } from "../../api/call.ts";
import { type Item, referenceOf } from "../../api/objects.ts";
import { usePages } from "../../api/pages.ts";
import { useQuery } from "../../api/store.ts";
import { Action, ConfirmedAction } from "../../components/action.tsx";
import { DetailPage } from "../../components/detail-page.tsx";
import { isUnreachable } from "../../components/outage.tsx";
import { Card, Empty, Facts, WithAside } from "../../components/page.tsx";
import { Trail } from "../../components/trail.tsx";
import { Copy, None, ObjectLink, Raw, Status, Time, Unknown } from "../../components/values.tsx";
import { hrefOf, Link, useGo } from "../../router.tsx";
import { RelatedEvents } from "../events/index.tsx";
import { useOutcomes } from "../events/outcomes.tsx";
import { type AboutObject, Arrivals, referringKinds, useEventsAbout, useTold } from "./arrivals.tsx";
import { ActOnObject, ObjectForm } from "./form.tsx";
import { hasOwnTitle, ObjectTable, shortTitleOf, shownFields, titleField, titleOf, valueOf } from "./item.tsx";

export function ObjectDetail({ kind, id }: { kind: ObjectKind; id: string }) {
  const path = `${pathOf(kind)}/${encodeURIComponent(id)}`;
  const query = useQuery<Item>(path);
  const { data } = query;
  const { page } = RESOURCES[kind];
  const about = useEventsAbout(data && id, useOutcomes());
  const { told, chain, isSettled } = useTold(about);
  return (
    <DetailPage
      page={page.name}
      id={id}
      of={query}
      title={titleOf(kind, data)}
      actions={(item) => <Actions kind={kind} item={item} onDone={query.reload} />}
    >
      {(item) => (
        <>
          <Headline kind={kind} item={item} />
          <WithAside
            isReady={isSettled}
            lead={
              <Card title="Webhooks">
                <Arrivals kind={kind} id={id} about={about} told={told}>
                  {chain && <Trail chain={chain} />}
                </Arrivals>
              </Card>
            }
            aside={
              <>
                <Card title="Details">
                  <Facts rows={factsOf(kind, item)} />
                </Card>
                {Object.entries<Field>(RESOURCES[kind].fields).map(([name, { type, label }]) => {
                  const pairs = type === "map" ? Object.entries(item[name] as Record<string, string>) : [];
                  return (
                    pairs.length > 0 && (
                      <Card
                        key={name}
                        title={label}
                        actions={<Copy text={JSON.stringify(item[name])} what={`the ${name}`} label="Copy" />}
                      >
                        <Facts rows={pairs} />
                      </Card>
                    )
                  );
                })}
              </>
            }
          >
            {referringKinds(kind).map(([other, field]) => (
              <ReferringTable key={other} kind={other} field={field} of={item} to={kind} about={about} />
            ))}
            <RelatedEvents id={item.id} note={referringKinds(kind).length > 0 && `of the ${nounOf(kind)} itself`} />
            <Json item={item} />
          </WithAside>
        </>
      )}
    </DetailPage>
  );
}

/** The object and its state: `Payment of EUR 19.99, failed: card_declined`. */
function Headline({ kind, item }: { kind: ObjectKind; item: Item }) {
  const fields = shownFields(kind);
  const ofType = (type: Field["type"]) => {
    const [name] = fields.find(([, field]) => field.type === type) ?? [];
    const value = name === undefined ? undefined : item[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const [status, code] = [ofType("status"), ofType("code")];
  const title = titleOf(kind, item);
  const name = item[nameField(kind) ?? ""];
  // People know a customer by the name.
  const isNameFirst = hasOwnTitle(kind) && typeof name === "string" && name !== "";
  return (
    <section class="answer object" aria-label="Summary">
      <p dir="auto">
        {isNameFirst ? name : title}{" "}
        {typeof name === "string" && <span class="soft">{isNameFirst ? title : name} </span>}
        {status !== undefined && (
          <Status status={status} text={code === undefined ? status : `${status}: ${code}`} isTag />
        )}
      </p>
    </section>
  );
}

/** The first text besides the title, which the headline shows too. */
function nameField(kind: ObjectKind): string | undefined {
  return shownFields(kind).find(([name, { type }]) => type === "text" && name !== titleField(kind))?.[0];
}

/** The object as the API returns it, on request. */
function Json({ item }: { item: Item }) {
  const [isOpen, setOpen] = useState(false);
  const text = JSON.stringify(item, null, 2);
  return (
    <Card
      title="JSON"
      actions={
        <>
          <button type="button" class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide" : "Show"}
          </button>
          <Copy text={text} what="the JSON" label="Copy" />
        </>
      }
    >
      {isOpen && <Raw label="JSON" text={text} />}
    </Card>
  );
}

function factsOf(kind: ObjectKind, item: Item) {
  const own = referenceOf(kind);
  const next = referenceOf(own?.of);
  const id = own && item[own.name];
  return [
    ...(own && next && typeof id === "string"
      ? [[next.field.label, <OwnerOf kind={own.of} id={id} field={next.name} of={next.of} />] as const]
      : []),
    ...shownFields(kind)
      // The headline has the status.
      .filter(([name, { type }]) => item[name] !== null && type !== "status")
      .map(([name, field]) => [field.label, factOf(item, name, field)] as const),
    ["Created", <Time at={item.created} />] as const,
  ];
}

/** To whom the object that another refers to belongs: the customer of a payment's order. */
function OwnerOf({ kind, id, field, of }: { kind: ObjectKind; id: string; field: string; of: ObjectKind }) {
  const { data } = useQuery<Item>(`${pathOf(kind)}/${id}`);
  const owner = data?.[field];
  return typeof owner === "string" ? <Referred kind={of} id={owner} /> : data === undefined ? <Unknown /> : <None />;
}

/** Returns the value of a field: for an ID the title of its object. */
function factOf(item: Item, name: string, field: Field) {
  const of = OBJECT_KINDS.find((kind) => kind === field.of);
  const { [name]: id } = item;
  return of !== undefined && typeof id === "string" ? <Referred kind={of} id={id} /> : valueOf(item, name, field);
}

function Referred({ kind, id }: { kind: ObjectKind; id: string }) {
  const { data } = useQuery<Item>(`${pathOf(kind)}/${id}`);
  return data === undefined ? (
    <ObjectLink id={id} />
  ) : (
    <Link href={hrefOf(RESOURCES[kind].page.name, id)}>{titleOf(kind, data)}</Link>
  );
}

/** Returns whether an object has its initial status, which actions end. */
function isOpen(kind: ObjectKind, item: Item): boolean {
  return item["status"] === Object.keys(resourceOf(kind).statuses ?? {})[0];
}

function Actions({ kind, item, onDone }: { kind: ObjectKind; item: Item; onDone: () => void }) {
  const call = useCall();
  const go = useGo();
  const [openDialog, setOpenDialog] = useState<"edit" | { verb: string; action: ActionEntry }>();
  const { actions = {}, updatable, deletable } = resourceOf(kind);
  const noun = nounOf(kind);
  const path = `${pathOf(kind)}/${item.id}`;
  const close = () => {
    setOpenDialog(undefined);
    onDone();
  };
  return (
    <>
      {updatable && (
        <button type="button" disabled={isUnreachable.value} onClick={() => setOpenDialog("edit")}>
          Edit
        </button>
      )}
      {deletable && (
        <ConfirmedAction
          class="danger"
          title={`Delete ${shortTitleOf(kind, item)}?`}
          explanation={<p>This cannot be undone. Its events stay, and so do the objects that refer to it.</p>}
          verb={`Delete ${noun}`}
          run={async () => {
            await call("DELETE", path);
            go(RESOURCES[kind].page.name);
            return `Deleted ${item.id}`;
          }}
        >
          Delete
        </ConfirmedAction>
      )}
      {isOpen(kind, item) &&
        Object.entries(actions)
          .map(([verb, action], index) => {
            const name = index === 0 ? "primary" : "";
            if (action.takes !== undefined) {
              return (
                <button
                  key={verb}
                  type="button"
                  class={name}
                  disabled={isUnreachable.value}
                  onClick={() => setOpenDialog({ verb, action })}
                >
                  {action.label}
                </button>
              );
            }
            const run = async () => {
              await call("POST", `${path}/${verb}`);
              onDone();
              return `${RESOURCES[kind].label} ${item.id} ${action.to}`;
            };
            if (index > 0) {
              return (
                <ConfirmedAction
                  key={verb}
                  class="danger"
                  title={`${action.label}?`}
                  explanation={
                    <p>
                      The {noun} stays {action.to}: this cannot be undone.
                    </p>
                  }
                  verb={action.label}
                  run={run}
                >
                  {action.label}
                </ConfirmedAction>
              );
            }
            return (
              <Action key={verb} class={name} run={run}>
                {action.label}
              </Action>
            );
          })
          .toReversed()}
      {openDialog === "edit" && <ObjectForm kind={kind} item={item} onClose={close} />}
      {typeof openDialog === "object" && <ActOnObject kind={kind} item={item} {...openDialog} onClose={close} />}
    </>
  );
}

/** The objects of another kind that refer to this one; nothing if there are none and there will be none. */
function ReferringTable(props: { kind: ObjectKind; field: string; of: Item; to: ObjectKind; about: AboutObject }) {
  const { kind, field, of, to, about } = props;
  const pages = usePages<Item>(pathOf(kind), { [field]: of.id });
  const { labels } = RESOURCES[kind];
  if (pages.items?.length === 0 && of["status"] !== undefined && !isOpen(to, of)) return null;
  return (
    <Card title={labels}>
      <ObjectTable
        kind={kind}
        without={field}
        eventsOf={about.eventsOf}
        label={`${labels} of this ${nounOf(to)}`}
        pages={pages}
        empty={<Empty title={`No ${nounsOf(kind)} yet`} />}
      />
    </Card>
  );
}
