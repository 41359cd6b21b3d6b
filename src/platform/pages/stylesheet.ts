/**
 * The stylesheet of all pages that the server renders, in the colors of the dashboard, light and dark, from 360 pixels
 * up.
 */
export const STYLESHEET = `
:root {
  color-scheme: light dark;
  --page: #f4f5f7; --card: #ffffff; --text: #14161a; --soft: #565d68; --line: #dcdfe5; --field: #ffffff; --field-line: #7d8592;
  --accent: #2f4fd8; --accent-strong: #2440b8; --on-accent: #ffffff;
  --sandbox: #8a5a00; --sandbox-soft: #fff3d6; --live: #a3172a; --live-soft: #fde7ea; --good: #0d6b3c; --good-soft: #e3f5ea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1013; --card: #171a1f; --text: #eceef2; --soft: #a3abb8; --line: #2d323b; --field: #0f1216; --field-line: #737c8a;
    --accent: #9db0ff; --accent-strong: #b9c6ff; --on-accent: #0c1230;
    --sandbox: #f2c14e; --sandbox-soft: #2d240d; --live: #ff8d9b; --live-soft: #33151a; --good: #6fd6a0; --good-soft: #11291d;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  -webkit-text-size-adjust: 100%; overflow-wrap: anywhere;
}
main {
  width: min(100% - 32px, 440px); margin: 48px auto; padding: 32px;
  background: var(--card); border: 1px solid var(--line); border-radius: 14px;
}
main.wide { width: min(100% - 32px, 720px); }
.brand { margin: 0 0 28px; font-weight: 650; font-size: 15px; display: flex; align-items: center; gap: 10px; }
.brand::before {
  content: ""; width: 20px; height: 20px; border-radius: 6px;
  background: linear-gradient(135deg, var(--accent) 0 50%, transparent 50%), var(--accent-strong); opacity: .9;
}
.back { display: inline-block; margin: 0 0 4px; font-size: 14px; text-decoration: none; }
h1 { font-size: 23px; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; margin: 0 0 8px; text-wrap: balance; }
h2 { font-size: 16px; font-weight: 650; margin: 0 0 4px; }
p { margin: 0 0 16px; }
a { color: var(--accent); }
code { font: 14px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre {
  margin: 12px 0 0; padding: 14px 16px; overflow-x: auto; overflow-wrap: normal;
  background: var(--page); border: 1px solid var(--line); border-radius: 10px;
}
pre, pre code { font-size: 13px; line-height: 1.55; }
.soft { color: var(--soft); font-size: 14px; }
section { border-top: 1px solid var(--line); margin-top: 28px; padding-top: 24px; }
form { margin: 20px 0 0; }
label { display: block; font-size: 14px; font-weight: 550; margin: 0 0 16px; }
label .soft { font-weight: 400; }
input:not([type=hidden])[readonly] { background: transparent; color: var(--soft); }
input:not([type=hidden]) {
  display: block; width: 100%; margin-top: 6px; padding: 10px 12px; font: inherit; font-size: 16px; font-weight: 400;
  color: inherit;
  background: var(--field); border: 1px solid var(--field-line); border-radius: 8px;
}
dd.code { font: 600 17px/1.3 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; letter-spacing: .08em; }
input:not([type=hidden]).code {
  font: 600 24px/1.3 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; letter-spacing: .12em;
  text-align: center; text-transform: uppercase;
}
input:not([type=hidden]).link { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
button {
  font: inherit; font-weight: 600; padding: 10px 18px; border-radius: 8px; cursor: pointer; min-height: 44px;
  border: 1px solid var(--field-line); background: transparent; color: inherit;
}
button:hover { border-color: var(--soft); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover { background: var(--accent-strong); border-color: var(--accent-strong); }
button.plain { border: 0; padding: 0; min-height: 0; color: var(--accent); font-weight: 500; text-decoration: underline; }
button.small { min-height: 36px; padding: 5px 12px; font-size: 14px; font-weight: 550; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.whole { width: 100%; }
.choice { display: flex; gap: 12px; }
.choice button { flex: 1; }
.badge {
  display: inline-block; padding: 2px 10px; border-radius: 99px; font-size: 13px; font-weight: 600; white-space: nowrap;
}
.badge.sandbox { color: var(--sandbox); background: var(--sandbox-soft); }
.badge.live { color: var(--live); background: var(--live-soft); }
.notice { padding: 10px 14px; border-radius: 8px; font-size: 14px; margin: 12px 0 20px; }
.notice p { margin: 0; }
.notice p + p { margin-top: 6px; }
.notice.bad { color: var(--live); background: var(--live-soft); }
.notice.good { color: var(--good); background: var(--good-soft); }
dl { margin: 20px 0; font-size: 14px; border: 1px solid var(--line); border-radius: 10px; }
dl div { display: flex; justify-content: space-between; align-items: baseline; gap: 16px; padding: 10px 14px; }
dl div + div { border-top: 1px solid var(--line); }
dt { color: var(--soft); flex: none; }
dd { margin: 0; text-align: right; font-weight: 500; }
ul { list-style: none; margin: 8px 0 0; padding: 0; }
ul.scopes li { padding: 8px 0; border-bottom: 1px solid var(--line); display: flex; justify-content: space-between; gap: 16px; }
ul.scopes li:last-child { border-bottom: 0; }
ul.scopes .soft { text-align: right; }
ul.rows li { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 8px 16px; padding: 12px 0; }
ul.rows li + li { border-top: 1px solid var(--line); }
ul.rows form { margin: 0; }
.top { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 8px 16px; }
.top form { margin: 0; }
@media (max-width: 480px) {
  main, main.wide { width: 100%; margin: 0; min-height: 100vh; border: 0; border-radius: 0; padding: 24px 20px; }
  body { background: var(--card); }
}
`;
