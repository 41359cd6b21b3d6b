import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/** A question before the page. Escape and the way of the focus, in and back out, come with the element. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const element = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const title = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // An element that is only taken out of the page leaves the focus nowhere; its event comes later, and says nothing new.
      isGone.current = true;
      dialog?.close();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={props.wide === true ? "wide" : undefined}
      aria-labelledby={title}
      onClose={() => {
        if (!isGone.current) props.onClose();
      }}
    >
      <h2 id={title}>{props.title}</h2>
      {props.children}
    </dialog>
  );
}
