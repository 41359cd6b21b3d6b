import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { asCallError, type CallError } from "../api/call.ts";
import { filter, route } from "../router.tsx";
import { Dialog } from "./dialog.tsx";
import { isUnreachable } from "./outage.tsx";
import { ErrorBox } from "./page.tsx";
import { showToast } from "./toasts.tsx";

/** Runs one task at a time: calls while it runs do nothing, also within the same frame. */
export function useOnce(run: () => Promise<void>): { isBusy: boolean; act: () => void } {
  const running = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const act = async () => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    try {
      await run();
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { isBusy, act: () => void act() };
}

interface ActionProps {
  children: ComponentChildren;
  /** Returns the message to show, if any. */
  run: () => Promise<string | undefined>;
  class?: string;
  disabled?: boolean;
  /** The name for assistive technology, if the text alone does not describe the button. */
  label?: string;
  /** The key that runs it. */
  shortcut?: string;
}

/** Runs a task, and shows its result or error. */
export async function perform(run: ActionProps["run"]): Promise<void> {
  try {
    const text = await run();
    if (text !== undefined) showToast(text);
  } catch (error) {
    showToast(asCallError(error).message, false);
  }
}

/** A button that runs one task, and shows the result. It keeps the focus while it is busy. */
export function Action({ children, run, class: name = "", disabled = false, label, shortcut }: ActionProps) {
  const { isBusy, act } = useOnce(() => perform(run));
  return (
    <button
      type="button"
      class={name}
      disabled={disabled || isUnreachable.value}
      aria-disabled={isBusy}
      aria-label={label}
      data-shortcut={shortcut}
      onClick={act}
    >
      {children}
    </button>
  );
}

interface ConfirmationProps {
  title: string;
  /** An explanation of the action, shown before it runs. */
  explanation: ComponentChildren;
  /** The label of the button that confirms. */
  verb: string;
  run: ActionProps["run"];
  /** True if it removes nothing. */
  isHarmless?: boolean;
  /** False until it is known what it affects. */
  isReady?: boolean;
  /** Why that is not known. */
  problem?: CallError | undefined;
}

/** A button that asks for confirmation first. */
export function ConfirmedAction(props: ConfirmationProps & { children: ComponentChildren; class?: string }) {
  const { children, class: name, ...confirmation } = props;
  return (
    <DialogButton
      class={name}
      label={children}
      dialog={(close) => <Confirmation {...confirmation} onClose={close} />}
    />
  );
}

/** A dialog that asks before an action. It stays open if the action fails. */
export function Confirmation(props: ConfirmationProps & { onClose: () => void }) {
  const { title, explanation, verb, run, isHarmless = false, isReady = true, problem: unknown, onClose } = props;
  const [failure, setFailure] = useState<CallError>();
  const error = failure ?? unknown;
  const { isBusy, act } = useOnce(async () => {
    try {
      const text = await run();
      if (text !== undefined) showToast(text);
      onClose();
    } catch (problem) {
      setFailure(asCallError(problem));
    }
  });
  return (
    <Dialog title={title} onClose={onClose} isForm={false}>
      {explanation}
      {error !== undefined && <ErrorBox error={error} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={isHarmless ? "primary" : "danger"}
          disabled={!isReady}
          aria-disabled={isBusy}
          onClick={act}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  );
}

interface DialogButtonProps {
  label: ComponentChildren;
  class?: string | undefined;
  dialog: (close: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogButton(props: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={props.class} disabled={isUnreachable.value} onClick={() => setOpen(true)}>
        {props.label}
      </button>
      {isOpen && props.dialog(() => setOpen(false))}
    </>
  );
}

/** A URL with `create=1` opens the dialog at once, and the parameter is removed when the dialog is closed. */
export function CreateButton(props: DialogButtonProps) {
  const isAsked = route.value.query.get("create") === "1";
  return (
    <>
      <DialogButton {...props} class="primary" />
      {isAsked && props.dialog(() => filter({ create: "" }))}
    </>
  );
}
