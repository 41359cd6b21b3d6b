/** What docs/commands.md shows of the output of commands, in the order in which test/docs/command-outputs.test.ts runs them. */

export interface Sample {
  /** `{ord}` stands for the ID of this kind that was printed last, and the first of several. */
  command: string;
  /** Commands that run before it, and are not shown. */
  before?: readonly string[];
  /** What runs in another terminal while the command waits. Ctrl-C ends the command once it has printed `until`. */
  meanwhile?: string;
  until?: string;
}

/** What a sample printed, with its IDs. `NEW_OUTPUTS=1` records all of them in command-outputs.json, by the command's path. */
export interface Output {
  command: string;
  meanwhile?: string;
  prints: string;
}

const ORDER = "service orders create --amount 1999 --currency EUR";
const PAYMENT = "service payments create --amount 1999 --currency EUR";
const SIGN = "service webhooks sign --payload event.json";
const DATABASE = "--database ./platform.db";
const RECORDING = "recording.ndjson";

/** They run on an empty platform. The receiver at example.com responds to the first attempt of order.completed with 500. */
export const SAMPLES: readonly Sample[] = [
  { command: "service demo --once" },
  { command: "service customers create --email grace@example.com --name 'Grace Hopper'" },
  { command: "service customers get {cus}" },
  { command: "service customers update {cus} --name 'Grace Brewster Hopper'" },
  { command: "service customers list" },
  { command: ORDER },
  { command: "service orders complete {ord}" },
  { command: "service orders get {ord}" },
  { command: "service orders cancel {ord}", before: [ORDER] },
  { command: "service orders list" },
  { command: PAYMENT },
  { command: "service payments fail {pay} --failure-code insufficient_funds" },
  { command: "service payments get {pay}" },
  { command: "service payments succeed {pay}", before: [PAYMENT] },
  { command: "service payments list --status failed" },
  { command: "service endpoints create --url https://example.com/webhooks --events 'order.*'" },
  { command: "service endpoints get {we}" },
  { command: "service endpoints list" },
  { command: "service endpoints ping {we}" },
  { command: "service trigger order.completed" },
  { command: "service deliveries list" },
  { command: "service deliveries get {dlv}" },
  { command: "service why {evt}" },
  { command: "service logs list --limit 3" },
  { command: "service logs get {req}" },
  { command: "service deliveries retry {dlv}" },
  {
    command: "service deliveries cancel {dlv}",
    before: ["service trigger order.completed", "service deliveries list --status pending"],
  },
  { command: "service expect order.completed -- service trigger order.completed" },
  { command: "service events list --type order.completed" },
  { command: "service events get {evt}" },
  { command: "service events replay {evt}" },
  { command: "service endpoints update {we} --description 'Order service'" },
  { command: "service endpoints rotate-secret {we}" },
  { command: "service endpoints disable {we}" },
  { command: "service endpoints enable {we}" },
  {
    command: `service listen --forward-to localhost:3000/webhooks --no-ui --record ${RECORDING}`,
    meanwhile: ORDER,
    until: "← 204",
  },
  { command: `service listen replay ${RECORDING} --forward-to localhost:3000/webhooks` },
  { command: "service events tail", meanwhile: ORDER, until: "order.created" },
  { command: "service webhooks check localhost:3000/webhooks" },
  { command: "service webhooks send localhost:3000/webhooks" },
  { command: SIGN },
  { command: "service webhooks verify --header {signature} --payload event.json" },
  {
    command:
      "service webhooks capture --forward-to localhost:3000/webhooks --port 4020 --no-ui --record webhooks.ndjson",
    meanwhile: "service webhooks send localhost:4020",
    until: "← 204",
  },
  { command: "service webhooks replay webhooks.ndjson --forward-to localhost:3000/webhooks" },
  { command: "service logs tail", meanwhile: ORDER, until: "POST" },
  { command: "service clock show" },
  { command: "service clock advance 3d" },
  { command: "service sandbox save two-customers" },
  { command: "service sandbox list" },
  { command: "service sandbox restore two-customers --yes" },
  { command: "service sandbox delete two-customers" },
  { command: "service sandbox reset --yes" },
  { command: "service faults add 'POST /v1/orders*' --status 503 --times 5" },
  { command: "service faults list" },
  { command: "service faults remove {flt}" },
  { command: "service faults clear", before: ["service faults add 'GET /v1/orders' --status 500"] },
  { command: `service faults check --seed 1 -- ${ORDER}` },
  { command: "service whoami" },
  { command: "service status" },
  { command: "service login --profile shop --api-key-stdin < key.txt" },
  { command: "service profiles list" },
  { command: "service profiles use shop" },
  { command: "service logout --profile shop" },
  { command: "service profiles delete shop" },
  { command: "service keys create --name reports --scope customers:read,orders:read --expires-in 90d" },
  { command: "service keys get {key}" },
  { command: "service keys update {key} --name 'Monthly reports'" },
  { command: "service keys list" },
  { command: "service keys rotate {key}" },
  { command: "service keys revoke {key} --yes", before: ["service keys list"] },
  { command: "service keys scan src" },
  {
    command: "service apps create --name Reports --redirect-uri https://reports.example.com/oauth/callback",
  },
  { command: "service apps get {app}" },
  { command: "service apps update {app} --name 'Monthly reports'" },
  { command: "service apps list" },
  { command: "service apps rotate-secret {app}" },
  { command: "service apps delete {app} --yes" },
  { command: "service customers delete {cus}", before: ["service customers create --email ada@example.com"] },
  { command: "service endpoints delete {we} --yes", before: ["service endpoints list"] },
  { command: "service config set base_url https://api.example.com" },
  { command: "service config get base_url" },
  { command: "service config list" },
  { command: "service config unset base_url" },
  { command: "service config path" },
  { command: "service db migrate " + DATABASE },
  { command: "service db status " + DATABASE },
  { command: `service db backup ${DATABASE} ./backup.db` },
  { command: `service db check ${DATABASE}` },
  { command: `service db restore ${DATABASE} ./backup.db --yes` },
  { command: 'service dev init --yes --forward-to localhost:3000 --run "node receiver.mjs"' },
  { command: "service api GET /v1/versions" },
];

/** Returns the path of a command, such as `service orders create`. */
export function pathOfSample({ command }: Sample): string {
  const [program, name, verb = ""] = command.split(" ");
  const isVerb = /^[a-z-]+$/.test(verb) && !["expect", "trigger", "api"].includes(name!) && !verb.startsWith("-");
  return [program, name, ...(isVerb ? [verb] : [])].join(" ");
}
