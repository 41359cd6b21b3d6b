import { place } from "../../router.tsx";
import { EventDetail } from "./detail.tsx";
import { EventList } from "./list.tsx";

export function Events() {
  const { id } = place.value;
  return id === "" ? <EventList /> : <EventDetail id={id} />;
}
