import type { ComponentChildren } from "preact";
import { CopyLine } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";

/** A secret, this once: it cannot be had again when the dialog is closed. */
export function SecretOnce(props: {
  title: string;
  secret: string;
  what: string;
  children?: ComponentChildren;
  onClose: () => void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p class="notice wait">
        <strong>Shown once.</strong> Copy it now: it cannot be shown again.
      </p>
      <CopyLine text={props.secret} what={props.what} />
      {props.children}
      <div class="buttons">
        <button type="button" class="primary" onClick={props.onClose}>
          I have kept it
        </button>
      </div>
    </Dialog>
  );
}
