import type { ListenerConnection } from "../contract/schemas/statistics.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { EXAMPLE_PORT } from "./causes.ts";
import type { Chain } from "./chain.ts";
import type { Finding, TimeFormat } from "./finding.ts";

/** Returns which sessions of `service listen` have an ID: those of one credential share it. */
export function ofListener({ id, statistics }: Chain, time: TimeFormat): Finding[] {
  if (statistics === undefined) return [];
  const own = statistics.listener_connections.filter(({ listener }) => listener === id);
  const open = own.filter(({ disconnected_at: end }) => end === null);
  const [last] = own;
  if (open.length > 0) {
    const summary =
      open.length === 1
        ? `A session of \`service listen\` ${workOf(open[0]!)}`
        : `${open.length} sessions of \`service listen\` share this ID, because they use the same credential`;
    const connected =
      open.length === 1
        ? [`Connected since ${time(open[0]!.connected_at)}, subscribed to ${open[0]!.events.join(", ")}`]
        : open.map((one) => `One ${workOf(one)}, since ${time(one.connected_at)}`);
    const gone = own.find(
      (one) => one.disconnected_at !== null && open.every((other) => workOf(other) !== workOf(one)),
    );
    const before =
      gone === undefined ? [] : [`One that ${formerWorkOf(gone)} disconnected at ${time(gone.disconnected_at!)}`];
    const evidence = [...connected, ...before].join(". ");
    return [{ code: "listener_connected", subject: id, summary, evidence, action: null, fix: null }];
  }
  const action = last === undefined ? "Start a session" : "Start it again";
  return [
    {
      code: last === undefined ? "not_found" : "listener_disconnected",
      subject: id,
      summary:
        last === undefined
          ? `No session of \`service listen\` with the ID ${id} is connected`
          : `The session of \`service listen\` disconnected at ${time(last.disconnected_at!)}`,
      evidence:
        last === undefined
          ? "The platform remembers only the last session that forwarded, until it restarts"
          : `It ${formerWorkOf(last)}, from ${time(last.connected_at)}`,
      action,
      fix: shellCommand`service listen ${flagsOf(last)}`,
    },
  ];
}

function flagsOf(last: ListenerConnection | undefined): string[] {
  if (last === undefined) return ["--forward-to", EXAMPLE_PORT];
  return last.targets.flatMap(({ events, url }) =>
    events === "*" ? ["--forward-to", url] : ["--route", `${events}=${url}`],
  );
}

function formerWorkOf(last: ListenerConnection): string {
  return workOf(last)
    .replace(/^forwards/, "forwarded")
    .replace(/^prints/, "printed");
}

function workOf({ targets }: ListenerConnection): string {
  if (targets.length === 0) return "prints events without forwarding them";
  const rest = targets.length === 1 ? "" : "everything else ";
  return `forwards ${targets.map(({ events, url }) => `${events === "*" ? rest : `${events} `}to ${url}`).join(", ")}`;
}
