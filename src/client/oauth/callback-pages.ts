import { createHash } from "node:crypto";

const STYLESHEET = `
:root { color-scheme: light dark; --page: #f4f5f7; --card: #fff; --text: #14161a; --soft: #59606b; --line: #dfe2e7;
  --code: #f4f5f7; --accent: #2f4fd8; --good: #0d6b3c; --good-soft: #e3f5ea; --bad: #a3172a; --bad-soft: #fde7ea; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0e1013; --card: #171a1f; --text: #eceef2; --soft: #9aa2ae; --line: #2b3038;
    --code: #0f1216; --accent: #8ea4ff; --good: #6fd6a0; --good-soft: #11291d; --bad: #ff8d9b; --bad-soft: #33151a; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; overflow-wrap: anywhere; }
main { width: min(100% - 32px, 440px); margin: 32px auto; padding: 40px 32px 32px; text-align: center;
  background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
.sign { width: 56px; height: 56px; margin: 0 auto 20px; padding: 14px; border-radius: 50%; display: block;
  fill: none; stroke: currentColor; stroke-width: 3; stroke-linecap: round; stroke-linejoin: round; }
.good { color: var(--good); background: var(--good-soft); }
.bad { color: var(--bad); background: var(--bad-soft); }
h1 { margin: 0 0 8px; font-size: 23px; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; text-wrap: balance; }
p { margin: 0; color: var(--soft); text-wrap: balance; }
dl { margin: 24px 0; font-size: 14px; text-align: left; border: 1px solid var(--line); border-radius: 10px; }
dl div { display: flex; justify-content: space-between; gap: 16px; padding: 10px 14px; }
dl div + div { border-top: 1px solid var(--line); }
dt { color: var(--soft); flex: none; }
dd { margin: 0; text-align: right; font-weight: 500; }
section { margin-top: 28px; padding-top: 20px; border-top: 1px solid var(--line); text-align: left; }
section p { font-size: 14px; margin-bottom: 8px; }
code { display: block; margin-top: 6px; padding: 9px 12px; border-radius: 8px; background: var(--code);
  font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code::before { content: "$ "; color: var(--accent); }
@media (max-width: 480px) {
  body { display: block; background: var(--card); }
  main { width: 100%; margin: 0; border: 0; border-radius: 0; padding: 48px 20px 24px; }
}
`;

const STYLE_HASH = createHash("sha256").update(STYLESHEET).digest("base64");

/** A page that runs nothing, loads nothing, stands in no frame, is kept nowhere, and passes its address on to nobody. */
export const CALLBACK_PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

const CHECK_MARK = `<svg class="sign good" viewBox="0 0 28 28" aria-hidden="true"><path d="M5 15l6 6L23 8"/></svg>`;
const CROSS = `<svg class="sign bad" viewBox="0 0 28 28" aria-hidden="true"><path d="M7 7l14 14M21 7L7 21"/></svg>`;

export interface SuccessPage {
  /** Lines such as account and environment. */
  facts: readonly (readonly [name: string, value: string])[];
  /** What to try next. */
  commands: readonly string[];
}

/** Shown once the tokens are stored. */
export function successPage({ facts, commands }: SuccessPage): string {
  const rows = facts.map(([name, value]) => `<div><dt>${escape(name)}</dt><dd>${escape(value)}</dd></div>`);
  const next = commands.map((command) => `<code>${escape(command)}</code>`);
  return page(
    "You are signed in",
    `${CHECK_MARK}
<h1>You are signed in</h1>
<p>Close this page and go back to your terminal.</p>
<dl>${rows.join("")}</dl>
<section><p>To begin with:</p>${next.join("")}</section>`,
  );
}

/** Shown where nobody was signed in. */
export function failurePage(title: string, reason: string): string {
  return page(
    title,
    `${CROSS}
<h1>${escape(title)}</h1>
<p>${escape(reason)}</p>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Service</title>
<link rel="icon" href="data:,">
<style>${STYLESHEET}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}
