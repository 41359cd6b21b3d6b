import { signal } from "@preact/signals";

interface Toast {
  id: number;
  text: string;
  isGood: boolean;
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_MILLISECONDS = 6000;
let last = 0;

/** Says what came of an action, also to a screen reader. */
export function say(text: string, isGood = true): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, isGood }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MILLISECONDS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isGood }) => (
        <p key={id} class={isGood ? "toast" : "toast bad"}>
          <span aria-hidden="true">{isGood ? "✓" : "!"}</span> {text}
        </p>
      ))}
    </div>
  );
}
