import { kindOfId } from "../../contract/ids.ts";
import type { Replay } from "../../contract/schemas/event.ts";
import type { Chain } from "../../explain/chain.ts";
import type { Finding } from "../../explain/finding.ts";
import { decisiveDeliveries } from "../../explain/states.ts";
import { useCall } from "../api/call.ts";
import { nameOfEndpoint } from "../api/endpoints.ts";
import { Action, DialogButton } from "../components/action.tsx";
import { hrefOfId } from "../components/values.tsx";
import { counted } from "../format.ts";
import { hrefOf, Link } from "../router.tsx";
import { RetryDeliveries, RetryEach, retryLabel } from "./bulk.tsx";
import { EnableDialog } from "./enable.tsx";
import { DeleteEndpoint } from "./endpoints/delete.tsx";
import { RetryNow } from "./retry-now.tsx";

/** Links to what some commands show. */
const LINKS = { "endpoints get": "Open the endpoint", "logs get": "Open the request", why: "Explain" } as const;

/** A button that does the same as the command of a finding. */
export function Remedy(props: {
  chain: Chain;
  finding: Finding | undefined;
  onDone: () => void;
  /** True for one of several: no button is the primary one. */
  isOneOfSeveral?: boolean;
}) {
  const { chain, finding, onDone, isOneOfSeveral = false } = props;
  const primary = isOneOfSeveral ? "" : "primary";
  const call = useCall();
  if (finding?.code === "undelivered") return <RetryAll chain={chain} class={primary} onDone={onDone} />;
  const { verb, id, only, url, also = "" } = remedyOf(finding);
  const endpoint = chain.endpoints.get(id);
  const counts = chain.statistics?.endpoints.find((one) => one.endpoint === id);
  const { pending = 0, failed_deliveries: failed = 0 } = counts ?? {};
  switch (verb) {
    case "deliveries retry":
      return <RetryNow id={id} class={primary} onDone={onDone} />;
    case "events replay":
      return (
        <Action
          class={primary}
          run={async () => {
            const { deliveries } = await call<Replay>("POST", `/v1/events/${id}/replay`, only && { endpoint: only });
            onDone();
            return `Replayed: ${counted(deliveries.length, "delivery", "deliveries")}`;
          }}
        >
          Replay event
        </Action>
      );
    case "endpoints enable":
      return endpoint === undefined ? (
        <Link class={`button ${primary}`} href={hrefOf("endpoints", id)}>
          Open the endpoint
        </Link>
      ) : (
        <>
          <DialogButton
            class={primary}
            label={
              also === "deliveries retry"
                ? "Enable and retry"
                : also === ""
                  ? "Enable"
                  : "Enable and replay what it missed"
            }
            dialog={(close) => (
              <EnableDialog
                endpoint={endpoint}
                {...(finding &&
                  also === "deliveries retry" &&
                  kindOfId(finding.subject) === "delivery" && { failed: finding.subject })}
                onChange={onDone}
                onClose={() => {
                  close();
                  onDone();
                }}
              />
            )}
          />
          {/* A receiver that responds with 410 asks for it. */}
          {endpoint.disabled_reason === "gone" && (
            <DialogButton
              label="Delete the endpoint"
              dialog={(close) => <DeleteEndpoint endpoint={endpoint} onDeleted={onDone} onClose={close} />}
            />
          )}
        </>
      );
    case "deliveries retry all":
      return (
        endpoint !== undefined && (
          <RetryDeliveries
            class={primary}
            label={retryLabel({ pending, failed_deliveries: failed })}
            endpoint={{ id, name: nameOfEndpoint(endpoint) }}
            failingSince={endpoint.health.failing_since}
          />
        )
      );
    case "endpoints update":
      return (
        <Action
          class={primary}
          run={async () => {
            await call("PATCH", `/v1/webhook_endpoints/${id}`, { url });
            onDone();
            return `The URL is now ${url}`;
          }}
        >
          Change URL
        </Action>
      );
    case "endpoints get":
    case "logs get":
    case "why":
      return verb === "why" && id === chain.id ? null : (
        <Link class={`button ${primary}`} href={verb === "why" ? hrefOf("why", id) : (hrefOfId(id) ?? hrefOf("logs"))}>
          {LINKS[verb]}
        </Link>
      );
    default:
      return <Again chain={chain} subject={finding?.subject ?? ""} class={primary} onDone={onDone} />;
  }
}

/** Sends an event again to each endpoint that did not get it and is enabled. */
function RetryAll({ chain, class: name, onDone }: { chain: Chain; class: string; onDone: () => void }) {
  const open = decisiveDeliveries(chain.deliveries).filter(
    ({ endpoint, status }) => status !== "succeeded" && chain.endpoints.get(endpoint ?? "")?.status === "enabled",
  );
  if (open.length === 0) return null;
  const label = `Retry ${counted(open.length, "delivery", "deliveries")}`;
  return <RetryEach class={name} deliveries={open} label={label} onDone={onDone} />;
}

/** Next to a command that only shows what is wrong: sends the delivery again, or those of the endpoint. */
function Again(props: { chain: Chain; subject: string; class: string; onDone: () => void }) {
  const { chain, subject, class: name, onDone } = props;
  const delivery = chain.deliveries.find(({ id }) => id === subject);
  const endpoint = chain.endpoints.get(delivery?.endpoint ?? subject);
  if (endpoint?.status !== "enabled" || delivery?.status === "succeeded") return null;
  if (delivery !== undefined) return <RetryNow id={subject} class={name} onDone={onDone} />;
  const { id, health } = endpoint;
  if (health.failing_since === null) return null;
  const to = { id, name: nameOfEndpoint(endpoint) };
  return <RetryDeliveries class={name} endpoint={to} failingSince={health.failing_since} />;
}

/** What a command does. */
interface Effect {
  verb: string;
  /** What it affects. */
  id: string;
  /** The only endpoint that a replay is sent to. */
  only?: string | undefined;
  /** The URL that an endpoint gets. */
  url?: string | undefined;
  /** What the second command does. */
  also?: string;
}

function remedyOf(finding: Finding | undefined): Effect {
  const [command = "", second = "", third = "", ...others] = (finding?.fix ?? "").split(" && ");
  const isEnabling = /^service endpoints (enable|update) /.test(command);
  const isRetryingLast = third === "" || third.startsWith("service deliveries retry --failed ");
  // The dialog that enables an endpoint replays what it missed, and retries deliveries that failed.
  if (others.length > 0 || !isRetryingLast || (second !== "" && !isEnabling)) return { verb: "", id: "" };
  const words = command.split(" ").filter((word) => word !== "--live");
  const [, name = "", verb = "", id = ""] = words;
  if (name === "why") return { verb: words.length === 3 ? name : "", id: verb };
  if (name === "deliveries" && verb === "retry" && words[4] === "--endpoint" && words.length === 6) {
    return { verb: "deliveries retry all", id: words[5]! };
  }
  if (name === "events" && verb === "replay" && words[4] === "--endpoint" && words.length === 6) {
    return { verb: "events replay", id, only: words[5] };
  }
  if (name === "endpoints" && verb === "update" && words[4] === "--url" && words.length === 6) {
    return { verb: "endpoints update", id, url: words[5]!.replace(/^'(.*)'$/, "$1") };
  }
  return words.length === 4
    ? { verb: `${name} ${verb}`, id, also: second.split(" ").slice(1, 3).join(" ") }
    : { verb: "", id: "" };
}
