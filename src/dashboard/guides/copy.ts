/** Adds a button that copies the page as Markdown. */
export function addCopyPage(): void {
  const source = document.querySelector<HTMLAnchorElement>(".source a");
  source?.before(copyButton("Copy page", async () => (await fetch(source.href)).text()));
}

export function copyButton(label: string, read: () => string | Promise<string>): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.addEventListener("click", () => void copy(button, read()));
  return button;
}

/** Copies text, and says so on the button for two seconds. */
export async function copy(button: HTMLButtonElement, text: string | Promise<string>): Promise<void> {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(await text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy";
  }
  setTimeout(() => (button.textContent = label), 2000);
}
