import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Copy, CopyLine } from "./values.tsx";

/**
 * A dialog over the page. Escape closes it unless something would be lost: a secret that is shown once, or input in a
 * form.
 */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  class?: string;
  /** What Escape would discard, and how to close the dialog instead. */
  keeps?: string;
  /** False if typed text need not be kept. */
  isForm?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const isEdited = useRef(false);
  const [reason, setReason] = useState("");
  const title = useId();
  const reasonToStay = () =>
    props.keeps ?? (isEdited.current ? "Choose Cancel to discard what you entered." : undefined);
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // Removing an element from the page leaves the focus nowhere; its close event comes later, and adds nothing.
      isGone.current = true;
      dialog?.close();
      // What had the focus may be gone as well: a command opens its page first.
      if (document.activeElement?.matches("body, dialog *") === true) {
        document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
      }
    };
  }, []);
  const stay = (event: Event): boolean => {
    const text = reasonToStay();
    if (text === undefined) return false;
    event.preventDefault();
    setReason(text);
    return true;
  };
  return (
    <dialog
      ref={element}
      class={props.class}
      aria-labelledby={title}
      onInput={() => (isEdited.current = props.isForm !== false)}
      // The state changes with the key: a close event comes later, and could close what was opened meanwhile.
      onCancel={(event) => {
        if (stay(event)) return;
        event.preventDefault();
        props.onClose();
      }}
      // A browser closes a dialog at a second Escape without an event.
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") stay(event);
      }}
      onClose={() => {
        if (!isGone.current) props.onClose();
      }}
    >
      <h2 id={title}>{props.title}</h2>
      {props.children}
      <p class="hint" role="status">
        {reason}
      </p>
    </dialog>
  );
}

/** Shows a secret or link that cannot be shown again. */
export function ShownOnce(props: {
  title: string;
  secret: string;
  what: string;
  /** The line that an application needs, with the secret in it. */
  line?: string;
  children?: ComponentChildren;
  onClose: () => void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose} keeps="It is shown only once: copy it, then choose Done.">
      <p>
        <strong>Shown only once.</strong> Copy it now.
      </p>
      <CopyLine text={props.line ?? props.secret} what={props.line === undefined ? props.what : "the line"} />
      {props.line !== undefined && (
        <p>
          <Copy text={props.secret} what={props.what} label={`Copy ${props.what}`} />
        </p>
      )}
      {props.children}
      <div class="buttons">
        <button type="button" class="primary" onClick={props.onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
