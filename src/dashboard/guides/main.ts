import { addCopyPage, copyButton } from "./copy.ts";
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
addCopyPage();
