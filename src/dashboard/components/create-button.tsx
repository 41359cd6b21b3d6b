import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { place } from "../router.tsx";

/** A button that opens a dialog; an address with `create=1` opens it at once. */
export function CreateButton(props: { label: string; dialog: (close: () => void) => ComponentChildren }) {
  const [isOpen, setOpen] = useState(place.value.query.get("create") === "1");
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        {props.label}
      </button>
      {isOpen && props.dialog(() => setOpen(false))}
    </>
  );
}
