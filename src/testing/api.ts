import { Agent, type IncomingMessage, request as httpRequest } from "node:http";

/** A response of any shape: name the type of one with `request<Order>(…)`. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into responses of every shape
export type Body = Record<string, any>;

/** An error response of the API (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors?: { pointer: string; code: string; detail: string }[];
}

/** An error response. */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  readonly status: number;
  /** Stable, such as `not_found`. */
  readonly code: string;
  readonly requestId: string;
  readonly problem: Problem;

  constructor(what: string, problem: Problem) {
    super(`${what} failed with ${problem.status} ${problem.code}: ${problem.detail}`);
    this.status = problem.status;
    this.code = problem.code;
    this.requestId = problem.request_id;
    this.problem = problem;
  }
}

/** Sends requests with one key. Not with `fetch`, which tests replace and which some of their environments lack. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #authorization: string;
  /** Its idle connections do not keep the process running. */
  readonly #agent = new Agent({ keepAlive: true });

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#authorization = `Bearer ${key}`;
  }

  /** Sends one request. Rejects with PlatformError for an error response. */
  async request<Result = Body>(method: string, path: string, body?: object): Promise<Result> {
    const response = await this.open(method, path, body);
    const json = await bodyOf(response);
    if (response.statusCode! < 400) return json as Result;
    throw new PlatformError(`${method} ${path}`, json as Problem);
  }

  /** Sends a request. Resolves with its response, whose body is still to be read. */
  open(method: string, path: string, body?: object): Promise<IncomingMessage> {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const type = content === undefined ? {} : { "Content-Type": "application/json" };
    const headers = { Authorization: this.#authorization, ...type };
    return new Promise((resolve, reject) => {
      const request = httpRequest(this.#baseUrl + path, { method, headers, agent: this.#agent });
      request.once("response", resolve).once("error", reject).end(content);
    });
  }
}

export async function bodyOf(response: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk as string;
  return JSON.parse(text);
}
