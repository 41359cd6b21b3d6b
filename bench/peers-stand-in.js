// Replaces the server of one relay, offline, with as much of its protocol as relaying needs: `service` (from a log, as
// its platform does), `stripe`, `hookdeck` (WebSocket, nothing stored) and `smee` (server-sent events, nothing stored).
// Commands are JSON lines on stdin; results are JSON lines on stdout.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { WebSocketServer } from "ws";

const kind = process.argv[2];
const OBJECTS = 50;
const BYTES = 1024;
const SUBPROTOCOLS = {
  service: "service.listen.v1",
  stripe: "stripecli-devproxy-v1",
  hookdeck: "hookdeckcli-devproxy-v1",
};
const JSON_TYPE = { "content-type": "application/json" };

let created = 0;
let isDown = false;
const log = [];
const connections = new Set();

const report = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function makeEvent() {
  created += 1;
  const object = { id: `ord_${created % OBJECTS}`, object: "order", amount: 100, n: created };
  const start = { id: `evt_${String(created).padStart(22, "0")}`, type: "order.completed", data: { object } };
  const filler = "x".repeat(BYTES - Buffer.byteLength(JSON.stringify({ ...start, filler: "" })));
  return { id: start.id, type: start.type, body: JSON.stringify({ ...start, filler }) };
}

/** The smallest window of the real platform, which makes it larger as the round trip takes: here it takes no time. */
const WINDOW = 256;

/** The protocol of `service listen`: resumes after an ID, respects the window. */
function serveService(socket, request) {
  const query = new URL(request.url, "http://x").searchParams;
  const after = query.get("after") ?? "now";
  const found = log.findIndex(({ id }) => id > after);
  const session = { position: after.startsWith("evt_") && found !== -1 ? found : log.length, sent: 0, open: 0 };
  const window = Math.min(Number(query.get("window") ?? 64), WINDOW);
  const send = () => {
    while (session.open < window && session.position < log.length) {
      const count = Math.min(window - session.open, 64);
      const events = log.slice(session.position, session.position + count).map(({ id, type, body }) => {
        session.sent += 1;
        return { seq: session.sent, id, type, body };
      });
      session.position += events.length;
      session.open += events.length;
      socket.send(JSON.stringify({ frame: "events", events }));
    }
  };
  socket.on("message", (data) => {
    session.open -= JSON.parse(data.toString()).acks.length;
    send();
  });
  const cursor = log[session.position - 1]?.id ?? "evt_0000000000000000000000";
  const about = { account: "acct_1", environment: "sandbox", subscriptions: ["*"], others: 0 };
  socket.send(JSON.stringify({ frame: "ready", session: "lsn_1", secret: "whsec_bench", cursor, ...about }));
  send();
  return send;
}

function stripeMessage({ id, body }) {
  return JSON.stringify({
    type: "webhook_event",
    event_payload: body,
    http_headers: { "Content-Type": "application/json", "Stripe-Signature": "t=1,v1=0" },
    endpoint: { api_version: null },
    webhook_id: `wh_${id}`,
    webhook_conversation_id: `wc_${id}`,
  });
}

function hookdeckMessage({ id, body }) {
  const request = { method: "POST", timeout: 10_000, data_string: body, headers: JSON_TYPE };
  return JSON.stringify({
    event: "attempt",
    body: { cli_path: "/", event_id: id, attempt_id: `atm_${id}`, webhook_id: "web_1", request },
  });
}

const smeeMessage = ({ id, body }) =>
  `id: ${id}\ndata: ${JSON.stringify({ ...JSON_TYPE, body: JSON.parse(body) })}\n\n`;

const SOURCE = { id: "src_1", name: "bench", url: "http://127.0.0.1/e", type: "WEBHOOK" };
const TARGET = { id: "des_1", name: "cli", type: "CLI", config: { path: "/" } };
const page = (model) => ({ models: [model], count: 1, pagination: {} });
const team = { team_id: "t", team_name_no_org: "t", team_mode: "console", client_id: "c" };

/** HTTP requests that the clients send before they open a connection. */
const RESPONSES = [
  ["/v1/stripecli/sessions", (base) => stripeSession(base)],
  [
    "/cli-auth/validate",
    () => ({ user_id: "u", user_name: "n", organization_name: "o", organization_id: "o", ...team }),
  ],
  ["/cli-sessions", () => ({ id: "cs_1" })],
  ["/sources", () => page(SOURCE)],
  [
    "/connections",
    () => page({ id: "web_1", name: "cli", full_name: "bench", source: SOURCE, destination: TARGET, rules: [] }),
  ],
];

function stripeSession(base) {
  return {
    websocket_id: "ws_1",
    websocket_url: `${base.replace("http", "ws")}/subscribe`,
    websocket_authorized_feature: "webhooks",
    secret: "whsec_bench",
    reconnect_delay: 3600,
    default_version: "2024-06-20",
    latest_version: "2024-06-20",
  };
}

const server = createServer((request, response) => {
  request.resume();
  if (isDown) return request.socket.destroy();
  if (kind === "smee") return serveEventStream(response);
  const reply = RESPONSES.find(([path]) => request.url.includes(path))?.[1];
  response.writeHead(reply === undefined ? 404 : 200, JSON_TYPE);
  response.end(JSON.stringify(reply?.(`http://127.0.0.1:${server.address().port}`) ?? {}));
});

function serveEventStream(response) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.write("event: ready\ndata: {}\n\n");
  add({ send: (event) => response.write(smeeMessage(event)), cut: () => response.destroy() }, response);
}

const sockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  handleProtocols: () => SUBPROTOCOLS[kind],
});
const toMessage = { stripe: stripeMessage, hookdeck: hookdeckMessage }[kind];
server.on("upgrade", (request, stream, head) => {
  if (isDown) return stream.destroy();
  sockets.handleUpgrade(request, stream, head, (socket) => {
    socket.on("error", () => socket.terminate());
    const pump = kind === "service" ? serveService(socket, request) : undefined;
    const send = (event) => (pump === undefined ? socket.send(toMessage(event)) : pump());
    add({ send, cut: () => socket.terminate() }, socket);
  });
});

function add(connection, emitter) {
  connections.add(connection);
  emitter.once("close", () => connections.delete(connection));
  report({ connected: true });
}

server.listen(0, "127.0.0.1", () => report({ url: `http://127.0.0.1:${server.address().port}` }));

createInterface(process.stdin).on("line", (line) => {
  const order = JSON.parse(line);
  if (order.down !== undefined) {
    isDown = order.down;
    if (isDown) for (const { cut } of connections) cut();
    return;
  }
  const at = Number(process.hrtime.bigint() / 1000n);
  for (let i = 0; i < order.emit; i++) {
    const event = makeEvent();
    if (kind === "service") log.push(event);
    for (const { send } of connections) send(event);
  }
  report({ emitted: created, at });
});
