import { newIdempotencyKey } from "../api/idempotency-key.ts";

/** "Try it": sends an operation's request from the page. The key exists only in the memory of this page. */

interface Document {
  paths: Record<string, Record<string, OperationObject>>;
  components: { parameters: Record<string, ParameterObject> };
}

interface OperationObject {
  operationId: string;
  parameters?: readonly (ParameterObject | { $ref: string })[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

interface ParameterObject {
  name: string;
  in: string;
  description?: string;
  schema: { examples?: readonly string[]; enum?: readonly unknown[] };
}

let key = "";
let loaded: Promise<Document> | undefined;

const NO_KEY =
  "Enter a sandbox key. “npx service-cli serve” prints one at its first start. You can create more in the dashboard.";
const UNREACHABLE = "The platform could not be reached. Is it still running?";

/** Opens the form of the operation that a button belongs to, or closes it. */
export async function openTry(button: HTMLButtonElement): Promise<void> {
  const panel = button.closest(".panel")!;
  const open = panel.querySelector("form");
  show(button, open === null);
  if (open !== null) return open.remove();
  panel.querySelector("div.try")?.remove();
  // A click while the description loads closes it again.
  const place = element("form", { className: "try" });
  panel.append(place);
  try {
    const form = formOf(button, await (loaded ??= readDocument()));
    place.replaceWith(form);
    if (form.isConnected) form.querySelector("input")!.focus();
  } catch {
    loaded = undefined;
    if (!place.isConnected) return;
    show(button, false);
    const message = element("div", { className: "try" });
    const result = element("div", { className: "result" });
    result.setAttribute("role", "alert");
    result.append(element("p", { className: "problem", textContent: UNREACHABLE }));
    message.append(result);
    place.replaceWith(message);
  }
}

function show(button: HTMLButtonElement, isOpen: boolean): void {
  button.textContent = isOpen ? "Close" : "Try it";
  button.setAttribute("aria-expanded", String(isOpen));
}

/** What marks a request of the session as one of this page, in the sandbox. */
const OF_SESSION = { "Service-Environment": "sandbox" };

async function readDocument(): Promise<Document> {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`The platform returned ${response.status}`);
  return (await response.json()) as Document;
}

function formOf(button: HTMLButtonElement, { paths, components }: Document): HTMLFormElement {
  const { method, path } = button.closest("article")!.dataset as { method: string; path: string };
  const operation = paths[path]![method.toLowerCase()]!;
  const parameters = (operation.parameters ?? []).map((parameter) =>
    "$ref" in parameter ? components.parameters[parameter.$ref.split("/").at(-1)!]! : parameter,
  );
  return tryForm(method, path, parameters, Object.values(operation.requestBody?.content ?? {})[0]?.example);
}

function tryForm(method: string, path: string, parameters: readonly ParameterObject[], body: unknown): HTMLFormElement {
  const form = element("form", { className: "try" });
  const keyField = element("input", { type: "password", autocomplete: "off", spellcheck: false, value: key });
  keyField.placeholder = "sk_sandbox_…";
  const note =
    "The key stays in this page and is sent only to this platform. Without one, your session sends the request, if you are signed in.";
  form.append(field("Sandbox API key", keyField, note));
  const inputs = parameters
    .filter((parameter) => parameter.in !== "header")
    .map((parameter) => {
      const input = element("input", { autocomplete: "off", spellcheck: false });
      if (parameter.in === "path") input.placeholder = parameter.schema.examples?.[0] ?? "";
      form.append(field(parameter.name, input, parameter.in === "path" ? undefined : parameter.description));
      return { parameter, input };
    });
  const text = body === undefined ? undefined : element("textarea", { spellcheck: false });
  if (text !== undefined) {
    text.value = JSON.stringify(body, null, 2);
    text.rows = Math.min(text.value.split("\n").length, 16);
    form.append(field("Body", text));
  }
  const send = element("button", { type: "submit", textContent: "Send request", className: "primary" });
  const result = element("div", { className: "result" });
  result.setAttribute("role", "status");
  form.append(send, result);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    key = keyField.value.trim();
    const problem = problemOfKey(key);
    if (problem !== undefined) {
      result.replaceChildren(element("p", { className: "problem", textContent: problem }));
      return keyField.focus();
    }
    let target = path;
    const query = new URLSearchParams();
    for (const { parameter, input } of inputs) {
      const value = input.value.trim();
      if (parameter.in === "path")
        target = target.replace(`{${parameter.name}}`, encodeURIComponent(value || input.placeholder));
      else if (value !== "") query.set(parameter.name, value);
    }
    const url = query.size > 0 ? `${target}?${query.toString()}` : target;
    send.disabled = true;
    void request(method, url, text?.value)
      .then((shown) => result.replaceChildren(...shown))
      .finally(() => (send.disabled = false));
  });
  return form;
}

function problemOfKey(given: string): string | undefined {
  if (given === "") return undefined;
  if (/^(sk|rk)_live_/.test(given)) return "This is a live key. Use a sandbox key (sk_sandbox_… or rk_sandbox_…).";
  return /^(sk|rk)_sandbox_/.test(given) ? undefined : "A sandbox key begins with sk_sandbox_ or rk_sandbox_.";
}

async function request(method: string, url: string, body: string | undefined): Promise<HTMLElement[]> {
  const headers: Record<string, string> = key === "" ? { ...OF_SESSION } : { Authorization: `Bearer ${key}` };
  if (method === "POST") headers["Idempotency-Key"] = newIdempotencyKey();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const began = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      credentials: key === "" ? "same-origin" : "omit",
    });
    const text = await response.text();
    if (key === "" && response.status === 401) return [element("p", { className: "problem", textContent: NO_KEY })];
    const milliseconds = Math.round(performance.now() - began);
    const isGood = response.ok ? "good" : "bad";
    const output = element("pre", { tabIndex: 0 });
    output.append(element("code", { textContent: indented(text) }));
    return [
      element("p", {
        className: isGood,
        textContent: `${response.status} ${response.statusText} · ${milliseconds} ms`,
      }),
      element("p", { className: "id", textContent: response.headers.get("Request-Id") ?? "" }),
      ...(text === "" ? [] : [output]),
    ];
  } catch {
    return [element("p", { className: "problem", textContent: UNREACHABLE })];
  }
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function field(label: string, input: HTMLElement, note?: string): HTMLElement {
  const row = element("label", {});
  row.append(element("span", { textContent: label }), input);
  if (note !== undefined) row.append(element("small", { textContent: note.replaceAll("`", "") }));
  return row;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
