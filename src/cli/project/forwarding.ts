import { parseSubscriptions } from "../arguments/values.ts";
import type { ForwardingFlags } from "../forwarding/options.ts";
import { PROJECT_DEFAULTS } from "./file.ts";
import type { Project } from "./schema.ts";

/** What `forward` of a project file sets, as flags of `service listen`. */
type ProjectFlags = Partial<Pick<ForwardingFlags, "forwardTo" | "route" | "ordered" | "retries">> & {
  events?: string[];
};

export function flagsOf({ forward = {} }: Project): ProjectFlags {
  const { to, routes, events, ordered, retries } = forward;
  return {
    ...(to === undefined ? {} : { forwardTo: String(to) }),
    ...(routes === undefined ? {} : { route: Object.entries(routes).map(([name, target]) => `${name}=${target}`) }),
    ...(events === undefined ? {} : { events: parseSubscriptions(events.join(",")) }),
    ...(ordered === undefined ? {} : { ordered }),
    ...(retries === undefined ? {} : { retries }),
  };
}

export function variableNames({ env = {} }: Project): { secret: string; key: string; url: string } {
  const { secret = PROJECT_DEFAULTS.secret, key = PROJECT_DEFAULTS.key, url = PROJECT_DEFAULTS.url } = env;
  return { secret, key, url };
}
