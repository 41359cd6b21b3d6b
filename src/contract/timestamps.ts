/** Unix milliseconds as the API writes times: `YYYY-MM-DDTHH:MM:SSZ` (decisions 2). */
export function formatTimestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** A timestamp of that form as Unix milliseconds, or undefined where the text is none or names no real date. */
export function parseTimestamp(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) || formatTimestamp(milliseconds) !== text ? undefined : milliseconds;
}
