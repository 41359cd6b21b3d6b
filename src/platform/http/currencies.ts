const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

/** True for an ISO 4217 code in uppercase. */
export function isCurrency(text: string): boolean {
  return CODES.has(text);
}
