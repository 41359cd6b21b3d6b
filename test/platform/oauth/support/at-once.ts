import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { JsonResponse } from "./authorization-server.ts";

/**
 * Posts the same form several times concurrently, over connections that the server has already used: all requests have
 * arrived when it reads the first one.
 */
export function postAtOnce(url: string, fields: Record<string, string>, times: number): Promise<JsonResponse[]> {
  const { host, pathname } = new URL(url);
  const body = new URLSearchParams(fields).toString();
  const post =
    `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
    `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
  return sendAtOnce(url, post, times);
}

/** Sends the same GET request several times concurrently. */
export function getAtOnce(url: string, times: number): Promise<JsonResponse[]> {
  const { host, pathname, search } = new URL(url);
  return sendAtOnce(url, `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, times);
}

async function sendAtOnce(url: string, request: string, times: number): Promise<JsonResponse[]> {
  const sockets = await Promise.all(Array.from({ length: times }, () => openUsed(url)));
  const responses = sockets.map(readResponse);
  for (const socket of sockets) socket.write(request);
  return Promise.all(responses);
}

async function openUsed(url: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  await once(socket, "connect");
  socket.write(`HEAD / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await once(socket, "data");
  return socket;
}

async function readResponse(socket: Socket): Promise<JsonResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const body = text.slice(text.indexOf("\r\n\r\n"));
  const isJson = /^content-type: application\/json/im.test(text);
  return {
    status: Number(text.slice(9, 12)),
    headers: new Headers(),
    body: isJson ? JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1)) : undefined,
  };
}
