import { useComputed } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import { kindsWith, type KindWith, RESOURCES } from "../../contract/resources.ts";
import { isSuccess } from "../../contract/is-success.ts";
import { inProject, shellWord } from "../../contract/shell-command.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import { stateOf } from "../../explain/states.ts";
import { clockOffset, environmentNow, tick } from "../clock.ts";
import { clockTime, counted, dueTime, exactTime, localTime, pastTime, progressTime, relativeTime } from "../format.ts";
import { errorInShort, isNotSent, outcomeInWords } from "../responses.ts";
import { hrefOf, Link } from "../router.tsx";
import { Icon } from "./icon.tsx";

/** Placeholder for no value. */
export function None() {
  return <span class="soft none">–</span>;
}

interface TimeProps {
  at: string | null | undefined;
  /** Formats the time, relative to now. */
  write?: (at: number, now: number) => string;
  /** True for times that the test clock does not move. */
  isReal?: boolean;
}

/** A time of the API: how long ago it was, and the exact time in a tooltip. */
export function Time({ at, ...rest }: TimeProps) {
  if (at === null || at === undefined) return <None />;
  return <Moment key={at} at={at} {...rest} />;
}

/** Only the text is updated, and only if it reads differently. It belongs to one time. */
function Moment({ at, write = pastTime, isReal = false }: TimeProps & { at: string }) {
  const text = useComputed(() => write(Date.parse(at), isReal ? tick.value : environmentNow()));
  return (
    <time dateTime={at} title={exactTime(at)}>
      {text}
    </time>
  );
}

/** The time of day of a row, whose day is a separator of the list; how long ago it was in a tooltip. */
export function RowTime({ at, isReal = false }: Pick<TimeProps, "isReal"> & { at: string }) {
  const now = () => (isReal ? Date.now() : Date.now() + clockOffset.value);
  return (
    <time
      dateTime={at}
      title={exactTime(at)}
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = `${pastTime(Date.parse(at), now())} · ${exactTime(at)}`;
      }}
    >
      {clockTime(at)}
    </time>
  );
}

/** When something ends. */
export function Until({ at, isReal = false }: Omit<TimeProps, "write">) {
  return <Time at={at} write={relativeTime} isReal={isReal} />;
}

/** When the next attempt is due, or that it is in progress. */
export function NextAttempt({ delivery: { next_attempt: next, attempting_since: since } }: { delivery: Delivery }) {
  return since === null ? <Time at={next} write={dueTime} /> : <Time at={since} write={progressTime} />;
}

/** The place of a value that is being loaded. */
export function Unknown() {
  return (
    <span class="unknown">
      <span class="sr-only">Loading</span>
    </span>
  );
}

/** The value of a header that is not stored. */
const HIDDEN = "…";

/** Returns an HTTP message as text: its first line, headers and body, JSON with line breaks. */
export function message(start: string, headers: Record<string, string> | null, body: string | null): string {
  const entries = Object.entries(headers ?? {});
  const hidden = entries.flatMap(([name, value]) => (value === HIDDEN ? [name] : []));
  const lines = entries.filter(([, value]) => value !== HIDDEN).map(([name, value]) => `${name}: ${value}`);
  if (hidden.length > 0) {
    const noun = hidden.length === 1 ? "The value of 1 header is" : `The values of ${hidden.length} headers are`;
    lines.push(`(${noun} not stored: ${hidden.join(", ")})`);
  }
  return [start, ...lines, ...(body === null || body === "" ? [] : ["", pretty(body)])].join("\n");
}

/** Returns a command that sends a request. Headers are words of a shell. */
export function curl(method: string, url: string, headers: readonly string[], body: string | null): string {
  const data = body === null || body === "" ? [] : [`--data-raw ${shellWord(body)}`];
  return [`curl -X ${method} ${shellWord(url)}`, ...headers.map((header) => `-H ${header}`), ...data].join(" \\\n  ");
}

/** A time of day, with its date unless it is today. */
export function ClockTime({ at }: { at: string | number }) {
  const iso = typeof at === "string" ? at : `${new Date(at).toISOString().slice(0, 19)}Z`;
  return (
    <time dateTime={iso} title={exactTime(iso)}>
      {localTime(iso, environmentNow())}
    </time>
  );
}

/** The statuses of each tone; others are off. */
const TONES = Object.entries({
  good: ["succeeded", "delivered", "completed", "enabled", "active", "healthy"],
  bad: ["failed", "failing", "leaked"],
  retry: ["retrying", "slow", "undelivered"],
  wait: ["pending", "queued"],
});

/**
 * A status: a shape before a word. Success is subdued, so that a failure stands out. That of an object is a tag: what its
 * deliveries do says nothing about it.
 */
export function Status(props: { status: string; text?: string; detail?: string; isTag?: boolean }) {
  const { status, text = status, detail, isTag = false } = props;
  const [tone = "off"] = TONES.find(([, statuses]) => statuses.includes(status)) ?? [];
  return (
    <span class={`status ${tone}${isTag ? " tag" : ""}`}>
      {!isTag && <span class="dot" aria-hidden="true" />}
      <span>
        {text}
        {detail !== undefined && <span class="of-total">{detail}</span>}
      </span>
    </span>
  );
}

/** Returns the seconds between an attempt and the next one. */
export function retryWait(attempt: number): number {
  return Math.min(LIMITS.retryFirstSeconds * 2 ** (attempt - 1), LIMITS.maxRetryWaitSeconds);
}

/** The state of a delivery: Queued, Retrying, 7 failed, Held: endpoint disabled, Delivered, Failed or Canceled. */
export function DeliveryState({ delivery }: { delivery: Delivery }) {
  const state = stateOf(delivery);
  if (state !== "retrying" && state !== "held") return <Status status={state} />;
  const { attempt_count: attempts } = delivery;
  const failed = attempts > 0 && `${attempts} failed`;
  const why = state === "held" && ": endpoint disabled";
  return (
    <Status
      status={state}
      detail={[why, failed]
        .filter(Boolean)
        .join(", ")
        .replace(/^(?!:)/, ", ")}
    />
  );
}

/** An event type, whose verb stands out. */
export function EventType({ type }: { type: string }) {
  const dot = type.lastIndexOf(".") + 1;
  return (
    <>
      <span class="type-prefix">{type.slice(0, dot)}</span>
      <wbr />
      {type.slice(dot)}
    </>
  );
}

/** A URL in limited space: the host is complete, and of the path the end, where URLs of one host differ. */
export function Url({ text }: { text: string }) {
  const [, host = text, path = ""] = /^https?:\/\/([^/]+)(.*)$/.exec(text) ?? [];
  return (
    <span class="url" title={text}>
      <span>{host}</span>
      <span>
        <bdi dir="ltr">{path}</bdi>
      </span>
    </span>
  );
}

/** The response to a delivery, or the reason why there is none. Only 2xx is a success. */
export function StatusCode({ code, error = null }: { code: number | null; error?: string | null }) {
  const tone = isSuccess(code) ? "good" : isNotSent(error) ? "off" : "bad";
  return (
    <span class={`code ${tone}`} title={outcomeInWords(code, error)}>
      {code ?? errorInShort(error)}
    </span>
  );
}

/** The response to an API request. */
export function RequestStatus({ code }: { code: number }) {
  return <span class={`code ${code < 400 ? "good" : "bad"}`}>{code}</span>;
}

/** Kinds of objects that have a page; users share one. */
const LINKED = kindsWith("prefix").flatMap((kind) =>
  "page" in RESOURCES[kind] && kind !== "user" ? [kind as KindWith<"prefix"> & KindWith<"page">] : [],
);

/** Returns the page of the object with an ID. */
export function hrefOfId(id: string): string | undefined {
  if (/^req_[0-9A-Za-z]{22}$/.test(id)) return hrefOf("logs", id);
  const kind = LINKED.find((linked) => new RegExp(`^${RESOURCES[linked].prefix}[0-9A-Za-z]{22}$`).test(id));
  return kind === undefined ? undefined : hrefOf(RESOURCES[kind].page.name, id);
}

/** Text with a link for each ID in it, except the ID that the text is about. */
export function WithLinks({ text, about }: { text: string; about: string }) {
  return (
    <>
      {text.split(/\b([a-z]{2,4}_[0-9A-Za-z]{22})\b/).map((part, index) => {
        const href = index % 2 === 0 || part === about ? undefined : hrefOfId(part);
        return href === undefined ? (
          part
        ) : (
          <Link key={index} href={href}>
            {part}
          </Link>
        );
      })}
    </>
  );
}

/** Shows an ID, with a link to the object's page if it has one. */
export function ObjectLink({ id }: { id: string | null }) {
  if (id === null || id === "") return <None />;
  const href = hrefOfId(id);
  if (href === undefined) return <code>{id}</code>;
  return (
    <Link href={href}>
      <code>{id}</code>
    </Link>
  );
}

const SHOWN_MILLISECONDS = 2000;

/** Copies text. Without access to the clipboard (plain HTTP on another machine), the button says to select it. */
export function Copy({ text, what, label }: { text: string; what: string; label?: string }) {
  const [outcome, setOutcome] = useState<"Copied" | "Select it manually">();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("Copied");
    } catch {
      setOutcome("Select it manually");
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOutcome(undefined), SHOWN_MILLISECONDS);
  };
  const words = outcome ?? label;
  const whole = `Copy ${what}`;
  const name = words === undefined || whole.startsWith(words) ? whole : `${words}: ${what}`;
  return (
    <button
      type="button"
      class={words === undefined ? "bare" : "small"}
      onClick={() => void copy()}
      title={name}
      aria-label={name}
    >
      <Icon name={outcome === "Copied" ? "check" : "copy"} />
      {words}
    </button>
  );
}

/** An ID to read and copy. */
export function Id({ id }: { id: string }) {
  return (
    <span class="id">
      <code>{id}</code>
      <Copy text={id} what={id} />
    </span>
  );
}

/** A URL or path, which breaks after a slash or before a parameter if it can. */
export function Breakable({ text }: { text: string }) {
  return (
    <>
      {text.split(/(?<=[^/:]\/)|(?=[?&])/).map((part) => (
        <>
          {part}
          <wbr />
        </>
      ))}
    </>
  );
}

/** A secret, URL or command on a line of its own, which breaks only between its words. */
export function CopyLine({ text, what }: { text: string; what: string }) {
  return (
    <div class="copy-line">
      <code>
        {text.split(" ").map((word, index) => (
          <>
            {index > 0 && " "}
            <span>
              <Breakable text={word} />
            </span>
          </>
        ))}
      </code>
      <Copy text={text} what={what} label="Copy" />
    </div>
  );
}

/** A command of the CLI to copy. */
export function CommandLine({ text, what = "the command" }: { text: string; what?: string }) {
  return <CopyLine text={inProject(text)} what={what} />;
}

/** Text as it was sent or received, in a box that scrolls. `marks` are names of fields to highlight. */
export function Raw({ text, label, marks }: { text: string; label: string; marks?: readonly string[] }) {
  return (
    <pre class="raw" role="region" tabIndex={0} aria-label={label}>
      {text.length > MAX_HIGHLIGHTED ? text : <Highlighted text={text} {...(marks && { marks })} />}
    </pre>
  );
}

const MAX_HIGHLIGHTED = 20_000;

/** Returns JSON with line breaks, and other text as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A JSON value as a tree that opens and closes; every text is shown as text. */
export function JsonTree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const label = name !== undefined && <span class="json-name">{name}</span>;
  const isParent = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isParent) {
    return (
      <div class="json-leaf">
        {label}
        <span class={`json-${value === null ? "null" : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const entries = Object.entries(value);
  return (
    <details class="json" open={depth < 3}>
      <summary>
        {label}
        <span class="soft">{counted(entries.length, Array.isArray(value) ? "item" : "field")}</span>
      </summary>
      <div class="json-children">
        {entries.map(([key, item]) => (
          <JsonTree key={key} name={key} value={item} depth={depth + 1} />
        ))}
      </div>
    </details>
  );
}

/** JSON with its keys and texts in color, also as the body of a message; other text as it is. */
export function Highlighted({ text, marks = [] }: { text: string; marks?: readonly string[] }) {
  const start = text.search(/^[[{]/) === 0 ? 0 : text.search(/\n\n[[{]/);
  if (start === -1) return <>{text}</>;
  const parts = text.slice(start).split(/("(?:[^"\\\n]|\\.)*"(?=\s*:)|"(?:[^"\\\n]|\\.)*")/);
  return (
    <>
      {text.slice(0, start)}
      {parts.map((part, index) => {
        if (index % 2 === 0) return part;
        const isKey = /^\s*:/.test(parts[index + 1] ?? "");
        const isMarked = isKey && marks.includes(part.slice(1, -1));
        return (
          <span key={index} class={isMarked ? "marked" : isKey ? "key" : "string"}>
            {part}
          </span>
        );
      })}
    </>
  );
}
