import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { TEST_CERTIFICATE, TEST_KEY } from "./certificate.ts";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The client's port, which identifies the connection. */
  peerPort: number | undefined;
}

export interface Receiver {
  url: URL;
  port: number;
  requests: ReceivedRequest[];
  /** Waits for this many complete requests. */
  received(count: number): Promise<void>;
}

export type Respond = (response: ServerResponse, request: ReceivedRequest, message: IncomingMessage) => void;

const ok: Respond = (response) => response.end("ok");

/** Starts an HTTP receiver that reads each request and then responds as configured. Closed at the end of the test. */
export async function startReceiver(
  respond: Respond = ok,
  host = "127.0.0.1",
  secure = false,
  wantedPort = 0,
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  let waiters: { count: number; resolve: () => void }[] = [];
  const listener: RequestListener = (message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const request: ReceivedRequest = {
        method: message.method!,
        path: message.url!,
        headers: message.headers,
        body: Buffer.concat(chunks),
        peerPort: message.socket.remotePort,
      };
      requests.push(request);
      for (const { count, resolve } of waiters) if (requests.length >= count) resolve();
      waiters = waiters.filter(({ count }) => requests.length < count);
      respond(response, request, message);
    });
  };
  const server = secure
    ? createSecureServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, listener)
    : createServer(listener);
  const port = await listen(server, host, wantedPort);
  return {
    url: new URL(`${secure ? "https" : "http"}://${host === "::1" ? "[::1]" : host}:${port}/hook`),
    port,
    requests,
    async received(count) {
      if (requests.length < count) await new Promise<void>((resolve) => waiters.push({ count, resolve }));
    },
  };
}

/** Starts a receiver that responds to each request with raw bytes, or uses the socket directly. */
export async function startRawReceiver(
  respond: (socket: Socket) => void,
): Promise<{ url: URL; connections(): number }> {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.on("error", () => socket.destroy());
    socket.on("data", (data) => {
      // The body is one JSON object, whose end is the end of the request.
      if (data.toString("latin1").endsWith("}")) respond(socket);
    });
  });
  const port = await listen(server, "127.0.0.1");
  return { url: new URL(`http://127.0.0.1:${port}/hook`), connections: () => connections };
}

/** Starts a TLS receiver that completes the handshake only when told to. */
export async function startHesitantReceiver(): Promise<{
  url: URL;
  requests: string[];
  connected(): Promise<Socket>;
  greet(): void;
}> {
  const requests: string[] = [];
  const secure = createSecureServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (message, response) => {
    requests.push(String(message.headers["service-event-id"]));
    response.end();
  });
  let greeting = false;
  const pending: Socket[] = [];
  const greet = (socket: Socket) => {
    secure.emit("connection", socket);
    socket.resume();
  };
  const server = createTcpServer({ pauseOnConnect: true }, (socket) =>
    greeting ? greet(socket) : pending.push(socket),
  );
  const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const port = await listen(server, "127.0.0.1");
  return {
    url: new URL(`https://127.0.0.1:${port}`),
    requests,
    connected: () => connected,
    greet() {
      greeting = true;
      for (const socket of pending.splice(0)) greet(socket);
    },
  };
}

const BUSY_RECEIVER = `
  const server = require("node:http").createServer((request, reply) => reply.end("busy"));
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => console.log(server.address().port));
`;

/** Starts a receiver on 127.0.0.1 with a full connection queue: it accepts no more until it resumes. */
export async function startBusyReceiver(): Promise<{ port: number; resume(): void }> {
  const child = spawn(process.execPath, ["-e", BUSY_RECEIVER], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  child.kill("SIGSTOP");
  const waiting = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy();
    child.kill("SIGKILL");
  });
  // Linux accepts one more than the backlog; other handshakes get no response.
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, "connect")));
  return { port, resume: () => void child.kill("SIGCONT") };
}

async function listen(server: Server, host: string, wantedPort = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await once(server.listen(wantedPort, host), "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
