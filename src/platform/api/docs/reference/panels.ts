import { html, Html } from "../../../http/pages/html.ts";
import { GUIDES_PATH } from "../site.ts";
import type { Sample } from "./samples.ts";

/** Renders samples of code, of which one is shown. */
export function samplePanel(title: string, samples: readonly Sample[], canBeTried = false): Html {
  return html`<figure class="panel samples">
    <figcaption>
      <span>${title}</span>
      <span class="languages" role="group" aria-label="Language">
        ${samples.map(({ name, label }) => html`<button type="button" data-choose="${name}" hidden>${label}</button>`)}
      </span>
      ${canBeTried && html`<button type="button" data-try hidden>Try it</button>`}
      <button type="button" data-copy hidden>Copy</button>
    </figcaption>
    ${samples.map(({ name, label, language, text }) => html`<pre tabindex="0" data-label="${label}" data-sample="${name}"><code>${highlight(text, language)}</code></pre>`)}
  </figure>`;
}

export function sourceLink(page: string): Html {
  return html`<p class="source"><a href="${GUIDES_PATH}/reference-${page}.md">Markdown</a></p>`;
}

export function panel(title: string, content: Html, button?: Html): Html {
  return html`<figure class="panel">
    <figcaption><span>${title}</span> ${button}</figcaption>
    ${content}
  </figure>`;
}

/** Renders code in a box, with a button that copies it. */
export function codePanel(title: string, code: Html | string): Html {
  const button = html`<button type="button" data-copy hidden>Copy</button>`;
  return panel(title, html`<pre tabindex="0"><code>${code}</code></pre>`, button);
}

/** Renders indented JSON with keys and values highlighted. */
export function json(value: unknown, indent = ""): Html {
  const inner = `${indent}  `;
  if (Array.isArray(value))
    return block(
      "[",
      "]",
      value.map((item) => html`${inner}${json(item, inner)}`),
      indent,
    );
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([key, member]) => html`${inner}<span class="key">${JSON.stringify(key)}</span>: ${json(member, inner)}`,
    );
    return block("{", "}", members, indent);
  }
  return typeof value === "string"
    ? html`<span class="string">${JSON.stringify(value)}</span>`
    : html`<span class="literal">${JSON.stringify(value)}</span>`;
}

function block(open: string, close: string, lines: readonly Html[], indent: string): Html {
  if (lines.length === 0) return html`${open}${close}`;
  return new Html(`${open}\n${lines.map(({ text }) => text).join(",\n")}\n${indent}${close}`);
}

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/;
const HASH = /(?<=^|\s)#.*/;
const SLASHES = /\/\/.*|\/\*[^]*?\*\//;
const SCRIPT =
  /\b(?:as|async|await|catch|class|const|default|else|export|extends|for|from|function|if|import|interface|let|new|of|return|throw|try|type|while)\b/;

const LANGUAGES: Readonly<Record<string, readonly [comment: RegExp, string: RegExp, keyword: RegExp]>> = {
  js: [SLASHES, STRING, SCRIPT],
  ts: [SLASHES, STRING, SCRIPT],
  go: [SLASHES, STRING, /\b(?:defer|else|for|func|if|import|nil|package|range|return|struct|type|var)\b/],
  python: [HASH, STRING, /\b(?:as|async|await|class|def|else|except|for|from|if|import|in|not|return|try|with)\b/],
  json: [/(?!)/, STRING, /\b(?:true|false|null)\b/],
  yaml: [HASH, STRING, /(?<=^\s*(?:- )?)[\w.-]+(?=:)/],
  sh: [HASH, STRING, /(?<=\s)--?[A-Za-z][\w-]*/],
  nginx: [HASH, STRING, /(?<=^\s*)[a-z_]+/],
  caddyfile: [HASH, STRING, /(?<=^\s*)[a-z_]+/],
  haproxy: [HASH, STRING, /(?<=^\s*)[a-z-]+/],
};

/** Returns code with its comments, strings and keywords as elements, whose classes have colors in the style sheet. */
export function highlight(code: string, language: string): Html {
  const patterns = LANGUAGES[language];
  if (patterns === undefined) return html`${code}`;
  const [comment, string, keyword] = patterns.map(({ source }) => source);
  const any = new RegExp(`(?<comment>${comment})|(?<string>${string})|(?<keyword>${keyword})`, "gm");
  const parts: Html[] = [];
  let at = 0;
  for (const match of code.matchAll(any)) {
    const [kind] = Object.entries(match.groups!).find(([, text]) => text !== undefined)!;
    parts.push(html`${code.slice(at, match.index)}<span class="${kind}">${match[0]}</span>`);
    at = match.index + match[0].length;
  }
  return html`${parts}${code.slice(at)}`;
}
