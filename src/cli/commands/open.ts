import { whyNoBrowser } from "../browser.ts";
import { readdirSync } from "node:fs";
import { type CommandDefinition, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { didYouMean, nearest } from "../../contract/nearest.ts";
import { UsageError } from "../errors.ts";
import { guidePath } from "../help-layout.ts";
import { resolveTarget, startHint } from "../settings/connection.ts";
import { isDown } from "../../network/port-probe.ts";
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
    {
      arg: "[guide]",
      about: "Guide to open, such as dev or concepts#objects",
      suggest: ([page]) => (page === "docs" ? guides().map((value) => ({ value, description: "Guide" })) : []),
    },
  ],
  options: [flag("--no-browser", "Print the URL without opening a browser")],
  examples: [
    "service open",
    "service open events --live",
    "service open docs webhooks-library # A page of the docs",
    "service open docs --no-browser # Print the address",
  ],
  run: runOpen,
};

function guides(): string[] {
  return readdirSync(guidePath()).flatMap((file) => /^([a-z-]+)\.md$/.exec(file)?.[1] ?? []);
}

/** Throws UsageError for an unknown guide, or a page that has none. */
function assertGuide(page: Page, guide: string): void {
  const [name = ""] = guide.split("#");
  if (page === "docs" && guides().includes(name)) return;
  const near = nearest(name, guides());
  throw new UsageError(`There is no guide "${name}"`, {
    hint: page === "docs" && near.length > 0 ? didYouMean(near) : `Guides: ${guides().join(", ")}`,
  });
}

async function runOpen(
  context: Context,
  page: Page,
  guide: string | undefined,
  { browser }: { browser: boolean },
): Promise<void> {
  if (guide !== undefined) assertGuide(page, guide);
  const { output, globals, env, settings } = context;
  const target = resolveTarget({ flags: globals, env, settings, project: await context.project() });
  const { baseUrl } = target;
  const [name, anchor = ""] = guide?.split("#") ?? [];
  const path = name === undefined ? PAGES[page](globals.live ? "live" : "sandbox") : `/docs/guides/${name}`;
  const file = guidePath(name && `${name}.md`);
  const url = urlOf(parseBaseUrl(baseUrl.value, globals), path);
  url.hash = anchor;
  if ((page === "docs" || page === "api") && !output.json && (await isDown(url))) {
    output.line(page === "docs" ? file : url.href);
    const what = page === "docs" ? "This is the text" : `No platform listens at ${baseUrl.value}`;
    output.notice(`${what}. ${startHint(target)} to read it${page === "docs" ? ` at ${url.href}` : ""}.`);
    return;
  }
  const reason = browser ? whyNoBrowser(context) : undefined;
  // The URL first, which helps even if no browser opens.
  if (!output.json) output.line(url.href);
  const opened = browser && reason === undefined && (await context.openBrowser(url.href));
  if (output.json) return await output.document({ page, url: url.href, opened });
  if (page === "docs") output.note(`The same as text: ${file}`);
  if (opened) output.note("Opened in your browser.");
  else if (browser)
    output.note(`Could not open a browser${reason === undefined ? "" : ` ${reason}`}. Open the URL yourself.`);
}
