import { html, type Html } from "../../http/pages/html.ts";

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
  sh: [HASH, STRING, /(?<=\s)--?[a-z][\w-]*/],
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
