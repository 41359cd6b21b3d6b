/** Returns true for 2xx, with which a receiver accepts an event. */
export function isSuccess(status: number | null | undefined): boolean {
  return status !== null && status !== undefined && status >= 200 && status < 300;
}
