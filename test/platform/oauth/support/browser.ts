/** A form of a page. */
export interface PageForm {
  action: string;
  method: string;
  /** Its hidden and prefilled fields. */
  fields: Record<string, string>;
}

/** A page, or a redirect to another origin. */
export interface Visit {
  status: number;
  /** The last requested URL. */
  url: string;
  headers: Headers;
  text: string;
  /** Set if the server redirected to another origin, which is not followed. */
  left: URL | undefined;
}

/** A browser without scripts: cookies, redirects within one origin, forms. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** Headers of every request, as a proxy would add them. */
  readonly headers: Record<string, string> = {};
  private readonly origin: string;

  constructor(anyUrl: string) {
    this.origin = new URL(anyUrl).origin;
  }

  /** Returns another browser with the same cookies. */
  copy(): Browser {
    const other = new Browser(this.origin);
    for (const [name, value] of this.cookies) other.cookies.set(name, value);
    return other;
  }

  get(url: string): Promise<Visit> {
    return this.follow("GET", new URL(url, this.origin), undefined);
  }

  post(url: string, fields: Record<string, string>): Promise<Visit> {
    return this.follow("POST", new URL(url, this.origin), new URLSearchParams(fields));
  }

  /** Submits the first matching form, with additional fields. Throws on an error response. */
  async submit(visit: Visit, fields: Record<string, string>, fits?: (form: PageForm) => boolean): Promise<Visit> {
    const next = await this.trySubmit(visit, fields, fits);
    if (next.status >= 400) throw new Error(`the form was rejected: ${next.url} ${next.status}\n${next.text}`);
    return next;
  }

  /** Like `submit`, but also returns error responses. */
  trySubmit(
    visit: Visit,
    fields: Record<string, string>,
    fits: (form: PageForm) => boolean = () => true,
  ): Promise<Visit> {
    const form = formsOf(visit).find(fits);
    if (form === undefined) throw new Error(`the page has no such form: ${visit.url} ${visit.status}\n${visit.text}`);
    const address = form.action === "" ? visit.url : new URL(form.action, visit.url).href;
    return this.post(address, { ...form.fields, ...fields });
  }

  /** Sends one request without following redirects. */
  async send(method: string, url: URL, body?: URLSearchParams): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: cookie === "" ? this.headers : { ...this.headers, cookie },
      ...(body === undefined ? {} : { body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/max-age=0\b|expires=thu, 01 jan 1970/i.test(line)) this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    return response;
  }

  private async follow(method: string, url: URL, body: URLSearchParams | undefined): Promise<Visit> {
    const response = await this.send(method, url, body);
    const location = response.headers.get("location");
    const text = await response.text();
    const visit = { status: response.status, url: url.href, headers: response.headers, text, left: undefined };
    if (location === null || response.status < 300 || response.status > 399) return visit;
    const next = new URL(location, url);
    return next.origin === this.origin ? this.follow("GET", next, undefined) : { ...visit, left: next };
  }
}

/** Returns the forms of a page with their hidden and prefilled fields. */
export function formsOf({ text }: Visit): PageForm[] {
  return [...text.matchAll(/<form\b([^>]*)>([^]*?)<\/form>/g)].map(([, head, inner]) => {
    const fields: Record<string, string> = {};
    for (const [input] of inner!.matchAll(/<input\b[^>]*>/g)) {
      const name = attribute(input, "name");
      if (name !== "") fields[name] = attribute(input, "value");
    }
    return { action: attribute(head!, "action"), method: attribute(head!, "method"), fields };
  });
}

function attribute(tag: string, name: string): string {
  return unescape(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

function unescape(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)))
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
