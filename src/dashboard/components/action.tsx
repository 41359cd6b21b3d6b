import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { asCallError, type CallError } from "../api/call.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorBox } from "./states.tsx";
import { say } from "./toasts.tsx";
import { useOnce } from "./use-once.ts";

interface ActionProps {
  children: ComponentChildren;
  /** Answers what to say, where there is something to say. */
  run: () => Promise<string | undefined>;
  class?: string;
  disabled?: boolean;
}

/** A button that does one thing once, and says how that went. It keeps the focus while it is busy. */
export function Action({ children, run, class: name = "", disabled = false }: ActionProps) {
  const { isBusy, act } = useOnce(async () => {
    try {
      const text = await run();
      if (text !== undefined) say(text);
    } catch (error) {
      say(asCallError(error).message, false);
    }
  });
  return (
    <button type="button" class={name} disabled={disabled} aria-disabled={isBusy} onClick={act}>
      {children}
    </button>
  );
}

interface ConfirmedProps extends Omit<ActionProps, "class"> {
  title: string;
  /** What the action means, before it is done. */
  explanation: ComponentChildren;
  /** The words on the button that does it. */
  verb: string;
  class?: string;
}

/** A button that asks first. */
export function ConfirmedAction({ title, explanation, verb, run, children, class: name, disabled }: ConfirmedProps) {
  const [isOpen, setOpen] = useState(false);
  const [error, setError] = useState<CallError>();
  const close = () => {
    setOpen(false);
    setError(undefined);
  };
  const { isBusy, act } = useOnce(async () => {
    try {
      const text = await run();
      if (text !== undefined) say(text);
      close();
    } catch (problem) {
      setError(asCallError(problem));
    }
  });
  return (
    <>
      <button type="button" class={name} disabled={disabled} onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          {explanation}
          {error !== undefined && <ErrorBox error={error} />}
          <div class="buttons">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="danger" aria-disabled={isBusy} onClick={act}>
              {verb}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
