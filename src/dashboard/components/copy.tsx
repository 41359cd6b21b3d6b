import { useEffect, useRef, useState } from "preact/hooks";
import { say } from "./toasts.tsx";

const SHOWN_MILLISECONDS = 1500;

/** Copies text; where the browser gives no clipboard (plain http on another machine), the person selects it by hand. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [isDone, setDone] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setDone(false), SHOWN_MILLISECONDS);
    } catch {
      say("The browser does not let this page copy: select the text instead.", false);
    }
  };
  return (
    <button
      type="button"
      class="small copy"
      onClick={() => void copy()}
      aria-label={isDone ? `Copied ${what}` : `Copy ${what}`}
    >
      {isDone ? "Copied" : "Copy"}
    </button>
  );
}

/** An id that is meant to be read and copied. */
export function Id({ id }: { id: string }) {
  return (
    <span class="id">
      <code>{id}</code>
      <Copy text={id} what={id} />
    </span>
  );
}

/** A command or secret on a line of its own, which breaks between its words and not within them. */
export function CopyLine({ text, what }: { text: string; what: string }) {
  return (
    <div class="copy-line">
      <code>
        {text.split(" ").map((word, index) => (
          <>
            {index > 0 && " "}
            <span>{word}</span>
          </>
        ))}
      </code>
      <Copy text={text} what={what} />
    </div>
  );
}
