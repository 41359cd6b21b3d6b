import type { ComponentChildren } from "preact";
import { explainedKind } from "../../explain/chain.ts";
import { useExplanation } from "../api/explanation.ts";
import type { Query } from "../api/store.ts";
import { SECTIONS } from "../menu.ts";
import { hrefOf, Link, route } from "../router.tsx";
import { Answer } from "./answer.tsx";
import { isGone, Loaded } from "./page.tsx";
import { ClockTime } from "./values.tsx";

/** Shows an object once it is loaded; if it does not exist, what happened to it. */
export function LoadedObject<Data>(props: {
  of: Query<Data>;
  id: string;
  children: (data: Data) => ComponentChildren;
}) {
  const { data, error } = props.of;
  const loaded = <Loaded of={props.of}>{props.children}</Loaded>;
  if (isGone(props.of) && explainedKind(props.id) !== undefined) return <Missing id={props.id} otherwise={loaded} />;
  return (
    <>
      {data === undefined && error === undefined && <Answer explanation={undefined} />}
      {loaded}
    </>
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
  const { page } = route.value;
  const label = SECTIONS.flatMap(({ links }) => links).find(([name]) => name === page)?.[1];
  return (
    <Answer
      explanation={explanation}
      remedy={
        label !== undefined && (
          <Link class="button" href={hrefOf(page)}>
            All {label.charAt(0).toLowerCase() + label.slice(1)}
          </Link>
        )
      }
    />
  );
}
