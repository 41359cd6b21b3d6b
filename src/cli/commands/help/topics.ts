/** Texts of `service help <topic>`. */
export const TOPICS: Readonly<Record<string, string>> = {
  environment: `
Settings come from the first of these that has them: a flag, an environment variable, the profile, the default.
\`service whoami\` shows where each one came from.

SERVICE_API_KEY          API key to sign in with, instead of the profile's
SERVICE_BASE_URL         Address of the platform's API (default: http://127.0.0.1:4010)
SERVICE_AUTH_URL         Address of its OAuth server (default: the base URL)
SERVICE_PROFILE          Profile to use (default: the current one)
SERVICE_CONFIG_DIR       Folder of settings and credentials (default: $XDG_CONFIG_HOME/service or ~/.config/service)
SERVICE_DATABASE         Database of \`service serve\`: an SQLite file or a PostgreSQL URL (default: a file in the data folder)
SERVICE_MASTER_KEY       What \`service serve\` seals stored secrets with (default: a file beside the database)
SERVICE_WEBHOOK_SECRET   Signing secret for \`service webhooks sign\`, \`verify\` and \`check\`
SERVICE_NO_INPUT         When set, never ask; same as --no-input
SERVICE_NO_UPDATE_NOTIFIER
                         When set, never say that there is a newer version; same as \`config set update_notices false\`
SERVICE_REGISTRY_URL     Package registry to ask for it, once a day (default: https://registry.npmjs.org)
CI                       When set, no moving parts, no browser, no word of newer versions
SERVICE_DEBUG            When set, show requests and stack traces; same as --debug
HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                         Proxy for hosts other than this machine
NODE_EXTRA_CA_CERTS      File with certificate authorities to trust besides the usual ones
NO_COLOR                 When set, no colour; wins over FORCE_COLOR
FORCE_COLOR              Colour even in a pipe; 0 for none
TERM=dumb                No colour, no moving parts

Credentials are kept in config.json of the settings folder, readable by you alone. A stored key is sent to the address
that it was stored with and to no other.
`,
  "exit-codes": `
0    Success
1    Failure: the platform returned an error, or something else failed
2    Usage error: a wrong flag, argument or combination
3    Not found (404)
4    Not signed in (401)
5    Forbidden (403)
6    Rate limited, after retries (429)
7    Cannot reach the platform
129  The terminal was closed
130  Interrupted by Ctrl-C
143  Terminated

Commands that stream until you stop them (listen, events tail, logs tail, demo) exit 0 after Ctrl-C.

An error says on stderr what failed, why, what to do next, and the request id. With --json it is the problem document
of the API (RFC 9457) on one line of stderr; errors of the program itself have the same form.
`,
  formatting: `
stdout carries data, stderr everything else.

On a terminal       Tables and aligned details, in colour
In a pipe           Lists: one line an item, values separated by tabs, no header
                    Objects: one line a detail, name and value separated by a tab
--json              One JSON document: the API's own object, or an array of them for a list;
                    commands that go on print one object a line
--fields a,b        Only these fields, in JSON and in tables; dots reach inside: metadata.plan
--jq EXPRESSION     Filters the JSON, without jq being installed; strings come out raw
-q, --quiet         Ids only, and no notes
-n, --dry-run       What would be sent, of commands that change something: method, URL and body; nothing is

  service customers list --json --jq '.[] | select(.metadata.plan == "pro") | .email'
  id=$(service orders create --amount 1999 --currency EUR --quiet)
`,
  webhooks: `
The platform POSTs each event to every endpoint that subscribes to its type, and signs it:

  Service-Signature: t=<Unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>" under the signing secret>

A receiver
  1. reads the raw body, before any JSON parser,
  2. refuses it where no v1 matches (compared in constant time) or t is more than 300 s off,
  3. stores the event's id, and drops one that it has seen,
  4. answers 2xx within 10 seconds, and works afterwards.

Anything but 2xx is tried again: after 30 s, then twice as long each time, up to 6 h apart, for three days. During a
rotation the header has two v1 values, and either secret verifies.

  import { verify } from "service-cli/webhooks";
  const event = verify({ payload: rawBody, header: request.headers["service-signature"], secrets });

To try it without deploying anything:
  service serve                                   the platform on this machine
  service listen --forward-to localhost:3000      its events to your app
  service trigger order.completed                 make one happen
  service webhooks verify --header … --payload …  say which rule a delivery breaks
  service webhooks check localhost:3000           say what a receiver gets wrong
`,
};
