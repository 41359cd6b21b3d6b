import { inProject } from "../../../contract/shell-command.ts";
import { html, type Html } from "../../http/pages/html.ts";

/** What the docs use of Markdown within a paragraph. */
const MARKED = /(`[^`]*`|\[[^[\]]*\]\([^()]*\)|\*\*[^*]+\*\*)/;

/** One paragraph of Markdown with code in backticks, `[links](…)` and `**bold**`. */
export function inline(text: string): Html[] {
  return text.split(MARKED).map((part, index) => (index % 2 === 1 ? marked(part) : html`${part}`));
}

function marked(part: string): Html {
  if (part.startsWith("`")) return html`<code>${inProject(part.slice(1, -1))}</code>`;
  if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
  const [label = "", target = ""] = part.slice(1, -1).split("](");
  return html`<a href="${target}">${inline(label)}</a>`;
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
