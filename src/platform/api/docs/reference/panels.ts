import { html, Html } from "../../../http/pages/html.ts";
import { highlight } from "../highlight.ts";
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
    ${samples.map(({ name, language, text }) => html`<pre tabindex="0" data-sample="${name}"><code>${highlight(text, language)}</code></pre>`)}
  </figure>`;
}

/** Renders a box with a title. */
export function panel(title: string, content: Html, canBeCopied = false): Html {
  return html`<figure class="panel">
    <figcaption>
      <span>${title}</span> ${canBeCopied && html`<button type="button" data-copy hidden>Copy</button>`}
    </figcaption>
    ${content}
  </figure>`;
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
