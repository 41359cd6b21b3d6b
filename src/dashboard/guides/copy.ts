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
