import { html, type Html } from "../../http/pages/html.ts";

/** One paragraph of Markdown, of which the docs use code in backticks, `[links](…)` and `**bold**`. */
export function inline(text: string): Html[] {
  return text.split("`").flatMap((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : linked(part)));
}

/** Paragraphs, and lists whose items begin with "- ". */
export function prose(text: string): Html[] {
  return text.split("\n\n").map((block) =>
    block.startsWith("- ")
      ? html`<ul>
          ${block.split("\n").map((item) => html`<li>${inline(item.slice(2))}</li>`)}
        </ul>`
      : html`<p>${inline(block)}</p>`,
  );
}

function linked(text: string): Html[] {
  const [before = "", ...links] = text.split("[");
  return [
    ...bold(before),
    ...links.flatMap((link) => {
      const [label, rest] = cut(link, "](");
      const [target, after] = cut(rest ?? "", ")");
      if (rest === undefined || after === undefined) return bold(`[${link}`);
      return [html`<a href="${target}">${label}</a>`, ...bold(after)];
    }),
  ];
}

function bold(text: string): Html[] {
  return text.split("**").map((part, index) => (index % 2 === 1 ? html`<strong>${part}</strong>` : html`${part}`));
}

/** Splits a text at the first mark. The second part is undefined if there is none. */
function cut(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}
