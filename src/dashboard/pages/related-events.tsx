import type { Event } from "../../contract/schemas/event.ts";
import { usePages } from "../api/use-query.ts";
import { Card } from "../components/page.tsx";
import { Empty } from "../components/states.tsx";
import { PagedTable } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { hrefOf, Link } from "../router.tsx";

/** The events that an object caused. */
export function RelatedEvents({ id }: { id: string }) {
  const events = usePages<Event>("/v1/events", { related: id }, { every: 2000 });
  return (
    <Card title="Events it caused">
      <PagedTable
        label="Events of this object"
        pages={events}
        empty={<Empty title="None in the last 30 days." />}
        columns={[
          { label: "Type", cell: ({ id: event, type }) => <Link href={hrefOf("events", event)}>{type}</Link> },
          { label: "Changed", cell: ({ data }) => Object.keys(data.previous ?? {}).join(", ") || "–" },
          { label: "Id", from: "tablet", cell: ({ id: event }) => <code>{event}</code> },
          { label: "Time", cell: ({ created }) => <Time at={created} /> },
        ]}
      />
    </Card>
  );
}
