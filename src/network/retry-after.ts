/** The statuses whose `Retry-After` is honored. */
const STATUSES: ReadonlySet<number> = new Set([429, 503]);

/**
 * Returns how long a receiver asks to wait, in milliseconds, from whole seconds or an HTTP date (RFC 9110, 10.2.3).
 * `now` is real time, which the date is compared with. Returns undefined for an absent or malformed value.
 */
export function readRetryAfter(status: number, header: string | undefined, now: number): number | undefined {
  if (header === undefined || !STATUSES.has(status)) return undefined;
  const text = header.trim();
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  // All three date forms of HTTP begin with the name of a day. Date.parse alone would accept far more.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
