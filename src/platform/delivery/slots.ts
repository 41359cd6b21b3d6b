/** How many attempts may be under way at once. */
export interface DeliveryLimits {
  perEndpoint: number;
  perProcess: number;
}

/**
 * How many more attempts an endpoint may begin, of the free ones. Its share is bound by twice what is left for the
 * others: however many endpoints hang, those that do not still find some free.
 */
export function slotsFor(limits: DeliveryLimits, free: number, open: number): number {
  const share = Math.ceil((free - 2 * open) / 3);
  return Math.max(0, Math.min(limits.perEndpoint - open, share, free));
}
