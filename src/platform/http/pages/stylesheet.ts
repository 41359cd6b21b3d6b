import TOKENS from "../../../contract/tokens.css?raw";

/** The stylesheet of all pages that the server renders, from 320 pixels up, in the language of the dashboard. */
export const STYLESHEET = `${TOKENS}
main { width: min(100% - 40px, 400px); margin: 0 auto; padding: 16vh 0 64px; }
main.wide { width: min(100% - 40px, 680px); padding-top: 56px; }
.brand { margin: 0 0 32px; }
.back { display: inline-block; margin: 0 0 8px; font-size: 13px; text-decoration: none; color: var(--soft); }
h1 { margin: 0 0 8px; text-wrap: balance; }
h2 { font-size: 14px; line-height: 22px; font-weight: 600; margin: 0 0 4px; }
p { margin: 0 0 16px; }
code { font-size: 13px; line-height: 20px; }
pre {
  margin: 12px 0 0; padding: 12px 14px; overflow-x: auto; overflow-wrap: normal;
  background: var(--sunk); border-radius: var(--radius);
}
pre, pre code { font-size: 12px; line-height: 18px; }
.command {
  margin: 0 0 16px; padding: 4px 4px 4px 14px; display: flex; gap: 8px; align-items: center;
  background: var(--sunk); border-radius: var(--radius);
}
.command span { display: inline-block; max-width: 100%; }
.command pre { margin: 0; padding: 4px 0; flex: 1; min-width: 0; user-select: all; white-space: pre-wrap; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); margin-top: 32px; padding-top: 16px; }
summary { cursor: pointer; font-weight: 500; }
details[open] > summary { margin-bottom: 8px; }
.soft { color: var(--soft); font-size: 13px; line-height: 20px; }
section { border-top: 1px solid var(--line); margin-top: 32px; padding-top: 24px; }
form { margin: 20px 0 0; }
label { display: block; font-size: 13px; font-weight: 500; margin: 0 0 16px; }
label .soft { font-weight: 400; }
input:not([type=hidden])[readonly] { background: var(--sunk); color: var(--soft); }
input:not([type=hidden]) {
  display: block; width: 100%; margin-top: 4px; padding: 8px 10px; min-height: 40px;
  font: inherit; font-size: 16px; font-weight: 400; color: inherit;
  background: var(--page); border: 1px solid var(--field-line); border-radius: var(--radius);
}
dd.code { font: 500 16px/20px var(--mono); letter-spacing: 0.06em; }
input:not([type=hidden]).code {
  font: 22px/28px var(--mono); letter-spacing: 0.12em; text-align: center; text-transform: uppercase;
}
button {
  font: inherit; font-weight: 500; padding: 8px 16px; border-radius: var(--radius); cursor: pointer; min-height: 40px;
  border: 1px solid var(--strong-line); background: var(--page); color: inherit;
}
button:hover { background: var(--sunk); }
button.primary { background: var(--ink); border-color: var(--ink); color: var(--page); }
button.primary:hover { background: color-mix(in srgb, var(--ink) 85%, var(--page)); }
button.plain { border: 0; padding: 0; min-height: 0; color: var(--accent); text-decoration: underline; background: none; }
button.small { min-height: 32px; padding: 4px 12px; font-size: 13px; }
button.copy:not([hidden]) { display: flex; gap: 6px; align-items: center; border-color: transparent; background: none; }
button.copy svg { width: 16px; fill: none; stroke: currentColor; stroke-width: 1.4; }
.whole { width: 100%; }
.choice { display: flex; gap: 12px; }
.choice button { flex: 1; }
.badge {
  display: inline-block; padding: 0 8px; border-radius: 4px; font-size: 12px; line-height: 20px; font-weight: 500;
  white-space: nowrap;
}
.badge.sandbox { color: var(--soft); background: var(--sunk); }
.badge.live { color: var(--bad); background: var(--bad-soft); }
.notice { padding: 10px 14px; border-radius: var(--radius); font-size: 13px; line-height: 20px; margin: 12px 0 20px; background: var(--sunk); }
.notice.bad { background: var(--bad-soft); color: var(--bad); }
dl { margin: 20px 0; font-size: 13px; border: solid var(--line); border-width: 1px 0; }
dl div { display: flex; justify-content: space-between; align-items: baseline; gap: 16px; padding: 8px 0; }
dl div + div { border-top: 1px solid var(--line); }
dt { color: var(--soft); flex: none; }
dd { margin: 0; text-align: right; font-weight: 500; }
ul { list-style: none; margin: 8px 0 0; padding: 0; }
ul.scopes li { padding: 6px 0 6px 20px; position: relative; }
ul.scopes li::before { content: ""; position: absolute; left: 4px; top: 14px; width: 6px; height: 6px; border-radius: 50%; background: var(--faint); }
ul.scopes li.warned::before { border-radius: 1px; background: var(--bad); }
ul.scopes .warning { display: block; color: var(--bad); font-size: 13px; line-height: 20px; }
.top { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 8px 16px; }
.top form { margin: 0; }
@media (max-width: 480px) {
  main, main.wide { padding-top: 32px; }
}
`;
