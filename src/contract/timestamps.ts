/** Formats Unix milliseconds as the API writes times: `YYYY-MM-DDTHH:MM:SSZ`. */
export function formatTimestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** Parses a timestamp of that form to Unix milliseconds. Returns undefined for other text and for dates that do not exist. */
export function parseTimestamp(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) || formatTimestamp(milliseconds) !== text ? undefined : milliseconds;
}
