/** Calls a platform's API like any HTTP client. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses of every shape
  body: any;
}

export type Api = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiResponse>;

/**
 * Returns a function that calls the API with a key. Strings and buffers are sent as they are, anything else as JSON.
 */
export function apiOf(baseUrl: string, key: string | undefined): Api {
  return async (method, path, body, headers = {}) => {
    const raw = typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
}
