import type http from "node:http";
import { createRequire } from "node:module";
import type { NextFunction } from "../../src/webhooks/index.ts";

/** Express has no types. These are the parts that the tests use, modeled on its published types. */
interface Request extends http.IncomingMessage {
  body: unknown;
  rawBody?: Buffer;
  params: Record<string, string>;
  query: Record<string, unknown>;
}
interface Response extends http.ServerResponse {
  status(code: number): this;
  json(body: unknown): this;
  sendStatus(code: number): this;
  send(body?: unknown): this;
}
type Handler = (request: Request, response: Response, next: NextFunction) => unknown;
type ErrorHandler = (error: unknown, request: Request, response: Response, next: NextFunction) => unknown;

export interface App extends http.RequestListener {
  use(handler: Handler | ErrorHandler): App;
  post(path: string, ...handlers: Handler[]): App;
}

interface Express {
  (): App;
  json(options?: { verify?: (request: Request, response: Response, bytes: Buffer) => void }): Handler;
  raw(options: { type: string }): Handler;
  text(options: { type: string }): Handler;
}

export const express = createRequire(import.meta.url)("express") as Express;
