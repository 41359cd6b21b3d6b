import type { Chain } from "../../explain/chain.ts";
import { Breakable, ClockTime, hrefOfId, RequestStatus } from "../components/values.tsx";
import { hrefOf, Link } from "../router.tsx";
import { titleIn } from "./objects/item.tsx";

/** Returns the request, the object and the event that led to a delivery, as facts. */
export function originOf({ request, subject, event }: Chain) {
  return [
    [
      "API request",
      request && (
        <>
          <RequestStatus code={request.status} />{" "}
          <Link href={hrefOf("logs", request.id)}>
            {request.method} <Breakable text={request.path} />
          </Link>
        </>
      ),
    ],
    ["Object", subject && <Link href={hrefOfId(subject.id) ?? hrefOf("")}>{titleIn({ ...subject })}</Link>],
    [
      "Event",
      event && (
        <>
          <Link href={hrefOf("events", event.id)}>{event.type}</Link>, <ClockTime at={event.created} />
        </>
      ),
    ],
  ] as const;
}
