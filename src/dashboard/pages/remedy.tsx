import { useState } from "preact/hooks";
import type { Replay } from "../../contract/schemas/event.ts";
import type { Chain } from "../../explain/chain.ts";
import type { Finding } from "../../explain/finding.ts";
import { useCall } from "../api/call.ts";
import { nameOfEndpoint } from "../api/endpoints.ts";
import { Action } from "../components/action.tsx";
import { hrefOfId } from "../components/values.tsx";
import { counted } from "../format.ts";
import { hrefOf, Link } from "../router.tsx";
import { EnableDialog, RetryDialog } from "./bulk.tsx";

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
  const [isOpen, setOpen] = useState(false);
  const { verb, id, only, isReplayed = false } = remedyOf(finding);
  const endpoint = chain.endpoints.get(id);
  const close = () => {
    setOpen(false);
    onDone();
  };
  switch (verb) {
    case "deliveries retry":
      return (
        <Action
          class={primary}
          run={async () => {
            await call("POST", `/v1/deliveries/${id}/retry`);
            onDone();
            return "Retrying now";
          }}
        >
          Retry now
        </Action>
      );
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
      return (
        endpoint !== undefined && (
          <>
            <button type="button" class={primary} onClick={() => setOpen(true)}>
              {isReplayed ? "Enable and replay what it missed" : "Enable"}
            </button>
            {isOpen && (
              <EnableDialog
                endpoint={endpoint}
                waiting={chain.statistics?.endpoints.find((one) => one.endpoint === id)?.pending ?? 0}
                onChange={onDone}
                onClose={close}
              />
            )}
          </>
        )
      );
    case "deliveries retry all":
      return (
        endpoint !== undefined && (
          <>
            <button type="button" class={primary} onClick={() => setOpen(true)}>
              Retry deliveries
            </button>
            {isOpen && (
              <RetryDialog
                endpoint={{ id, name: nameOfEndpoint(endpoint) }}
                failingSince={endpoint.health.failing_since}
                onClose={close}
              />
            )}
          </>
        )
      );
    case "endpoints get":
      return (
        <Link class={`button ${primary}`} href={hrefOf("endpoints", id)}>
          Open the endpoint
        </Link>
      );
    case "logs get":
      return (
        <Link class={`button ${primary}`} href={hrefOfId(id) ?? hrefOf("logs")}>
          Open the request
        </Link>
      );
    case "why":
      return id === chain.id ? null : (
        <Link class={`button ${primary}`} href={hrefOf("why", id)}>
          Explain
        </Link>
      );
    default:
      return null;
  }
}

/** What a command does. */
interface Effect {
  verb: string;
  /** What it affects. */
  id: string;
  /** The only endpoint that a replay is sent to. */
  only?: string | undefined;
  /** The events that an endpoint missed are replayed. */
  isReplayed?: boolean;
}

function remedyOf(finding: Finding | undefined): Effect {
  const [command = "", replay = "", ...others] = (finding?.fix ?? "").split(" && ");
  // The dialog that enables an endpoint replays what it missed.
  if (others.length > 0 || (replay !== "" && !command.startsWith("service endpoints enable "))) {
    return { verb: "", id: "" };
  }
  const words = command.split(" ").filter((word) => word !== "--live");
  const [, name = "", verb = "", id = ""] = words;
  if (name === "why") return { verb: words.length === 3 ? name : "", id: verb };
  if (name === "deliveries" && verb === "retry" && words[4] === "--endpoint" && words.length === 6) {
    return { verb: "deliveries retry all", id: words[5]! };
  }
  if (name === "events" && verb === "replay" && words[4] === "--endpoint" && words.length === 6) {
    return { verb: "events replay", id, only: words[5] };
  }
  return words.length === 4 ? { verb: `${name} ${verb}`, id, isReplayed: replay !== "" } : { verb: "", id: "" };
}
