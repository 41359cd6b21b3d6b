import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/** A question before the page; Escape and the browser's own focus handling come with the element. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const element = useRef<HTMLDialogElement>(null);
  const title = useId();
  useLayoutEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog
      ref={element}
      class={props.wide === true ? "wide" : undefined}
      aria-labelledby={title}
      onClose={props.onClose}
    >
      <h2 id={title}>{props.title}</h2>
      {props.children}
    </dialog>
  );
}
