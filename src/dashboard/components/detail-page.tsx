import type { ComponentChildren } from "preact";
import { explainedKind } from "../../explain/chain.ts";
import { useExplanation } from "../api/explanation.ts";
import type { Query } from "../api/store.ts";
import { SECTIONS } from "../menu.ts";
import { hrefOf, Link, route } from "../router.tsx";
import { Answer } from "./answer.tsx";
import { isGone, Loaded, Page } from "./page.tsx";
import { ClockTime } from "./values.tsx";

interface DetailProps<Data> {
  /** The page of its list. */
  page: string;
  id: string;
  siblings?: readonly string[] | undefined;
  of: Query<Data>;
  title: string;
  actions: (data: Data) => ComponentChildren;
  children: (data: Data) => ComponentChildren;
}

/** The page of an object, once it is loaded; if it does not exist, what happened to it. */
export function DetailPage<Data>({ page, id, siblings, of, title, actions, children }: DetailProps<Data>) {
  const { data, error } = of;
  const canExplain = explainedKind(id) !== undefined;
  const loaded = <Loaded of={of}>{children}</Loaded>;
  return (
    <Page
      title={title}
      back={{ href: hrefOf(page), label: labelOf(page) ?? "" }}
      id={id}
      siblings={siblings}
      isLoaded={data !== undefined}
      actions={data !== undefined && !isGone(of) && actions(data)}
    >
      {canExplain && data === undefined && error === undefined && <Answer explanation={undefined} />}
      {canExplain && isGone(of) ? <Missing id={id} otherwise={loaded} /> : loaded}
      {!canExplain && isGone(of) && (
        <p>
          <ToList page={page} />
        </p>
      )}
    </Page>
  );
}

/** Returns the name of a page in the menu. */
function labelOf(page: string): string | undefined {
  return SECTIONS.flatMap(({ links }) => links).find(([name]) => name === page)?.[1];
}

function ToList({ page }: { page: string }) {
  const label = labelOf(page);
  if (label === undefined) return null;
  return (
    <Link class="button" href={hrefOf(page)}>
      All {label.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())}
    </Link>
  );
}

function Missing({ id, otherwise }: { id: string; otherwise: ComponentChildren }) {
  const { explanation, error } = useExplanation(id);
  // Only the events of a deleted object remain.
  const event = explanation?.chain.event;
  if (event?.type.endsWith(".deleted") === true) {
    const { id: request } = event.request;
    return (
      <section class="answer" aria-label="Result">
        <p>
          It was deleted at <ClockTime at={event.created} />.
        </p>
        <p class="evidence">
          Its last state is in the event <Link href={hrefOf("events", event.id)}>{event.type}</Link>
          {request !== null && (
            <>
              , which the request <Link href={hrefOf("logs", request)}>{request}</Link> caused
            </>
          )}
          .
        </p>
      </section>
    );
  }
  if (error !== undefined) return <>{otherwise}</>;
  const { page, environment } = route.value;
  const other = environment === "live" ? "sandbox" : "live";
  const label = labelOf(page);
  return (
    <Answer
      explanation={explanation}
      remedy={
        label !== undefined && (
          <>
            {explanation?.chain.missing?.deletion === undefined && (
              <Link class="button" href={hrefOf(page, id, {}, other)}>
                Look in {other === "live" ? "live mode" : "the sandbox"}
              </Link>
            )}
            <ToList page={page} />
          </>
        )
      }
    />
  );
}
