/** The statuses whose `Retry-After` is obeyed. */
const STATUSES: ReadonlySet<number> = new Set([429, 503]);

/**
 * How long a receiver asks to be left alone, in milliseconds: whole seconds or an HTTP date (RFC 9110, 10.2.3). `now` is
 * real time, which the date is compared with. Undefined where it asks for nothing, or in no form that counts.
 */
export function readRetryAfter(status: number, header: string | undefined, now: number): number | undefined {
  if (header === undefined || !STATUSES.has(status)) return undefined;
  const text = header.trim();
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  // All three date forms of HTTP begin with the name of a day; Date.parse alone would take far more for a date.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
