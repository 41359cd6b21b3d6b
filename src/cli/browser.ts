/** Opens a page in the browser; false where that cannot be done. The address is passed as an argument, never through a shell. */
export async function openInBrowser(url: string): Promise<boolean> {
  const { default: open } = await import("open");
  try {
    const browser = await open(url);
    browser.on("error", () => {});
    browser.unref();
    return true;
  } catch {
    return false;
  }
}
