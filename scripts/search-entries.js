// What the search of the documentation finds: the sections of its pages, and what the API has.
import { STATUS_CODES } from "node:http";

const MAX_WORDS = 6000;
/** Words that readers search for, and that the section itself does not have or stress. */
const ALIASES = {
  "quick-start.html#install": "node version 18 20 22 requirements setup download",
  "quick-start.html#quick-start": "getting started first steps begin",
  "testing-receivers.html#test-a-webhook-receiver": "test my webhook handler",
  "testing-receivers.html#grades": "grade score",
  "testing-receivers.html#github-actions": "gitlab ci circleci jenkins pipeline continuous integration",
  "concepts.html#deliveries": "dead letter queue dlq failed",
  "concepts.html#retry-schedule": "webhooks retried webhook backoff redelivery policy",
  "concepts.html#bulk-operations": "batch retry resend all failed deliveries events",
  "concepts.html#objects": "refund invoice subscription product price cents minor unit lowercase",
  "concepts.html#replays": "resend webhook redeliver again",
  "listen.html#forward-events-to-localhost": "ngrok tunnel expose cloudflared localtunnel smee public url",
  "listen.html#keys": "keyboard shortcuts hotkeys",
  "listen.html#when-your-app-fails-or-is-down": "offline laptop sleep catch up missed",
  "listen.html#local-https": "self-signed mkcert ssl tls certificate",
  "listen.html#docker-and-wsl": "wsl windows subsystem linux container host.docker.internal",
  "dashboard.html#the-dashboard-and-the-team": "dashboard",
  "dashboard.html#invite-your-team": "add member colleague teammate",
  "dashboard.html#roles": "owner member admin permissions",
  "concepts.html#the-test-clock": "travel fast forward simulate time freeze",
  "concepts.html#events-without-webhooks": "sse server-sent websocket polling subscribe",
  "go-live.html#go-live": "go production staging test mode",
  "concepts.html#retention": "data expiration",
  "receiving-webhooks.html#receiving-webhooks": "webhook get started",
  "dev.html#local-development": "test webhooks locally",
  "dev.html#the-port": "change port number",
  "dev.html#update-the-package": "upgrade install new version npm",
  "receiving-webhooks.html#a-first-receiver": "handler route consumer listener",
  "receiving-webhooks.html#verify-signatures":
    "php ruby rails laravel kotlin csharp c# .net dotnet rust elixir algorithm hmac",
  "receiving-webhooks.html#fetch-handlers-as-in-nextjs": "webhook route handler app router",
  "receiving-webhooks.html#deliveries": "out of order ordering delay",
  "frameworks.html#python": "flask django fastapi wsgi asgi",
  "frameworks.html#go": "golang",
  "frameworks.html#java": "spring boot",
  "testing.html#run-a-platform-in-your-tests": "playwright mock server stub fake unit integration",
  "test-states.html#reset-and-restore-the-sandbox": "cypress e2e snapshot rollback cleanup",
  "clients.html#generate-a-client": "javascript typescript python sdk library swagger postman insomnia openapi",
  "using-the-api.html#idempotency": "idempotency key duplicate request double charge",
  "using-the-api.html#pagination": "cursor next page list all export csv",
  "using-the-api.html#error-handling": "exception problem details",
  "authentication.html#api-keys": "get token bearer secret personal access",
  "authentication.html#scopes": "permissions roles",
  "authentication.html#environment-variables": "env dotenv configuration",
  "authentication.html#signing-in": "login log in account register signup",
  "sign-in-with-service.html#sign-in-with-service": "oauth sso oidc openid social third-party",
  "deploying.html#behind-a-proxy": "custom domain hostname https tls ssl certificate",
  "deploying.html#deploying-the-platform": "self-host hosting heroku fly railway vercel aws",
  "deploying.html#shutdown-and-upgrades-without-downtime": "upgrade update new version",
  "deploying.html#containers": "compose image",
  "deploying.html#limits": "quota maximum size",
  "backup.html#backup-and-restore": "export import dump",
  "monitoring.html#metrics": "prometheus grafana alerts health",
  "security.html#logs": "pii gdpr redact",
  "mcp.html#mcp": "ai agent claude cursor llm",
  "troubleshooting.html#cannot-reach-the-platform-exit-code-7":
    "econnreset enotfound etimedout offline connection refused network",
  "errors.html#invalid_credential": "wrong invalid api key token",
  "troubleshooting.html#not-signed-in-exit-code-4": "401 unauthorized",
  "troubleshooting.html#forbidden-exit-code-5": "403",
  "troubleshooting.html#rate-limited-exit-code-6": "throttled too many requests",
  "troubleshooting.html#the-port-is-in-use": "eaddrinuse address already",
  "troubleshooting.html#listen-connects-but-no-events-arrive": "webhook received missing lost",
  "troubleshooting.html#an-endpoint-gets-no-deliveries": "webhook received arrive missing lost sent",
  "troubleshooting.html#an-event-was-processed-twice-duplicate-deliveries": "webhook sent twice",
  "troubleshooting.html#the-database-is-in-use-by-another-process": "database is locked busy",
  "troubleshooting.html#the-signature-does-not-match": "invalid verification failed wrong",
  "/docs/reference#events": "event types list",
  "/docs/reference#rate-limits": "throttling quota",
  "/docs/reference#pagination": "paging next page offset",
  "commands-webhooks.html#service-webhooks-capture": "webhook.site request bin requestbin inspect",
  "commands-events.html#service-events-replay": "resend redeliver send again",
  "commands-deliveries.html#service-deliveries-retry": "resend redeliver send again failed",
  "clients.html#other-generators": "python php ruby java go client sdk",
  "using-the-api.html#the-first-request": "curl http request example",
  "commands-trigger.html#service-trigger": "simulate fake emit fire sample",
  "commands-sandbox.html#service-sandbox-reset": "database wipe clear empty delete all data",
  "commands-keys.html#service-keys-create": "ip whitelist allowlist generate new",
  "commands-keys.html#service-keys-scan": "leaked secret detection pre-commit",
  "commands-logs.html#service-logs-tail": "debug follow stream requests",
  "commands-completion.html#service-completion": "autocomplete tab bash zsh fish powershell",
};
/** Searches for which a section comes first. */
const SEARCHES = {
  "concepts.html#objects": "amount, amounts, currency",
  "concepts.html#event-types":
    "what events are there, which events are there, which events exist, list of events, all events, webhook events",
  "concepts.html#replays":
    "replay, replay an event, replay events, replay webhook, resend, resend event, resend events",
  "commands-events.html#service-events-replay": "resend event, resend events, resend an event",
  "listen.html#forward-events-to-localhost": "localhost, listen live events, listen events, live events",
  "listen.html#the-signing-secret":
    "secret, webhook secret, signing secret, webhook signing secret, where is the signing secret, whsec",
  "listen.html#which-events-and-where-they-go":
    "multiple endpoints, multiple targets, several apps, filter events, event ordering, event order, order events",
  "listen.html#local-https": "local https, localhost https, certificate error, ssl error, tls error",
  "dashboard.html#the-dashboard-and-the-team": "dashboard, web ui, user interface, team, users",
  "dashboard.html#the-first-sign-in":
    "dashboard login, dashboard password, forgot password, reset password, change password",
  "dashboard.html#invite-your-team": "invite, invitation, invite a user, add a user, add user",
  "dashboard.html#roles": "roles, remove a user",
  "dashboard.html#sessions-and-apps": "sign out everywhere, log out everywhere",
  "dev.html#the-port": "which port, what port",
  "dev.html#update-the-package": "update, update the cli, update package, update service, how do i update",
  "authentication.html#signing-in": "sign in, sign-in, log in, logging in, device code",
  "deploying.html#shutdown-and-upgrades-without-downtime": "stop the server, stop the platform",
  "deploying.html#containers": "docker, dockerfile",
  "commands-trigger.html#service-trigger":
    "send test event, send a test event, test event, send an event, create an event",
  "providers.html#test-webhooks-of-stripe-github-and-others":
    "stripe webhook, stripe webhooks, stripe, github, shopify, slack",
  "/docs/reference#events": "payload, webhook payload, event payload, payload event, how do i see the webhook payload",
  "deploying.html#limits": "max payload size, body size, payload size, limits",
  "proxies.html#reverse-proxies": "proxy, reverse proxy",
  "using-the-api.html#versions": "api version, versions, version header",
  "tutorial.html#uninstall": "where is data stored, data folder, where is the database",
  "quick-start.html#install": "node.js, nodejs, node, node version",
  "concepts.html#deliveries": "webhook timeout, how long is the timeout, what is a delivery",
  "sign-in-with-service.html#sign-in-with-service": "oauth, pkce, oauth 2.0",
  "receiving-webhooks.html#deliveries": "order events, order of events",
  "concepts.html#bulk-operations": "retry failed, retry all failed deliveries, resend all failed deliveries",
  "clients.html#other-generators": "python client, python sdk, php client, java client, go client, ruby client",
  "receiving-webhooks.html#receiving-webhooks": "webhook, webhooks, receive webhooks, receiver",
  "commands-endpoints.html#service-endpoints-create":
    "custom headers, create endpoint, create an endpoint, add endpoint, create webhook",
  "concepts.html#retry-schedule": "retry, retries, retry policy",
  "commands-deliveries.html#service-deliveries-retry":
    "retry a delivery, retry delivery, retry failed, retry failed deliveries",
  "commands-listen.html#service-listen": "--since, --forward-to",
  "commands-keys.html#service-keys-revoke": "revoke key, revoke api key",
  "commands-endpoints.html#service-endpoints-disable": "disable endpoint, disable an endpoint, pause endpoint",
  "authentication.html#api-keys": "api key, api keys, keys",
};
/** A paragraph that explains a term. */
export const TERM = /^\*\*(.+?)\*\*: ([^]+)$/;
/** Pages that mention everything, but explain nothing. */
const UNSEARCHED = new Set(["index", "changelog", "glossary"]);

/** Returns an entry for each section, operation, event type and error code. `operations` has the address of each by its route. */
export function searchEntries(
  pages,
  operations,
  { OPERATIONS, ERRORS, RESOURCES, EVENT_TYPES, kindOfPath, nounOf, introduction },
) {
  const entries = [
    ...sectionsOf(introduction("", "")).map(({ id, heading, words }) => ({
      title: heading,
      page: "API",
      url: `/docs/reference#${id}`,
      words,
    })),
    ...OPERATIONS.map(({ summary, details = "", method, path }) => {
      const route = `${method} ${path}`;
      const { labels } = RESOURCES[kindOfPath(path)];
      return {
        title: summary,
        page: `API: ${labels}`,
        url: operations.get(route),
        words: `${plain(details)} ${route}`,
        ...(summary.startsWith("Retrieve ") && { aliases: "get" }),
      };
    }),
    ...objectsOf(OPERATIONS, RESOURCES).map(([kind, attributes]) => ({
      title: `The ${nounOf(kind)} object`,
      page: "API",
      url: `/docs/reference/${referenceName(RESOURCES[kind].labels)}.html#the-${referenceName(nounOf(kind))}-object`,
      words: Object.keys(attributes).join(", "),
      searches: [`${kind}_id`, ...["id", "fields", "attributes"].map((word) => `${nounOf(kind)} ${word}`)],
    })),
    ...EVENT_TYPES.map((type) => {
      const name = type.replaceAll(/(?:^|[._])([a-z])/g, (_match, letter) => letter.toUpperCase());
      const url = `/docs/reference/webhooks-${referenceName(type.split(".", 1)[0])}.html#on${name}`;
      return { title: type, page: "API: Webhooks", url, words: "Event type" };
    }),
  ];
  for (const page of pages) {
    if (page.file === "glossary.md") entries.push(...termsOf(page.text));
    for (const { id, heading, words } of UNSEARCHED.has(page.name) ? [] : sectionsOf(page.text)) {
      // A heading that only has others below it says nothing, and one of further pages is not about them.
      if (words.trim() === "" || heading === "Next") continue;
      const { status } = page.file === "errors.md" && Object.hasOwn(ERRORS, heading) ? ERRORS[heading] : {};
      const place = status === undefined ? page.title : `${page.title}: ${status} ${STATUS_CODES[status]}`;
      const isCommand = page.name.startsWith("commands-");
      entries.push({
        title: isCommand ? commandName(heading) : heading,
        page: isCommand ? "Command" : place,
        url: `${page.name}.html#${id}`,
        words,
      });
    }
    if (page.file === "errors.md") entries.push(...rowsOf(page.text, page.title, ERRORS));
  }
  const entryAt = (url) => {
    const entry = entries.find((one) => one.url === url);
    if (entry === undefined) throw new Error(`scripts/search-entries.js: no section has the address ${url}`);
    return entry;
  };
  for (const [url, aliases] of Object.entries(ALIASES)) entryAt(url).aliases = aliases;
  for (const [url, searches] of Object.entries(SEARCHES)) entryAt(url).searches = searches.split(", ");
  // Readers type `nextjs` for Next.js, and `order_created` for order.created.
  for (const entry of entries) {
    const name = /[a-z]+(?:[._][a-z]+)*\.[a-z_]+/.exec(entry.title.toLowerCase())?.[0];
    if (name === undefined) continue;
    const joined = name.replaceAll(".", "");
    entry.searches = [...(entry.searches ?? []), joined, name.replaceAll(".", "_")];
    if (name.endsWith(".js")) entry.aliases = `${entry.aliases ?? ""} ${joined}`.trim();
  }
  return entries;
}

/** Returns the kinds of objects that operations return, with their attributes. */
function objectsOf(operations, resources) {
  const objects = operations
    .map(({ response: { properties } }) => [properties.object?.const, properties])
    .filter(([kind, { deleted }]) => Object.hasOwn(resources, kind ?? "") && deleted === undefined);
  return [...new Map(objects)];
}

/** Returns the headings of a page with the words of their sections. */
export function sectionsOf(text) {
  const sections = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      isCode = !isCode;
      // Code belongs to no sentence.
      if (sections.length > 0) sections.at(-1).words += "· ";
    }
    const heading = isCode ? undefined : /^#+ (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ id: idOf(heading), heading: plain(heading), words: "" });
    // The name of another page is what that page is about.
    else if (sections.length > 0 && !/^(```|- Guide: )/.test(line))
      sections.at(-1).words += `${plain(line.replaceAll("`service ", "`npx service-cli "))} `;
  }
  return sections.map(({ words, ...section }) => ({
    ...section,
    words: words
      .replaceAll(/\s+/g, " ")
      .replaceAll(/(?:· )+/g, "· ")
      .replaceAll(/^· | · $/g, "")
      .slice(0, MAX_WORDS),
  }));
}

/** Returns the codes that have a row instead of a heading: those of deliveries and signatures. */
function rowsOf(text, page, errors) {
  return [...text.matchAll(/^\| `(\w+)` +\|(.*)\|$/gm)]
    .filter(([, code]) => !Object.hasOwn(errors, code))
    .map(([, code, cells]) => ({
      title: code,
      page,
      url: `errors.html#${code}`,
      words: plain(cells).replaceAll(/\s+/g, " "),
    }));
}

/** Returns the terms of the glossary. */
function termsOf(text) {
  const terms = text.split("\n\n").map((paragraph) => TERM.exec(paragraph));
  return terms.filter(Boolean).map(([, term, definition]) => ({
    title: term,
    page: "Glossary",
    url: `glossary.html#${idOf(term)}`,
    words: plain(definition).replaceAll(/\s+/g, " "),
    searches: ["a ", "an ", ""].map((article) => `what is ${article}${term.toLowerCase()}`),
  }));
}

/** Returns a group's name in the addresses of the API reference. */
export function referenceName(name) {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}

/** A command is called by its name; what can be typed begins with `npx service-cli`. */
export function commandName(heading) {
  return heading.replace(/^service /, "");
}

/** Returns an anchor as GitHub makes it. */
export function idOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
    .replaceAll(" ", "-");
}

export function plain(text) {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*\*([^*]+)\*\*|(?<!\w)_([^_]+)_(?!\w)/g, "$1$2")
    .replaceAll(/`|(?<!\\)\||-{3,}/g, "")
    .replaceAll(/\\([*|])/g, "$1")
    .replace(/^- /, "")
    .replaceAll("&lt;", "<")
    .trim();
}
