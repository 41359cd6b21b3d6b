import { copy } from "./copy.ts";
import "./search.ts";
import { addThemeButton } from "./theme-button.ts";

/** What the guides do in a browser besides the search: copy code, and the page. They can be read without it. */

addThemeButton();
// Output and synopses are to be read.
for (const code of document.querySelectorAll("main pre:has(code[class]:not(.language-text))")) {
  const block = document.createElement("div");
  block.className = "block";
  code.replaceWith(block);
  block.append(
    code,
    copyButton("Copy", () => code.textContent ?? ""),
  );
}
const source = document.querySelector<HTMLAnchorElement>(".source a");
source?.before(copyButton("Copy page", async () => (await fetch(source.href)).text()));

function copyButton(label: string, read: () => string | Promise<string>): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.addEventListener("click", () => void copy(button, read()));
  return button;
}
