/**
 * Returns the URL, or undefined if it is invalid. `URL.canParse` cannot be used: in Node.js 20 and 22 it rejects URLs
 * with Latin-1 characters, such as `https://bücher.example`, once V8 has optimized its caller.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
