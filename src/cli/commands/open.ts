import { whyNoBrowser } from "../browser.ts";
import { type CommandDefinition, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { guidePath } from "../help-layout.ts";
import { addressOf, isLoopback } from "../../network/connect-options.ts";
import { resolveTarget, startHint } from "../settings/connection.ts";
import { parseBaseUrl, urlOf } from "../../client/base-url.ts";
import type { Environment } from "../../contract/environments.ts";

/** The path of each page below the base URL. */
const PAGES = {
  dashboard: (environment: Environment) => `/dashboard/${environment}`,
  events: (environment: Environment) => `/dashboard/${environment}/events`,
  docs: () => "/docs",
  api: () => "/docs/reference",
} as const;

type Page = keyof typeof PAGES;

/** `service open`. */
export const command: CommandDefinition = {
  name: "open",
  about: "Print the URL of a platform page and open it in the browser",
  args: [
    {
      arg: "[page]",
      about: "Page to open; docs has the guides, api the API reference",
      choices: Object.keys(PAGES),
      default: "dashboard",
    },
  ],
  options: [flag("--no-browser", "Print the URL without opening a browser")],
  examples: ["service open", "service open events --live", "service open docs --no-browser"],
  run: runOpen,
};

async function runOpen(context: Context, page: Page, { browser }: { browser: boolean }): Promise<void> {
  const { output, globals, env, settings } = context;
  const target = resolveTarget({ flags: globals, env, settings, project: await context.project() });
  const { baseUrl } = target;
  const path = PAGES[page](globals.live ? "live" : "sandbox");
  const url = urlOf(parseBaseUrl(baseUrl.value, globals), path);
  if ((page === "docs" || page === "api") && !output.json && (await isDown(url))) {
    output.line(page === "docs" ? guidePath() : url.href);
    const what = page === "docs" ? "These are the pages as text" : `No platform listens at ${baseUrl.value}`;
    output.notice(`${what}. ${startHint(target)} to read ${page === "docs" ? `them at ${url.href}` : "it"}.`);
    return;
  }
  const reason = browser ? whyNoBrowser(context) : undefined;
  // The URL first, which helps even if no browser opens.
  if (!output.json) output.line(url.href);
  const opened = browser && reason === undefined && (await context.openBrowser(url.href));
  if (output.json) return await output.document({ page, url: url.href, opened });
  if (page === "docs") output.note(`The same pages as text: ${guidePath()}`);
  if (opened) output.note("Opened in your browser.");
  else if (browser)
    output.note(`Could not open a browser${reason === undefined ? "" : ` ${reason}`}. Open the URL yourself.`);
}

const PROBE_MS = 500;

/** Returns true if no platform listens there, which is known of this machine only. */
async function isDown(url: URL): Promise<boolean> {
  if (!isLoopback(url.hostname)) return false;
  const { acceptsConnections } = await import("../../network/port-probe.ts");
  return (await acceptsConnections(addressOf(url), PROBE_MS)) === false;
}
