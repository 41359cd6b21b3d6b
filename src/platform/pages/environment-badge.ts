import type { Environment } from "../../contract/environments.ts";
import { html, type Html } from "./html.ts";

/** Which environment is meant, so that live is never taken for the sandbox. */
export function environmentBadge(environment: Environment): Html {
  return html`<span class="badge ${environment}">${environment === "live" ? "Live" : "Sandbox"}</span>`;
}
