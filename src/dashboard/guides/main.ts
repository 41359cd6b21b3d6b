import { showTheme, theme } from "../theme.ts";
import "./search.ts";

/** What the guides do in a browser besides the search: copy code. They can be read without it. */

showTheme(theme.value);
// Output and synopses are to be read.
for (const code of document.querySelectorAll("main pre:has(code[class]:not(.language-text))")) addCopyButton(code);

function addCopyButton(code: Element): void {
  const block = document.createElement("div");
  block.className = "block";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  const show = (text: string) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  };
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(code.textContent ?? "").then(
      () => show("Copied"),
      () => show("Select and copy"),
    );
  });
  code.replaceWith(block);
  block.append(code, button);
}
