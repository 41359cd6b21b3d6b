import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { place, settle } from "../router.tsx";

/** A button that opens a dialog; an address with `create=1` opens it at once, and loses that when it is closed. */
export function CreateButton(props: { label: string; dialog: (close: () => void) => ComponentChildren }) {
  const isAsked = place.value.query.get("create") === "1";
  const [isOpen, setOpen] = useState(isAsked);
  const close = () => {
    setOpen(false);
    if (isAsked) settle(location.pathname);
  };
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        {props.label}
      </button>
      {isOpen && props.dialog(close)}
    </>
  );
}
