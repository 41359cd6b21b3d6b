// Colors for the code of the guides: comments, strings and keywords, which the style sheet knows as classes.
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/;
const HASH = /(?<=^|\s)#.*/;
const SLASHES = /\/\/.*|\/\*[^]*?\*\//;
const SCRIPT =
  /\b(?:as|async|await|catch|class|const|default|else|export|extends|for|from|function|if|import|interface|let|new|of|return|throw|try|type|while)\b/;

const LANGUAGES = {
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

/** Returns code as HTML. */
export function highlight(code, language) {
  const patterns = LANGUAGES[language];
  if (patterns === undefined) return escape(code);
  const [comment, string, keyword] = patterns.map(({ source }) => source);
  const any = new RegExp(`(?<comment>${comment})|(?<string>${string})|(?<keyword>${keyword})`, "gm");
  let html = "";
  let at = 0;
  for (const match of code.matchAll(any)) {
    const [kind] = Object.entries(match.groups).find(([, text]) => text !== undefined);
    html += `${escape(code.slice(at, match.index))}<span class="${kind}">${escape(match[0])}</span>`;
    at = match.index + match[0].length;
  }
  return html + escape(code.slice(at));
}

export function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
