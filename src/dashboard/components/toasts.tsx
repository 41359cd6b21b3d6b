import { signal } from "@preact/signals";
import { Icon } from "./icon.tsx";

interface Toast {
  id: number;
  text: string;
  isGood: boolean;
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_MILLISECONDS = 6000;
let last = 0;

/** Shows the result of an action, also to a screen reader. An error stays until it is closed. */
export function showToast(text: string, isGood = true): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, isGood }];
  if (isGood) setTimeout(() => close(id), SHOWN_MILLISECONDS);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isGood }) => (
        <p key={id} class={isGood ? "toast" : "toast bad"}>
          <Icon name={isGood ? "check" : "alert"} />
          <span>{text}</span>
          {!isGood && (
            <button type="button" class="small" onClick={() => close(id)}>
              Close
            </button>
          )}
        </p>
      ))}
    </div>
  );
}
